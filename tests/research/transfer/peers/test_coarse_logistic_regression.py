from dataclasses import replace

import numpy as np
import pytest

from research.transfer.peers import coarse_logistic_regression, logistic_regression
from research.transfer.peers.coarse_logistic_regression import (
    fitted_weights,
    marginal_losses,
    predict,
)
from research.transfer.task import CoarseLabels, FewShotTask
from tests.support.transfer import clusters


def test_marginal_loss_by_hand() -> None:
    """Even logits of three classes, two of them candidates: minus log of two thirds."""
    values, gradient = marginal_losses(np.zeros((1, 3)), np.array([[True, True, False]]))
    assert values[0] == pytest.approx(np.log(1.5))
    assert gradient[0].tolist() == pytest.approx([1 / 3 - 1 / 2, 1 / 3 - 1 / 2, 1 / 3])


def test_gradient_is_that_of_the_value() -> None:
    """By finite differences."""
    generator = np.random.default_rng(0)
    logits, is_open = generator.normal(size=(4, 5)), generator.uniform(size=(4, 5)) < 0.5
    is_open[:, 0] = True
    _, gradient = marginal_losses(logits, is_open)
    for column in range(5):
        step = np.zeros_like(logits)
        step[:, column] = 1e-6
        after, before = (marginal_losses(logits + sign * step, is_open)[0] for sign in (1, -1))
        assert gradient[:, column] == pytest.approx((after - before) / 2e-6, abs=1e-6)


def test_without_coarse_labels_it_is_logistic_regression() -> None:
    """The same classes as by scikit-learn."""
    task, _ = clusters(shots=3, noise=1.0)
    expected = logistic_regression.predict(task)["standardised, C = 1"]
    assert (predict(task)["standardised, C = 1, coarse labels as shots"] == expected).mean() > 0.98


def test_a_coarse_label_teaches_its_branch() -> None:
    """Two leaves of a branch with uninformative shots are learned from coarse labels."""
    support = np.array([[0.1, 1], [0.1, -1], [-0.1, 1], [-0.1, -1]], dtype=np.float32)
    queries = np.array([[2, 1], [2, -1], [-2, 1], [-2, -1], [1, 0.2], [-1, -0.2]], dtype=np.float32)
    is_right = np.array([[True, True, False, False], [False, False, True, True]])
    task = FewShotTask(
        support, np.arange(4), queries, 4, CoarseLabels(np.arange(4), is_right[[0, 0, 1, 1]])
    )
    alone = fitted_weights(replace(task, coarse=None), 1.0)
    taught = fitted_weights(task, 1.0)
    assert np.abs(taught[:, 0]).min() > 3 * np.abs(alone[:, 0]).min()
    for name, found in predict(task).items():
        assert found[4:].tolist() == [0, 3], name


def test_coarse_labels_that_count_as_the_shots_below() -> None:
    """Twenty labels of a branch with three shots have weight three; a single one has weight one."""
    leaves = np.zeros((21, 4), dtype=bool)
    leaves[:20, :2], leaves[20, 2:] = True, True
    counts = coarse_logistic_regression.even_counts(leaves, np.array([0, 0, 1, 2, 3]))
    assert counts.tolist() == pytest.approx([3 / 20] * 20 + [1])
