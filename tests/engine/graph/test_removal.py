"""A class that goes away into another one.

Where its children and the heir stand then, and what is refused.
"""

import pytest

from engine.errors import DuplicateNameError, GraphError, UnknownClassError
from engine.graph.category_graph import CategoryGraph
from engine.graph.class_attributes import ClassAttributes
from engine.graph.edits import inverse
from tests.support.graphs import content_of, graph_of, names_of, seaside_graph

Tree = dict[str, list[str]]


def parents_in(graph: CategoryGraph) -> Tree:
    """Names of the parents of each class."""
    return {graph.name(each): names_of(graph, graph.parents(each)) for each in graph.classes()}


CASES: dict[str, tuple[Tree, str, str, Tree]] = {
    "children go along": (
        {"Bird": [], "Gull": ["Bird"], "Gulls": [], "Herring gull": ["Gulls"]},
        "Gulls",
        "Gull",
        {"Bird": [], "Gull": ["Bird"], "Herring gull": ["Gull"]},
    ),
    "parents go along": (
        {"Bird": [], "Diver": [], "Auk": ["Bird"], "Auks": ["Diver"]},
        "Auks",
        "Auk",
        {"Bird": [], "Diver": [], "Auk": ["Bird", "Diver"]},
    ),
    "a root gets parents": (
        {"Bird": [], "Gull": [], "Gulls": ["Bird"]},
        "Gulls",
        "Gull",
        {"Bird": [], "Gull": ["Bird"]},
    ),
    "no second way to a class above": (
        {"Animal": [], "Bird": ["Animal"], "Gull": ["Bird"], "Gulls": ["Animal"]},
        "Gulls",
        "Gull",
        {"Animal": [], "Bird": ["Animal"], "Gull": ["Bird"]},
    ),
    "into a class above": (
        {"Animal": [], "Bird": ["Animal"], "Gull": ["Bird"], "Kittiwake": ["Gull"]},
        "Gull",
        "Animal",
        {"Animal": [], "Bird": ["Animal"], "Kittiwake": ["Animal"]},
    ),
    "into its own child": (
        {"Animal": [], "Bird": ["Animal"], "Gull": ["Bird"], "Auk": ["Bird"]},
        "Bird",
        "Gull",
        {"Animal": [], "Gull": ["Animal"], "Auk": ["Gull"]},
    ),
    "into a class far below": (
        {"Life": [], "Animal": ["Life"], "Bird": ["Animal"], "Gull": ["Bird"], "Seal": ["Animal"]},
        "Animal",
        "Gull",
        {"Life": [], "Bird": ["Life"], "Gull": ["Bird"], "Seal": ["Gull"]},
    ),
    "a root into a class far below": (
        {"Animal": [], "Bird": ["Animal"], "Gull": ["Bird"]},
        "Animal",
        "Gull",
        {"Bird": [], "Gull": ["Bird"]},
    ),
}


@pytest.mark.parametrize(("before", "merged", "heir", "after"), CASES.values(), ids=CASES)
def test_where_classes_stand_after_a_merge(
    before: Tree, merged: str, heir: str, after: Tree
) -> None:
    """The heir takes the place; nothing comes under itself, and undo brings all of it back."""
    graph = graph_of(before)
    start = content_of(graph)
    with graph.record() as edits:
        graph.merge(graph.find(merged), graph.find(heir))
    assert parents_in(graph) == after
    graph.apply(inverse(edits))
    assert content_of(graph) == start


def test_the_heir_is_found_by_the_names_of_the_merged_class() -> None:
    """Its name and synonyms become synonyms, its source id fills an empty one.

    The heir's own name is no synonym.
    """
    graph = graph_of({"Gull": [], "Gulls": []})
    gull, gulls = graph.classes()
    graph.set_attributes(gull, ClassAttributes(synonyms=("Larus",)))
    graph.set_attributes(gulls, ClassAttributes("n1", ("Larus", "Gull", "Mew")))
    graph.merge(gulls, gull)
    assert graph.attributes(gull) == ClassAttributes("n1", ("Larus", "Gulls", "Mew"))
    assert graph.find("Gulls") == graph.find("n1") == gull


def test_namesakes_are_refused() -> None:
    """A child beside another of its name, or the heir beside one under its new parent.

    Nothing is changed.
    """
    graph = graph_of({"Gull": [], "Gulls": [], "Bird": [], "Common": ["Gull"]})
    gull, gulls, bird, _ = graph.classes()
    twin = graph.add_class("Common", [gulls])
    start = content_of(graph)
    with pytest.raises(DuplicateNameError, match='"Common" under "Gull"'):
        graph.merge(gulls, gull)
    assert content_of(graph) == start
    graph.remove(twin)
    graph.add_class("Gull", [bird])
    graph.link(bird, gulls)
    with pytest.raises(DuplicateNameError, match='"Gull" under "Bird"'):
        graph.merge(gulls, gull)


def test_a_class_that_would_become_a_root_beside_its_namesake_is_refused() -> None:
    """A child of a merged root that the heir lies under goes to the top level."""
    graph = seaside_graph()
    bird, animal = graph.find("Bird"), graph.find("Animal")
    graph.add_class("Bird")
    with pytest.raises(DuplicateNameError, match="at the top level"):
        graph.merge(animal, graph.find("Herring Gull"))
    assert graph.parents(bird) == (animal,)


def test_merging_needs_two_classes() -> None:
    """Neither a class into itself, nor one that is not there."""
    graph = seaside_graph()
    bird = graph.find("Bird")
    with pytest.raises(GraphError, match="into itself"):
        graph.merge(bird, bird)
    with pytest.raises(UnknownClassError):
        graph.merge(bird, 999)
