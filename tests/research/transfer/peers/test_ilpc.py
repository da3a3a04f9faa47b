import numpy as np
import pytest

from research.transfer.peers.ilpc import cleanest, evened, mean_losses, predict
from research.transfer.task import unit_rows
from tests.support.transfer import clusters


def test_evened_rows_and_columns() -> None:
    """A certain query has weight 1, an uncertain one 0; class totals are equal."""
    reached = np.array([[1.0, 0.0], [0.9, 0.1], [0.8, 0.2], [0.5, 0.5]])
    plan = evened(reached)
    assert plan.sum(axis=0)[0] == pytest.approx(plan.sum(axis=0)[1])
    assert plan.sum(axis=1)[3] == pytest.approx(0, abs=1e-3)
    assert plan[2].argmax() == 1
    assert plan[0].argmax() == 0


def test_the_cleanest_of_each_class() -> None:
    """At most two, those with the smallest losses."""
    losses = np.array([0.3, 0.1, 0.2, 0.9, 0.5], dtype=np.float32)
    assert cleanest(losses, np.array([0, 0, 0, 2, 2]), 2).tolist() == [1, 2, 4, 3]
    assert cleanest(losses, np.array([0, 0, 0, 2, 2]), 1).tolist() == [1, 4]


def test_wrong_labels_cost_more() -> None:
    """Wrong pseudo-labels have the largest mean losses."""
    task, answers = clusters(shots=2, noise=0.3)
    labels = answers.copy()
    wrong = np.array([3, 20, 40])
    labels[wrong] = (labels[wrong] + 1) % 5
    images = unit_rows(np.concatenate([task.support, task.queries]))
    is_shot = np.arange(len(images)) < len(task.support)
    losses = mean_losses(images, np.concatenate([task.classes, labels]), is_shot)[~is_shot]
    assert sorted(np.argsort(-losses)[:3].tolist()) == wrong.tolist()


def test_unequal_classes_are_better_left_free() -> None:
    """With 40 images of one class and 4 of the others, even shares force errors."""
    task, answers = clusters(shots=3, queries=40, noise=0.3)
    kept = np.flatnonzero((answers == 0) | (np.arange(len(answers)) % 10 == 0))
    found = predict(task.with_features(task.support, task.queries[kept]))
    right = {option: float((classes == answers[kept]).mean()) for option, classes in found.items()}
    assert right["free shares"] > 0.95 > right["even shares"]
