"""Common properties of all peers."""

import statistics
from collections.abc import Mapping

import numpy as np
import pytest

from research.transfer.measuring import Predict
from research.transfer.peers import (
    alpha_tim,
    bd_cspn,
    coarse_logistic_regression,
    distribution_calibration,
    ilpc,
    label_propagation,
    label_shift,
    laplacian_shot,
    logistic_regression,
    nearest_prototype,
    paddle,
    pt_map,
    tim,
)
from research.transfer.task import FewShotTask
from tests.support.transfer import clusters

PEERS: Mapping[str, Predict] = {
    "prototypes": nearest_prototype.predict,
    "logistic regression": logistic_regression.predict,
    "label shift": label_shift.predict,
    "BD-CSPN": bd_cspn.predict,
    "LaplacianShot": laplacian_shot.predict,
    "PT-MAP": pt_map.predict,
    "TIM": tim.predict,
    "alpha-TIM": alpha_tim.predict,
    "PADDLE": paddle.predict,
    "Distribution Calibration": distribution_calibration.predict,
    "iLPC": ilpc.predict,
    "label propagation": label_propagation.predict,
    "logistic regression, coarse labels": coarse_logistic_regression.predict,
}
TRANSDUCTIVE = (
    "BD-CSPN",
    "LaplacianShot",
    "PT-MAP",
    "TIM",
    "alpha-TIM",
    "PADDLE",
    "iLPC",
    "label propagation",
)


@pytest.mark.parametrize("name", PEERS)
def test_tells_clusters_apart(name: str) -> None:
    """With little noise every option is correct everywhere."""
    task, answers = clusters(shots=2, noise=0.05)
    for option, found in PEERS[name](task).items():
        assert found.shape == answers.shape
        assert (found == answers).all(), option


@pytest.mark.parametrize("name", PEERS)
def test_classes_have_no_order(name: str) -> None:
    """Permuted classes give permuted predictions."""
    task, _ = clusters(shots=2, noise=1.0, seed=3)
    names = np.array([2, 0, 4, 1, 3])
    renamed = FewShotTask(task.support, names[task.classes], task.queries, task.ways)
    before, after = PEERS[name](task), PEERS[name](renamed)
    for option, found in before.items():
        assert (names[found] == after[option]).mean() > 0.97, option


@pytest.mark.parametrize("name", TRANSDUCTIVE)
def test_unlabelled_images_teach(name: str) -> None:
    """In 5-way 1-shot tasks with 15 queries a class, each is clearly above prototypes."""
    gains = []
    for seed in range(5):
        task, answers = clusters(noise=1.3, seed=seed)
        alone = float((nearest_prototype.predict(task)["plain"] == answers).mean())
        gains.append(
            max(float((found == answers).mean()) for found in PEERS[name](task).values()) - alone
        )
    assert statistics.fmean(gains) > 0.04
