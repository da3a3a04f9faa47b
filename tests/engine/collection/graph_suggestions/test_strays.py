"""A class below a wrong parent is found, without false alarms."""

from engine.collection.graph_suggestions.parents import (
    LEAST_TRUST,
    ParentRanking,
    Stray,
    find_strays,
)
from engine.graph.category_graph import CategoryGraph
from tests.support.drawn_classes import (
    DROPPED,
    FIRST_FAMILY,
    SECOND_FAMILY,
    Vector,
    around,
    centre,
    means_of,
    two_families,
)


def _found(
    graph: CategoryGraph, vectors: dict[int, Vector], trust: float = 1.0
) -> tuple[Stray, ...]:
    means = means_of(graph, vectors)
    return find_strays(means, ParentRanking(means), trust=trust)


def test_a_class_in_the_wrong_family() -> None:
    """It is suggested to move to the right family; in a correct graph nothing is suggested."""
    graph, vectors = two_families()
    assert _found(graph, vectors) == ()
    graph.move(2, FIRST_FAMILY, SECOND_FAMILY)
    (stray,) = _found(graph, vectors)
    assert (stray.class_id, stray.from_parent, stray.to_parent) == (2, SECOND_FAMILY, FIRST_FAMILY)
    assert stray.score - stray.present > 0.35


def test_no_person_is_contradicted_on_weak_grounds() -> None:
    """Nothing is suggested if rankings are unreliable, images few, or the parent has one child."""
    graph, vectors = two_families()
    graph.move(2, FIRST_FAMILY, SECOND_FAMILY)
    assert _found(graph, vectors, trust=LEAST_TRUST - 0.01) == ()
    assert _found(graph, vectors | {2: vectors[2][:2]}) == ()
    graph.move(2, SECOND_FAMILY, DROPPED)
    assert _found(graph, vectors) == ()


def test_what_is_above_the_parent_is_no_other_place() -> None:
    """A parent's own ancestors are no alternative parents."""
    graph, vectors = two_families()
    between = graph.add_class("Between", [FIRST_FAMILY])
    for leaf in (3, 4):
        graph.move(leaf, FIRST_FAMILY, between)
    vectors[graph.add_class("Another", [between])] = around(centre(FIRST_FAMILY, 70), 5, seed=70)
    assert _found(graph, vectors) == ()
