import numpy as np
import pytest

from research.transfer.peers.pt_map import nearest, power_transformed, predict, transport
from research.transfer.task import FewShotTask
from tests.support.transfer import clusters


def test_transport_shares_evenly() -> None:
    """Rows sum to one and columns to three, however near the images are to the first class."""
    costs = np.random.default_rng(0).uniform(0, 1, (9, 3)).astype(np.float32)
    costs[:, 0] -= 0.2
    plan = transport(costs)
    assert plan.sum(axis=1) == pytest.approx(1, abs=1e-4)
    assert plan.sum(axis=0) == pytest.approx(3, abs=1e-4)


def test_transport_by_hand() -> None:
    """Symmetric costs: the plan is the row-wise softmax, which is balanced already."""
    plan = transport(np.array([[0.0, 0.1], [0.1, 0.0]], dtype=np.float32))
    assert plan[0, 0] == pytest.approx(1 / (1 + np.exp(-1.0)), abs=1e-6)
    assert nearest(np.array([[0.0, 0.1]], dtype=np.float32))[0, 0] == pytest.approx(
        plan[0, 0], abs=1e-6
    )


def test_power_transform_by_hand() -> None:
    """Square roots of length 1, then centred and of length 1: two queries are opposite."""
    # Roots (0.6, 0.8) and (0.8, 0.6) of length one.
    queries = np.array([[9.0, 16.0], [16.0, 9.0]], dtype=np.float32)
    task = FewShotTask(queries, np.array([0, 1]), queries, 2)
    half = np.sqrt(0.5)
    np.testing.assert_allclose(
        power_transformed(task).queries, [[-half, half], [half, -half]], rtol=1e-5
    )


def test_negative_values_keep_their_sign() -> None:
    """Embeddings may be negative."""
    task, _ = clusters()
    moved = power_transformed(task.with_features(task.support - 1, task.queries - 1))
    assert np.isfinite(moved.queries).all()


def test_unequal_classes_are_better_matched_freely() -> None:
    """With 40 images of one class and 4 of the others, even shares force errors."""
    task, answers = clusters(shots=3, queries=40, noise=0.3)
    kept = np.flatnonzero((answers == 0) | (np.arange(len(answers)) % 10 == 0))
    found = predict(task.with_features(task.support, task.queries[kept]))
    right = {option: float((classes == answers[kept]).mean()) for option, classes in found.items()}
    assert right["free shares"] > 0.95 > right["equal shares"]
