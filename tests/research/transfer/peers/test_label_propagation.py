from dataclasses import replace

import numpy as np
import pytest

from research.transfer.peers.label_propagation import (
    labels_at_start,
    normalised_affinity,
    predict,
    spread,
)
from research.transfer.task import CoarseLabels, FewShotTask
from tests.support.transfer import clusters


def chain() -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Three images in a row: the middle one is similar to both ends."""
    cosines = np.zeros((3, 3), dtype=np.float32)
    cosines[0, 1] = cosines[1, 0] = 0.5
    cosines[1, 2] = cosines[2, 1] = 0.25
    return cosines


def test_affinity_by_hand() -> None:
    """Third powers in both directions, divided by the roots of both images' sums."""
    found = normalised_affinity(chain(), 2).toarray()
    near, far = 2 * 0.5**3, 2 * 0.25**3
    expected = near / np.sqrt(near * (near + far))
    assert found[0, 1] == pytest.approx(expected)
    assert found == pytest.approx(found.T)
    assert found[0, 2] == 0


@pytest.mark.parametrize("alpha", [0.5, 0.99])
def test_labels_solve_the_equation(alpha: float) -> None:
    """The result satisfies the closed form."""
    cosines = np.random.default_rng(0).uniform(0, 1, (40, 40)).astype(np.float32)
    cosines = np.minimum(cosines, cosines.T)
    np.fill_diagonal(cosines, 0)
    affinity = normalised_affinity(cosines, 5)
    start = np.eye(40)[:, :3]
    expected = np.linalg.solve(np.eye(40) - alpha * affinity.toarray(), start)
    np.testing.assert_allclose(spread(affinity, start, alpha), expected, atol=1e-4)


def test_walks_along_a_series() -> None:
    """Two parallel series with shots at opposite ends: each far end gets its own shot's class."""
    angles = np.arange(0, 1.55, 0.1)
    arc = np.stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)], axis=1)
    other = np.flip(arc, axis=0) + np.array([0, 0, 0.5])
    points = np.concatenate([arc[:1], other[:1], arc[1:], other[1:]]).astype(np.float32)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    cosines = np.maximum(points @ points.T, np.float32(0))
    np.fill_diagonal(cosines, 0)
    end = len(arc)
    assert cosines[end, 1] > cosines[end, 0]  # by distance the other shot is nearer
    found = spread(normalised_affinity(cosines, 2), np.eye(len(points))[:, :2], 0.99)[2:]
    assert found.argmax(axis=1).tolist() == [0] * 15 + [1] * 15


def test_coarse_labels_start_on_all_leaves_below() -> None:
    """A label of two candidate classes starts with a half on each."""
    task, _ = clusters(ways=3, queries=4, noise=0.3)
    coarse = CoarseLabels(np.array([5]), np.array([[False, True, True]]))
    start = labels_at_start(replace(task, coarse=coarse))
    assert start[:3].tolist() == np.eye(3).tolist()
    assert start[3 + 5].tolist() == [0, 0.5, 0.5]
    assert start.sum() == 4


def test_a_coarse_label_decides_for_its_neighbours() -> None:
    """A series nearer to one shot gets the other class by a coarse label."""
    images = np.array(
        [[1, 0, 0], [0, 1, 0], [0, 0.5, 1], [0, 0.1, 1], [0.4, 0, 1]], dtype=np.float32
    )
    lone = FewShotTask(images[:2], np.array([0, 1]), images[2:], 2)
    labelled = replace(lone, coarse=CoarseLabels(np.array([2]), np.array([[True, False]])))
    option = "length 1, 5 neighbours, alpha = 0.8"
    assert predict(lone)[option].tolist() == [1, 1, 0]
    assert predict(labelled)[option].tolist() == [0, 0, 0]


def test_options() -> None:
    """Two preparations, two graphs, three alphas, plain and balanced."""
    assert len(predict(clusters()[0])) == 24
