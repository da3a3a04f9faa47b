"""Nearest neighbours: exact among few, nearly all of them among many, the same each time."""

import numpy as np
import pytest

from engine.arrays import Floats
from engine.errors import Cancelled
from engine.events import CancelToken
from engine.everyday.blocks import stopped_by
from engine.everyday.layout.neighbours import FEWEST_FOR_CELLS, NeighbourIndex


def drawn(count: int, width: int = 16) -> Floats:
    """Points around twenty centres."""
    generator = np.random.default_rng(5)
    centres = generator.standard_normal((20, width)) * 2
    return (centres[np.arange(count) % 20] + generator.standard_normal((count, width))).astype(
        np.float32
    )


def exact(vectors: Floats, asked: np.ndarray, count: int) -> np.ndarray:
    """Compared one by one."""
    squares = ((vectors[asked, None] - vectors[None]) ** 2).sum(axis=2)
    squares[np.arange(len(asked)), asked] = np.inf
    return np.argsort(squares, axis=1, kind="stable")[:, :count]


def test_among_few_they_are_exact() -> None:
    """And come with their squared distances, nearest first."""
    vectors = drawn(300)
    rows, squares = NeighbourIndex.of(vectors).search(vectors, 5, leaves_out_itself=True)
    assert np.array_equal(rows, exact(vectors, np.arange(300), 5))
    apart = ((vectors - vectors[rows[:, 0]]) ** 2).sum(axis=1)
    assert np.allclose(squares[:, 0], apart, rtol=1e-3, atol=1e-3)
    assert (np.diff(squares, axis=1) >= 0).all()


@pytest.mark.slow
def test_among_many_nearly_all_are_found() -> None:
    vectors, asked = drawn(FEWEST_FOR_CELLS + 2_000), np.arange(0, 6_000, 60)
    rows, _squares = NeighbourIndex.of(vectors).search(vectors, 10, leaves_out_itself=True)
    true = exact(vectors, asked, 10)
    found = [
        len(set(here) & set(there))
        for here, there in zip(rows[asked].tolist(), true.tolist(), strict=True)
    ]
    assert np.mean(found) > 9.5
    assert not (rows == np.arange(len(vectors))[:, None]).any()
    again, _squares = NeighbourIndex.of(vectors).search(vectors, 10, leaves_out_itself=True)
    assert np.array_equal(rows, again)


def test_others_are_looked_for_among_them() -> None:
    """A vector that is there is its own nearest.

    Where there are fewer than wanted, the rest is marked.
    """
    vectors = drawn(30)
    rows, squares = NeighbourIndex.of(vectors).search(vectors[[7, 20]], 3)
    assert rows[:, 0].tolist() == [7, 20]
    assert squares[:, 0] == pytest.approx([0, 0], abs=1e-3)
    rows, _squares = NeighbourIndex.of(vectors[:2]).search(vectors[:2], 3, leaves_out_itself=True)
    assert rows.tolist() == [[1, -1, -1], [0, -1, -1]]


def test_a_cancel_stops_the_search() -> None:
    token = CancelToken()
    token.cancel()
    with stopped_by(token), pytest.raises(Cancelled):
        NeighbourIndex.of(drawn(FEWEST_FOR_CELLS)).search(drawn(10), 3)
