import numpy as np
import pytest

from engine.research.transfer.peers.label_propagation import normalised_affinity, predict, spread_labels
from tests.support.transfer import clusters


def chain() -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Three images in a row: the middle one is like both ends, the ends are not alike."""
    cosines = np.zeros((3, 3), dtype=np.float32)
    cosines[0, 1] = cosines[1, 0] = 0.5
    cosines[1, 2] = cosines[2, 1] = 0.25
    return cosines


def test_affinity_by_hand() -> None:
    """Third powers of both directions, each divided by the roots of both images' sums."""
    found = normalised_affinity(chain(), 2).toarray()
    near, far = 2 * 0.5**3, 2 * 0.25**3
    expected = near / np.sqrt(near * (near + far))
    assert found[0, 1] == pytest.approx(expected)
    assert found == pytest.approx(found.T)
    assert found[0, 2] == 0


@pytest.mark.parametrize("alpha", [0.5, 0.99])
def test_labels_solve_the_equation(alpha: float) -> None:
    """Put into the closed form, what was found gives the start again."""
    cosines = np.random.default_rng(0).uniform(0, 1, (40, 40)).astype(np.float32)
    cosines = np.minimum(cosines, cosines.T)
    np.fill_diagonal(cosines, 0)
    affinity = normalised_affinity(cosines, 5)
    one_hot = np.eye(3, dtype=np.float32)
    expected = np.linalg.solve(np.eye(40) - alpha * affinity.toarray(), np.eye(40)[:, :3])
    np.testing.assert_allclose(spread_labels(affinity, one_hot, alpha), expected[3:], atol=1e-4)


def test_walks_along_a_series() -> None:
    """Two series side by side, each with a shot at another end: the far end of a series goes to its own shot."""
    angles = np.arange(0, 1.55, 0.1)
    arc = np.stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)], axis=1)
    other = np.flip(arc, axis=0) + np.array([0, 0, 0.5])
    points = np.concatenate([arc[:1], other[:1], arc[1:], other[1:]]).astype(np.float32)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    cosines = np.maximum(points @ points.T, np.float32(0))
    np.fill_diagonal(cosines, 0)
    end = len(arc)
    assert cosines[end, 1] > cosines[end, 0]  # in a straight line the other shot is nearer
    found = spread_labels(normalised_affinity(cosines, 2), np.eye(2, dtype=np.float32), 0.99)
    assert found.argmax(axis=1).tolist() == [0] * 15 + [1] * 15


def test_options() -> None:
    """Two preparations, two graphs, three alphas, plain and even."""
    assert len(predict(clusters()[0])) == 24
