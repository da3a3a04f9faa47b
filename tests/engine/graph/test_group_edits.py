"""Several classes at once: all of them, or none."""

from collections.abc import Callable

import pytest

from engine.errors import CycleError, DuplicateNameError, GraphError, UnknownClassError
from engine.graph import group_edits
from engine.graph.category_graph import CategoryGraph
from engine.graph.removal import ChildrenOfRemoved, classes_that_go, label_heir
from tests.support.graphs import content_of, graph_of, names_of, seaside_graph

ADOPTED, TOP_LEVEL, REMOVED = (
    ChildrenOfRemoved.ADOPTED,
    ChildrenOfRemoved.TOP_LEVEL,
    ChildrenOfRemoved.REMOVED,
)
ANIMAL, BIRD, DIVER, GULL, PUFFIN, SEAL, HERRING_GULL, PLANT, KELP = range(1, 10)


def parents_named(graph: CategoryGraph) -> dict[str, list[str]]:
    """Names of the parents of each class."""
    return {graph.name(each): names_of(graph, graph.parents(each)) for each in graph.classes()}


def test_a_new_class_comes_between_a_parent_and_some_of_its_children() -> None:
    """The children leave that parent alone; others of theirs stay."""
    graph = seaside_graph()
    new = group_edits.add_parent(graph, "Seabird", [GULL, PUFFIN, GULL], BIRD)
    assert graph.parents(new) == (BIRD,)
    assert (graph.parents(GULL), graph.parents(PUFFIN)) == ((new,), (DIVER, new))
    top = group_edits.add_parent(graph, "Life", [ANIMAL, PLANT], None)
    assert graph.roots() == (top,)


def test_moved_classes_each_leave_their_parent() -> None:
    """From different parents to one.

    Who is there already is only taken away, and nobody is moved to where they are.
    """
    graph = seaside_graph()
    group_edits.move_classes(
        graph, [(GULL, BIRD), (PUFFIN, BIRD), (SEAL, DIVER), (PLANT, None)], DIVER
    )
    assert set(graph.children(DIVER)) == {GULL, PUFFIN, SEAL, PLANT}
    assert graph.parents(PUFFIN) == (DIVER,)
    assert graph.children(BIRD) == ()


def test_classes_are_moved_to_the_top_level_from_all_their_parents() -> None:
    """One that is taken from only some of its parents is refused, as it would not get there."""
    graph = seaside_graph()
    with pytest.raises(GraphError, match="while it has other parents"):
        group_edits.move_classes(graph, [(PUFFIN, BIRD)], None)
    group_edits.move_classes(graph, [(PUFFIN, BIRD), (GULL, BIRD), (PUFFIN, DIVER)], None)
    assert {PUFFIN, GULL} < set(graph.roots())


def test_linked_and_unlinked_classes() -> None:
    """Those that are there already stay; all there already is an error, as is no class at all."""
    graph = seaside_graph()
    group_edits.link_classes(graph, DIVER, [PUFFIN, GULL, BIRD])
    assert {PUFFIN, GULL, BIRD, SEAL} == set(graph.children(DIVER))
    with pytest.raises(GraphError, match="already under"):
        group_edits.link_classes(graph, DIVER, [PUFFIN, GULL])
    group_edits.unlink_classes(
        graph, [(DIVER, PUFFIN), (DIVER, GULL), (BIRD, PUFFIN), (DIVER, GULL)]
    )
    assert (graph.parents(PUFFIN), graph.parents(GULL)) == ((), (BIRD,))
    with pytest.raises(GraphError, match="no class"):
        group_edits.add_parent(graph, "Life", [], None)


REFUSED: dict[str, tuple[type[GraphError], Callable[[CategoryGraph], object]]] = {
    "a cycle": (
        CycleError,
        lambda graph: group_edits.move_classes(graph, [(SEAL, DIVER), (BIRD, ANIMAL)], GULL),
    ),
    "a link to oneself": (
        CycleError,
        lambda graph: group_edits.link_classes(graph, BIRD, [SEAL, BIRD]),
    ),
    "not where it is": (
        GraphError,
        lambda graph: group_edits.move_classes(graph, [(SEAL, DIVER), (KELP, BIRD)], GULL),
    ),
    "a child elsewhere": (
        GraphError,
        lambda graph: group_edits.add_parent(graph, "New", [GULL, KELP], BIRD),
    ),
    "a taken name": (
        DuplicateNameError,
        lambda graph: group_edits.add_parent(graph, "Puffin", [GULL], BIRD),
    ),
    "namesakes that meet": (
        DuplicateNameError,
        lambda graph: group_edits.link_classes(graph, PLANT, [SEAL, graph.add_class("Seal")]),
    ),
    "nobody": (
        UnknownClassError,
        lambda graph: group_edits.unlink_classes(graph, [(BIRD, GULL), (BIRD, 999)]),
    ),
}


@pytest.mark.parametrize(("kind", "edit"), REFUSED.values(), ids=REFUSED)
def test_where_one_is_refused_none_is_edited(
    kind: type[GraphError], edit: Callable[[CategoryGraph], object]
) -> None:
    """Recorded as an action does."""
    graph = seaside_graph()
    before = content_of(graph)
    with pytest.raises(kind), graph.record():
        edit(graph)
    assert content_of(graph) == before


@pytest.mark.parametrize(
    ("removed", "children", "after"),
    [
        (
            [BIRD, DIVER],
            ADOPTED,
            {"Animal": [], "Gull": ["Animal"], "Puffin": ["Animal"], "Seal": ["Animal"]},
        ),
        (
            [ANIMAL, BIRD],
            ADOPTED,
            {"Diver": [], "Gull": [], "Puffin": ["Diver"], "Seal": ["Diver"]},
        ),
        (
            [BIRD],
            TOP_LEVEL,
            {"Animal": [], "Diver": ["Animal"], "Gull": [], "Puffin": ["Diver"], "Seal": ["Diver"]},
        ),
        (
            [BIRD],
            REMOVED,
            {"Animal": [], "Diver": ["Animal"], "Puffin": ["Diver"], "Seal": ["Diver"]},
        ),
        ([ANIMAL], REMOVED, {}),
        ([BIRD, DIVER], REMOVED, {"Animal": []}),
    ],
)
def test_what_becomes_of_the_children(
    removed: list[int], children: ChildrenOfRemoved, after: dict[str, list[str]]
) -> None:
    """Adopted by the remaining ancestors, at the top level, or removed unless also elsewhere."""
    graph = seaside_graph()
    graph.remove(KELP, PLANT, HERRING_GULL)
    graph.remove(*removed, children=children)
    assert parents_named(graph) == after


def test_a_branch_takes_only_what_is_its_own() -> None:
    """A class below that also lies under one that stays remains there, with all below it."""
    graph = seaside_graph()
    assert set(classes_that_go(graph, [BIRD], REMOVED)) == {BIRD, GULL, HERRING_GULL}
    graph.link(PLANT, GULL)
    graph.remove(BIRD, children=REMOVED)
    assert (graph.parents(GULL), graph.parents(HERRING_GULL)) == ((PLANT,), (GULL,))


def test_names_are_compared_as_they_will_stand() -> None:
    """A class that goes frees its name; two that come to one place from two classes must differ."""
    graph = graph_of({"Gull": [], "Tern": [], "Common": ["Gull"], "Auk": ["Tern"]})
    twin = graph.add_class("Common", [graph.find("Tern")])
    before = content_of(graph)
    for children in (ADOPTED, TOP_LEVEL):
        with pytest.raises(DuplicateNameError, match='"Common" at the top level'):
            graph.remove(graph.find("Gull"), graph.find("Tern"), children=children)
    assert content_of(graph) == before
    graph.remove(graph.find("Gull"), graph.find("Tern"), twin)
    assert names_of(graph, graph.roots()) == ["Auk", "Common"]


def test_labels_go_to_the_only_class_above_that_stays() -> None:
    """Through classes that go as well.

    To nobody where a class on the way has several parents, or none.
    """
    graph = seaside_graph()
    going = {BIRD, GULL, HERRING_GULL, PUFFIN, PLANT, KELP}
    heirs = {each: label_heir(graph, each, going) for each in going}
    assert heirs == {
        BIRD: ANIMAL,
        GULL: ANIMAL,
        HERRING_GULL: ANIMAL,
        PUFFIN: None,
        PLANT: None,
        KELP: None,
    }
