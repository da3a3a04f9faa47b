"""Edits of the category graph: what each does, what each refuses."""

import pytest

from engine.errors import CycleError, DuplicateNameError, GraphError, UnknownClassError
from engine.graph.category_graph import CategoryGraph
from engine.graph.edits import (
    ClassAdded,
    ClassRemoved,
    ClassRenamed,
    EdgeAdded,
    EdgeRemoved,
    GraphEdit,
    inverse,
)
from tests.support.graphs import content_of, graph_of, names_of, seaside_graph

ANIMAL, BIRD, DIVER, GULL, PUFFIN, SEAL, HERRING_GULL, PLANT, KELP = range(1, 10)


def test_adding_classes() -> None:
    """A new class has the next id and stands under each of its parents once."""
    graph = seaside_graph()
    added = graph.add_class(" Tern ", [BIRD, DIVER, BIRD])
    assert added == 10
    assert graph.name(added) == "Tern"
    assert graph.parents(added) == (BIRD, DIVER)
    assert len(graph) == 10
    assert graph.edge_count == 10


def test_ids_can_be_given_and_are_never_used_again() -> None:
    """An id that was ever in the graph, or was reserved, is not given out again."""
    graph = CategoryGraph()
    assert graph.add_class("a", class_id=7) == 7
    graph.remove(7)
    assert graph.add_class("b") == 8
    graph.reserve_ids(20)
    assert graph.add_class("c") == 21
    with pytest.raises(GraphError, match="number 8 is taken"):
        graph.add_class("d", class_id=8)


def test_siblings_need_different_names() -> None:
    """One name may stand in several places, but only once among siblings or roots; case counts."""
    graph = seaside_graph()
    graph.add_class("gull", [BIRD])
    graph.add_class("Gull", [DIVER])
    with pytest.raises(DuplicateNameError, match='"Gull" under "Bird"'):
        graph.add_class("Gull", [PLANT, BIRD])
    with pytest.raises(DuplicateNameError, match="at the top level"):
        graph.add_class("Plant")
    with pytest.raises(DuplicateNameError, match='"Puffin" under "Bird"'):
        graph.rename(GULL, "Puffin")


def test_renaming() -> None:
    """A name changes; the same name again is no edit; children are in order again."""
    graph = seaside_graph()
    with graph.record() as edits:
        graph.rename(PUFFIN, "Auk")
        graph.rename(PUFFIN, "Auk ")
    assert edits == [ClassRenamed(PUFFIN, "Auk", "Puffin")]
    assert names_of(graph, graph.children(BIRD)) == ["Auk", "Gull"]


def test_a_cycle_is_refused_with_its_path() -> None:
    """The path that would close is named from the new parent down to it again."""
    graph = seaside_graph()
    with pytest.raises(CycleError) as caught:
        graph.link(HERRING_GULL, ANIMAL)
    assert caught.value.path == ("Herring Gull", "Animal", "Bird", "Gull", "Herring Gull")
    with pytest.raises(CycleError) as caught:
        graph.link(GULL, GULL)
    assert caught.value.path == ("Gull", "Gull")
    assert content_of(graph) == content_of(seaside_graph())


def test_linking_and_unlinking() -> None:
    """An edge is made once and cut once; a class without parents is a root."""
    graph = seaside_graph()
    graph.link(PLANT, SEAL)
    assert graph.parents(SEAL) == (DIVER, PLANT)
    with pytest.raises(GraphError, match="already under"):
        graph.link(PLANT, SEAL)
    graph.unlink(PLANT, SEAL)
    graph.unlink(DIVER, SEAL)
    assert graph.roots() == (ANIMAL, PLANT, SEAL)
    with pytest.raises(GraphError, match="not directly under"):
        graph.unlink(DIVER, SEAL)


def test_unlinking_to_a_taken_root_name_is_refused() -> None:
    """A class does not become a second root of one name."""
    graph = graph_of({"Other": [], "Animal": []})
    inner = graph.add_class("Other", [2])
    with pytest.raises(DuplicateNameError):
        graph.unlink(2, inner)
    with pytest.raises(DuplicateNameError):
        graph.move(inner, 2, None)
    with pytest.raises(DuplicateNameError):
        graph.remove(2)


def test_removing_hands_children_up() -> None:
    """Children go to the removed class's parents, and an existing edge is not made twice."""
    graph = seaside_graph()
    graph.link(ANIMAL, GULL)
    before = content_of(graph)
    with graph.record() as edits:
        graph.remove(BIRD)
    graph.apply(inverse(edits))
    assert content_of(graph) == before
    graph.remove(BIRD)
    assert BIRD not in graph
    assert names_of(graph, graph.children(ANIMAL)) == ["Diver", "Gull", "Puffin"]
    assert graph.parents(PUFFIN) == (ANIMAL, DIVER)
    graph.remove(PLANT)
    assert names_of(graph, graph.roots()) == ["Animal", "Kelp"]


def test_removing_a_root_leaves_other_parents_alone() -> None:
    """A child that has another parent does not become a root."""
    graph = graph_of({"A": [], "B": [], "C": ["A", "B"]})
    graph.remove(1)
    assert names_of(graph, graph.roots()) == ["B"]


def test_removing_refuses_a_name_clash_above() -> None:
    """A child that would meet its namesake keeps the class from going.

    The class's own name is no hindrance.
    """
    graph = graph_of({"Fruit": [], "Apple": ["Fruit"]})
    graph.add_class("Apple", [2])
    graph.remove(2)
    assert names_of(graph, graph.children(1)) == ["Apple"]
    citrus = graph.add_class("Citrus", [1])
    graph.add_class("Apple", [citrus])
    with pytest.raises(DuplicateNameError):
        graph.remove(citrus)
    assert citrus in graph


def test_moving() -> None:
    """A class goes from one parent, or the top, to another, and keeps its other parents."""
    graph = seaside_graph()
    graph.move(PUFFIN, DIVER, PLANT)
    assert graph.parents(PUFFIN) == (BIRD, PLANT)
    graph.move(PLANT, None, SEAL)
    assert graph.roots() == (ANIMAL,)
    graph.move(PLANT, SEAL, None)
    assert graph.roots() == (ANIMAL, PLANT)


def test_moving_refuses() -> None:
    """From where it is not, not into itself, not to where it is, nor to the top with parents."""
    graph = seaside_graph()
    before = content_of(graph)
    with pytest.raises(GraphError, match="not directly under"):
        graph.move(GULL, PLANT, DIVER)
    with pytest.raises(GraphError, match="not at the top level"):
        graph.move(GULL, None, DIVER)
    with pytest.raises(CycleError):
        graph.move(BIRD, ANIMAL, HERRING_GULL)
    with pytest.raises(GraphError, match="already under"):
        graph.move(PUFFIN, BIRD, DIVER)
    with pytest.raises(GraphError, match="other parents"):
        graph.move(PUFFIN, BIRD, None)
    assert content_of(graph) == before


@pytest.mark.parametrize(
    "question", ["name", "parents", "children", "ancestors", "level", "paths", "remove"]
)
def test_unknown_classes_are_refused(question: str) -> None:
    """An id that no class has is an error, not an empty answer."""
    with pytest.raises(UnknownClassError, match="number 99"):
        getattr(seaside_graph(), question)(99)


def test_records_are_what_happened() -> None:
    """Recorded edits replay on a copy and, inverted, bring the graph back."""
    graph, mirror = seaside_graph(), seaside_graph()
    with graph.record() as edits:
        tern = graph.add_class("Tern", [BIRD])
        graph.move(GULL, BIRD, DIVER)
        graph.remove(DIVER)
    assert edits[:2] == [ClassAdded(tern, "Tern"), EdgeAdded(BIRD, tern)]
    assert edits[-1] == ClassRemoved(DIVER, "Diver")
    mirror.apply(edits)
    assert content_of(mirror) == content_of(graph)
    graph.apply(inverse(edits))
    assert content_of(graph) == content_of(seaside_graph())


def test_a_failed_block_leaves_no_trace() -> None:
    """An exception takes the block's edits back, and only that block's."""
    graph = seaside_graph()
    with graph.record() as outer:
        graph.rename(KELP, "Weed")
        with pytest.raises(CycleError):
            _remove_and_fail(graph)
        graph.rename(SEAL, "Walrus")
    expected = seaside_graph()
    expected.rename(KELP, "Weed")
    expected.rename(SEAL, "Walrus")
    assert content_of(graph) == content_of(expected)
    assert [edit for edit in outer if isinstance(edit, ClassRenamed)] == outer
    assert len(outer) == 2


def _remove_and_fail(graph: CategoryGraph) -> None:
    with graph.record():
        graph.remove(GULL)
        graph.link(HERRING_GULL, ANIMAL)


def test_replayed_edits_without_earlier_names_can_still_be_inverted() -> None:
    """A mirror fills in what it knows, so that undo works from its records too."""
    graph = seaside_graph()
    with graph.record() as edits:
        graph.apply([ClassRenamed(KELP, "Weed"), EdgeRemoved(PLANT, KELP), ClassRemoved(KELP)])
    graph.apply(inverse(edits))
    assert content_of(graph) == content_of(seaside_graph())


def test_edits_that_do_not_know_the_earlier_name_are_not_guessed() -> None:
    """Inverting an incomplete edit is a programming error."""
    incomplete: list[GraphEdit] = [ClassRemoved(3)]
    with pytest.raises(ValueError, match="earlier name"):
        inverse(incomplete)


def test_a_copy_goes_its_own_way() -> None:
    """Edits of a copy do not reach the original, and a copy gives out no used ids."""
    graph = seaside_graph()
    graph.remove(graph.add_class("Tern"))
    twin = graph.copy()
    assert content_of(twin) == content_of(graph)
    assert twin.add_class("Auk", [BIRD]) == 11
    twin.rename(KELP, "Weed")
    assert content_of(graph) == content_of(seaside_graph())
    assert twin.level(11) == 2
