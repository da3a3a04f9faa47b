import numpy as np
import pytest

from research.transfer.peers.bd_cspn import SCALE, _pseudo_labels, predict, rectified
from research.transfer.task import FewShotTask
from tests.support.transfer import clusters


def test_undoes_a_shift() -> None:
    """Shifted queries are classified as without the shift."""
    task, answers = clusters(shots=5, noise=0.3)
    moved = task.with_features(task.support, task.queries + np.float32(3.0))
    for found in predict(moved).values():
        assert (found == answers).mean() > 0.95


def test_rectified_by_hand() -> None:
    """A shot and a query are averaged with weights exp(10 cosine)."""
    support = np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float32)
    queries = np.array([[0.8, 0.6], [0.2, 0.4]], dtype=np.float32)
    task = FewShotTask(support, np.array([0, 1]), queries, 2)
    found = rectified(task)
    np.testing.assert_allclose(found.queries[0], [0.8, 0.6])  # the means are equal: no shift
    own, other = np.exp(SCALE * 1.0), np.exp(SCALE * 0.8)
    expected = (own * support[0] + other * queries[0]) / (own + other)
    np.testing.assert_allclose(found.prototypes[0], expected / np.linalg.norm(expected), rtol=1e-5)


def test_only_confident_ones_count() -> None:
    """The two most confident of each class."""
    cosines = np.array([[0.9, 0.1], [0.5, 0.4], [0.7, 0.0], [0.1, 0.2]], dtype=np.float32)
    assert _pseudo_labels(cosines, 2).tolist() == [[1, 0], [0, 0], [1, 0], [0, 1]]
    assert _pseudo_labels(cosines, None).sum() == 4


def test_prototypes_have_length_one() -> None:
    """Also without queries of the class."""
    task, _ = clusters(ways=8, queries=1, noise=2.0, seed=5)
    assert np.linalg.norm(rectified(task).prototypes, axis=1) == pytest.approx(1, abs=1e-5)
