"""Distances of children to their parents."""

import numpy as np
import pytest

from engine.errors import InputError
from research.reports.nearness import nearness

PLACES = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 1.0], [10.0, 2.0]])
EDGES = np.array([[0, 1], [2, 3]])
LEVELS = np.array([3, 3, 4, 4])


def test_by_hand() -> None:
    """Edges have lengths 1 and 2; pairs of both levels 1, 2, sqrt(104) and sqrt(101)."""
    found = nearness(PLACES, EDGES, LEVELS)
    assert found.child_to_parent == pytest.approx(1.5)
    assert found.random_pairs == pytest.approx((1 + 2 + 104**0.5 + 101**0.5) / 4)
    assert found.ratio == pytest.approx(1.5 / found.random_pairs)
    assert found.spread == pytest.approx({3: 10.0, 4: 101**0.5})


def test_levels_weigh_as_often_as_edges_join_them() -> None:
    """Two edges between levels 3 and 4, one between 4 and 5, with pairs at 1 and sqrt(5)."""
    places = np.array([[0.0], [1.0], [2.0], [4.0]])
    found = nearness(places, np.array([[0, 0, 1], [1, 2, 3]]), np.array([3, 4, 4, 5]))
    assert found.child_to_parent == pytest.approx((1 + 2 + 3) / 3)
    assert found.random_pairs == pytest.approx((2 * (1 + 2) / 2 + (3 + 2) / 2) / 3)


def test_an_edge_within_a_level_counts_different_classes_only() -> None:
    """A class is no pair with itself."""
    found = nearness(np.array([[0.0], [2.0]]), np.array([[0], [1]]), np.array([3, 3]))
    assert found.ratio == pytest.approx(1.0)


def test_the_order_of_classes_does_not_matter() -> None:
    """Permuted classes give the same result."""
    order = np.array([2, 0, 3, 1])
    place = np.argsort(order)
    permuted = nearness(PLACES[order], place[EDGES], LEVELS[order])
    assert permuted.ratio == pytest.approx(nearness(PLACES, EDGES, LEVELS).ratio)


def test_nothing_to_measure_is_reported() -> None:
    """No edges, or equal positions, have no ratio."""
    with pytest.raises(InputError, match="no edge"):
        nearness(PLACES, EDGES[:, :0], LEVELS)
    with pytest.raises(InputError, match="equal"):
        nearness(np.zeros((4, 2)), EDGES, LEVELS)
