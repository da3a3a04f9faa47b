"""Parents are suggested by image similarity, only with enough evidence."""

import pytest

from engine.collection.graph_suggestions.find import LEAST_SCORE
from engine.collection.graph_suggestions.parents import (
    USUAL_SIBLING,
    USUAL_UNRELATED,
    ParentRanking,
    PlacementCheck,
    Relatedness,
    check_placements,
    relatedness_of,
)
from tests.support.drawn_classes import (
    DROPPED,
    FIRST_FAMILY,
    SECOND_FAMILY,
    around,
    centre,
    direction,
    means_of,
    two_families,
)


@pytest.mark.parametrize("family", [FIRST_FAMILY, SECOND_FAMILY])
def test_a_dropped_class_belongs_to_those_it_is_like(family: int) -> None:
    """The similar family ranks first; the other one after it or not at all."""
    graph, vectors = two_families()
    first, *others = ParentRanking(
        means_of(graph, vectors | {DROPPED: around(centre(family, 99), 5, seed=99)})
    ).rank(DROPPED)
    assert first.class_id == family
    assert first.score > 0.7
    assert all(one.score < LEAST_SCORE for one in others)


def test_who_is_like_nobody_belongs_nowhere() -> None:
    """A class unlike all others gets no parent."""
    graph, vectors = two_families()
    ranked = ParentRanking(
        means_of(graph, vectors | {DROPPED: around(direction(77), 5, seed=99)})
    ).rank(DROPPED)
    assert ranked
    assert max(one.score for one in ranked) < LEAST_SCORE


def test_two_families_do_not_belong_under_one_another() -> None:
    """Two top-level families are not suggested as each other's parents."""
    graph, vectors = two_families()
    ranking = ParentRanking(means_of(graph, vectors))
    assert (
        max(one.score for family in (FIRST_FAMILY, SECOND_FAMILY) for one in ranking.rank(family))
        < LEAST_SCORE
    )


def test_present_parents_are_no_answer_but_when_asked_without_them() -> None:
    """Present parents are suggested only with their edge left out."""
    graph, vectors = two_families()
    ranking = ParentRanking(means_of(graph, vectors))
    assert FIRST_FAMILY not in [one.class_id for one in ranking.rank(2)]
    assert ranking.rank(2, (FIRST_FAMILY,))[0].class_id == FIRST_FAMILY


@pytest.mark.slow
def test_a_family_without_others_is_no_answer() -> None:
    """A class with a single child is no candidate: siblings are needed for comparison."""
    graph, vectors = two_families()
    only = {class_id: part for class_id, part in vectors.items() if class_id in (2, 7, 8)}
    assert FIRST_FAMILY not in [
        one.class_id for one in ParentRanking(means_of(graph, only)).rank(2, (FIRST_FAMILY,))
    ]
    assert ParentRanking(means_of(graph, {2: vectors[2]})).rank(2, (FIRST_FAMILY,)) == []


def test_relatedness_by_hand() -> None:
    """Half between siblings and strangers it is 0.5; one spread above that, 1 / (1 + e^-2)."""
    relatedness = Relatedness(sibling=0.4, unrelated=0.2, spread=0.1)
    assert relatedness.probability(0.3) == pytest.approx(0.5)
    assert relatedness.probability(0.4) == pytest.approx(0.8807971)
    assert Relatedness(sibling=0.2, unrelated=0.3, spread=0.1).probability(1.0) == 0


def test_relatedness_is_read_off_the_graph() -> None:
    """Siblings are more similar than other classes; with one class defaults are used."""
    graph, vectors = two_families()
    found = relatedness_of(means_of(graph, vectors))
    assert found.sibling > USUAL_SIBLING
    assert found.unrelated < found.sibling
    alone = relatedness_of(means_of(graph, {2: vectors[2]}))
    assert (alone.sibling, alone.unrelated) == (USUAL_SIBLING, USUAL_UNRELATED)


def test_placements_that_images_explain_are_trusted() -> None:
    """All eight leaves find their parents; if images contradict the graph, nothing is trusted."""
    graph, vectors = two_families()
    means = means_of(graph, vectors)
    check = check_placements(means, ParentRanking(means))
    assert (check.asked, check.first, check.among_three) == (8, 8, 8)
    assert check.by_chance == 4
    assert PlacementCheck(asked=8, first=8, by_chance=4.0).trust == 0
    assert PlacementCheck(asked=50, first=10, by_chance=2.0, claimed=22.0).trust == pytest.approx(
        0.5
    )
    assert PlacementCheck(asked=50, first=30, by_chance=2.0, claimed=22.0).trust == 1
