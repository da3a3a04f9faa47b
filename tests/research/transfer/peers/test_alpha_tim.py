import numpy as np
import pytest

from research.transfer.peers import tim
from research.transfer.peers.alpha_tim import objective, predict
from research.transfer.task import FewShotTask, unit_rows
from tests.support.transfer import clusters


@pytest.mark.parametrize("alpha", [1.1, 2.0, 4.0])
def test_gradient_is_that_of_the_value(alpha: float) -> None:
    """By finite differences."""
    task = tim_task()
    weights = task.prototypes()
    _, gradient = objective(task, weights, alpha)
    for row, column in ((0, 0), (1, 7), (4, 31)):
        step = np.zeros_like(weights)
        step[row, column] = 1e-3
        difference = (
            objective(task, weights + step, alpha)[0] - objective(task, weights - step, alpha)[0]
        ) / 2e-3
        assert gradient[row, column] == pytest.approx(difference, rel=0.03, abs=2e-3)


def tim_task() -> FewShotTask:
    """Embeddings of length 1."""
    task, _ = clusters(noise=0.8, seed=2)
    return task.with_features(unit_rows(task.support), unit_rows(task.queries))


def test_value_by_hand() -> None:
    """At order 2 information is the mean of summed squares less the squares of the class sizes."""
    task = tim_task()
    weights = task.prototypes()
    own, given = (tim.probabilities_of(images, weights) for images in (task.support, task.queries))
    information = (given**2).sum(axis=1).mean() - (given.mean(axis=0) ** 2).sum()
    expected = -np.log(own[np.arange(5), task.classes]).mean() - information
    assert objective(task, weights, 2.0)[0] == pytest.approx(float(expected), rel=1e-4)


def test_unequal_classes_stay_unequal() -> None:
    """Of 40 images of one class and 4 of each other, alpha-TIM takes fewer from it than TIM."""
    task, answers = clusters(shots=3, queries=40, noise=1.0)
    kept = np.flatnonzero((answers == 0) | (np.arange(len(answers)) % 10 == 0))
    few = task.with_features(task.support, task.queries[kept])
    accuracy = {
        name: (found[option] == answers[kept]).mean()
        for name, found, option in (
            ("TIM", tim.predict(few), "length 1"),
            ("alpha-TIM", predict(few), "length 1, alpha = 2"),
        )
    }
    assert accuracy["alpha-TIM"] > accuracy["TIM"] + 0.05
