import numpy as np
import pytest

from research.transfer.peers.paddle import assigned_once, predict
from tests.support.transfer import clusters


def test_assignment_by_hand() -> None:
    """At equal distances the class sizes decide; else sizes times exp of half the distances."""
    distances = np.array([[1.0, 1.0], [0.0, 0.5]], dtype=np.float32)
    found = assigned_once(distances, np.array([0.75, 0.25], dtype=np.float32), 4.0)
    assert found[0].tolist() == pytest.approx([0.75, 0.25])
    assert found[1, 0] == pytest.approx(3 / (3 + np.exp(-1.0)))


def test_a_class_may_be_empty() -> None:
    """Queries of two classes only leave the other three classes empty."""
    task, answers = clusters(shots=1, queries=20, noise=0.5, seed=4)
    two = task.with_features(task.support, task.queries[answers < 2])
    assert (predict(two)["length 1, scale 240"] == answers[answers < 2]).all()
