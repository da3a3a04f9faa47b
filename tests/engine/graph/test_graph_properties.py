"""What must hold after any sequence of edits."""

from itertools import combinations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import GraphError
from engine.graph.arrays import roll_up_matrix
from engine.graph.category_graph import CategoryGraph
from engine.graph.edits import inverse
from tests.support.graphs import brute_force_level, content_of, graph_of

NAMES = ("a", "b", "c", "d", "e")
VERBS = ("add", "rename", "link", "unlink", "remove", "move", "merge")
Step = tuple[str, int, int, int, str]

step = st.tuples(
    st.sampled_from(VERBS),
    st.integers(0, 30),
    st.integers(0, 30),
    st.integers(0, 30),
    st.sampled_from(NAMES),
)
steps = st.lists(step, max_size=30)


def grow(graph: CategoryGraph, todo: list[Step]) -> None:
    """Try each step; what the graph refuses must leave it as it was."""
    for verb, one, two, three, name in todo:
        before = content_of(graph)
        _ask_everything(graph)
        try:
            _try_step(graph, verb, [_pick(graph, each) for each in (one, two, three)], name)
        except GraphError:
            assert content_of(graph) == before


def start_graph() -> CategoryGraph:
    """Edges that are rarely drawn: a chain with a shortcut over it, and a second parent."""
    return graph_of({"a": [], "b": ["a"], "c": ["a", "b"], "d": [], "e": ["c", "d"]})


def _ask_everything(graph: CategoryGraph) -> None:
    """Fill every table, so that an edit that forgets to correct one is noticed."""
    graph.roots(), graph.leaves(), graph.levels()
    for class_id in graph.classes():
        graph.children(class_id)


def _pick(graph: CategoryGraph, number: int) -> int | None:
    """One of the classes, or none: the number wraps around."""
    choices = [*graph.classes(), None]
    return choices[number % len(choices)]


def _try_step(graph: CategoryGraph, verb: str, picked: list[int | None], name: str) -> None:
    one, two, three = picked
    if verb == "add":
        graph.add_class(name, [each for each in (one, two) if each is not None])
    elif one is None:
        graph.add_class(name)
    elif verb == "rename":
        graph.rename(one, name)
    elif verb == "remove":
        graph.remove(one)
    elif verb == "move":
        graph.move(one, two, three)
    elif verb == "merge" and two is not None:
        graph.merge(one, two)
    elif two is not None:
        (graph.link if verb == "link" else graph.unlink)(one, two)


@pytest.mark.slow
@settings(deadline=None)
@given(steps)
def test_any_edits_keep_the_graph_sound(todo: list[Step]) -> None:
    """No cycle, no namesakes among siblings or roots, and all tables agree with the edges."""
    graph = start_graph()
    grow(graph, todo)
    edges = list(graph.edges())
    assert nx.is_directed_acyclic_graph(nx.DiGraph(edges))
    for siblings in (graph.roots(), *(graph.children(each) for each in graph.classes())):
        assert all(graph.name(one) != graph.name(two) for one, two in combinations(siblings, 2))
    assert set(graph.roots()) == set(graph.classes()) - {child for _, child in edges}
    assert set(graph.leaves()) == set(graph.classes()) - {parent for parent, _ in edges}
    assert {
        (parent, child) for parent in graph.classes() for child in graph.children(parent)
    } == set(edges)
    assert graph.edge_count == len(edges)


@pytest.mark.slow
@settings(deadline=None)
@given(steps, steps)
def test_levels_are_the_longest_paths_after_any_edits(
    before: list[Step], after: list[Step]
) -> None:
    """A table that was filled and then corrected equals one that is made anew."""
    graph = start_graph()
    grow(graph, before)
    grow(graph, after)
    expected = {each: brute_force_level(graph, each) for each in graph.classes()}
    assert {each: graph.level(each) for each in graph.classes()} == expected
    assert {each: level for level, row in enumerate(graph.levels()) for each in row} == expected


@pytest.mark.slow
@settings(deadline=None)
@given(steps, steps)
def test_recorded_edits_go_both_ways(before: list[Step], after: list[Step]) -> None:
    """Records replay on a copy; inverted they restore the start, and inverted twice the end."""
    graph = start_graph()
    grow(graph, before)
    start, mirror = content_of(graph), graph.copy()
    with graph.record() as edits:
        grow(graph, after)
    end = content_of(graph)
    mirror.apply(edits)
    assert content_of(mirror) == end
    mirror.apply(inverse(edits))
    assert content_of(mirror) == start
    mirror.apply(inverse(inverse(edits)))
    assert content_of(mirror) == end


@pytest.mark.slow
@settings(deadline=None)
@given(steps)
def test_every_class_is_found_by_its_path(todo: list[Step]) -> None:
    """Any path of a class leads back to it."""
    graph = start_graph()
    grow(graph, todo)
    for class_id in graph.classes():
        assert graph.find(graph.path_text(class_id)) == class_id


@settings(deadline=None)
@given(steps)
def test_roll_up_counts_each_leaf_once(todo: list[Step]) -> None:
    """However many paths lead there, a leaf adds one to each class above it and to itself."""
    graph = start_graph()
    grow(graph, todo)
    matrix = roll_up_matrix(graph, graph.classes(), graph.leaves())
    for column, class_id in enumerate(graph.classes()):
        below = {graph.leaves()[row] for row in matrix[:, column].nonzero()[0]}
        assert below == graph.leaves_below(class_id)
        assert matrix[:, column].sum() == len(below)
