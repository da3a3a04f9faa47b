"""Twin classes and mixed classes are found."""

import numpy as np
import pytest

from engine.collection.graph_suggestions.pairs import (
    FEWEST_OF_A_KIND,
    find_mixed,
    find_twins,
    similarity_of,
    two_kinds,
)
from tests.support.drawn_classes import DROPPED, around, centre, means_of, two_families

A_LEAF = 2


def test_similarity_by_hand() -> None:
    """Cosines by hand: 0, 0.6 and 0.8."""
    east, north, between = [1.0, 0.0], [0.0, 1.0], [0.6, 0.8]
    found = similarity_of(
        np.array([east, east, between], np.float32), np.array([north, north], np.float32)
    )
    assert found.between == pytest.approx(0.8 / 3)
    assert found.within == pytest.approx((0.8 + 0.8 + 0.6 + 1 + 1) / 5)
    assert (found.confused, found.count) == (1, 5)
    assert found.ratio == pytest.approx(0.8 / 3 / 0.84)


def test_twins_are_found_and_the_smaller_one_goes() -> None:
    """A second class around the same centre is a twin; no other pair is."""
    graph, vectors = two_families()
    assert find_twins(means_of(graph, vectors)) == ()
    vectors[A_LEAF], twin = np.split(around(centre(1, A_LEAF), 17, seed=55), [9])
    (found,) = find_twins(means_of(graph, vectors | {DROPPED: twin}))
    assert (found.class_id, found.other_id) == (DROPPED, A_LEAF)
    assert found.similarity.count == 17
    assert found.similarity.ratio > 0.8


def test_a_class_is_no_twin_of_its_own_parent() -> None:
    """Coarse-labelled images resemble those of the subclasses, which makes no twin."""
    graph, vectors = two_families()
    graph.link(A_LEAF, DROPPED)
    assert (
        find_twins(means_of(graph, vectors | {DROPPED: around(centre(1, A_LEAF), 5, seed=55)}))
        == ()
    )


def test_a_mixed_class_falls_into_its_kinds() -> None:
    """Images of two families split by family; homogeneous classes do not split."""
    graph, vectors = two_families()
    whole = {each: around(centre(graph.parents(each)[0], each), 10, seed=each) for each in vectors}
    assert find_mixed(means_of(graph, whole)) == ()
    mixed = np.concatenate([around(centre(1, 50), 6, seed=50), around(centre(6, 60), 4, seed=60)])
    (found,) = find_mixed(means_of(graph, {DROPPED: mixed}))
    assert found.class_id == DROPPED
    assert found.kinds == (tuple(range(1, 7)), tuple(range(7, 11)))
    assert found.similarity.ratio < 0.1
    graph.add_class("Below", [DROPPED])
    assert find_mixed(means_of(graph, {DROPPED: mixed})) == ()


def test_few_images_have_no_kinds() -> None:
    """A kind has at least three images: an outlier is none."""
    odd = np.concatenate([around(centre(1, 50), 8, seed=50), around(centre(6, 60), 1, seed=60)])
    is_second = two_kinds(odd)
    assert is_second is None or min(is_second.sum(), (~is_second).sum()) >= FEWEST_OF_A_KIND
    assert two_kinds(odd[:5]) is None
    assert two_kinds(np.repeat(odd[:1], 8, axis=0)) is None
