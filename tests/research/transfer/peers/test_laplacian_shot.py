import numpy as np
import pytest

from research.transfer.peers.laplacian_shot import bound_updates, nearest_neighbours, predict
from tests.support.transfer import clusters


def test_without_the_laplacian_it_is_nearest_prototype() -> None:
    """At lambda = 0 the assignments are the softmax of the negative distances."""
    unary = np.array([[0.0, 1.0], [2.0, 1.0]], dtype=np.float32)
    found = bound_updates(unary, np.array([[1], [0]]), 0.0)
    assert found[0, 0] == pytest.approx(1 / (1 + np.exp(-1)), abs=1e-6)
    assert found.argmax(axis=1).tolist() == [0, 1]


def test_neighbours_convince() -> None:
    """An image just over the border joins its confident neighbours for a large lambda."""
    unary = np.array([[0.55, 0.5], [0.0, 4.0], [0.0, 4.0]], dtype=np.float32)
    neighbours = np.array([[1, 2], [2, 0], [1, 0]])
    assert bound_updates(unary, neighbours, 0.0)[0].argmax() == 1
    assert bound_updates(unary, neighbours, 1.0)[0].argmax() == 0


def test_one_step_by_hand() -> None:
    """Two mutual neighbours that agree: the fixed point a = sigmoid(1 + lambda (2a - 1))."""
    found = bound_updates(np.array([[0.0, 1.0]] * 2, dtype=np.float32), np.array([[1], [0]]), 0.5)[
        0, 0
    ]
    assert found == pytest.approx(1 / (1 + np.exp(-(1 + 0.5 * (2 * found - 1)))), abs=1e-3)


def test_neighbours_are_others() -> None:
    """Three of them, never the image itself; fewer where there are fewer."""
    line = np.arange(6, dtype=np.float32)[:, None]
    assert sorted(nearest_neighbours(line)[0].tolist()) == [1, 2, 3]
    assert nearest_neighbours(line[:3]).shape == (3, 2)


def test_options() -> None:
    """Centred or not, means or rectified, eight lambdas."""
    assert len(predict(clusters()[0])) == 32
