"""Classifiers fitted to the support images of each task on a trained network's embeddings.

Sources: Chen et al., A Closer Look at Few-shot Classification, ICLR 2019 (Baseline: a linear
classifier on a frozen network); Yang, Liu and Xu, Free Lunch for Few-Shot Learning: Distribution
Calibration, ICLR 2021.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import final

import numpy as np

from engine.training.training_set import Positions
from research.testing.bench import EmbeddedTasks
from research.testing.posterior import KnownClasses
from research.transfer.peers.distribution_calibration import BaseClasses, with_draws
from research.transfer.peers.logistic_regression import fitted as fitted_to
from research.transfer.peers.logistic_regression import spanned
from research.transfer.task import FewShotTask, Matrix, unit_rows

STRENGTHS = (0.1, 1.0, 10.0, 100.0)
"""C of logistic regression on embeddings whose mean squared length is 1."""
CALIBRATED_STRENGTH = 10.0
SPREAD = 0.21
"""Alpha of Distribution Calibration, in mean variances of the base classes."""
DRAWS = 500
"""Generated embeddings of a task; the paper draws 3,750."""
POWER = 0.5
"""Power of Tukey's ladder, as in the paper; embeddings of Conv4 are at least 0."""
ITERATIONS = 100


def fitted(strength: float, embedded: EmbeddedTasks) -> Positions:
    """Predictions (T, N * Q) int64 of a linear classifier, fitted to each task's support set.

    Args:
        strength: C of logistic regression.
        embedded: T tasks of N classes.
    """
    scale = float(embedded.support.square().sum(dim=-1).mean().clamp(min=1e-12).sqrt())
    tasks = (
        spanned(task.with_features(task.support / scale, task.queries / scale))
        for task in tasks_of(embedded)
    )
    return _fitted(tasks, strength)


@final
@dataclass(frozen=True)
class Calibrated:
    """Distribution Calibration with the few-shot classes of training as base classes."""

    known: KnownClasses
    draws: int = DRAWS
    base: BaseClasses = field(init=False)

    def __post_init__(self) -> None:
        places = self.known.few_shot.tolist()
        raised = [transformed(self.known.embeddings_of(place).numpy()) for place in places]
        means = np.stack([rows.mean(axis=0) for rows in raised])
        members = tuple(rows - mean for rows, mean in zip(raised, means, strict=True))
        object.__setattr__(self, "base", BaseClasses(means, members))

    def __call__(self, embedded: EmbeddedTasks) -> Positions:
        """Predictions (T, N * Q) int64."""
        tasks = (
            task.with_features(transformed(task.support), transformed(task.queries))
            for task in tasks_of(embedded)
        )
        drawn = (with_draws(task, self.base, SPREAD, draws=self.draws) for task in tasks)
        return _fitted(drawn, CALIBRATED_STRENGTH)


def _fitted(tasks: Iterable[FewShotTask], strength: float) -> Positions:
    """Predictions (T, N * Q); such small matrices are slower on several threads."""
    import sklearn.linear_model  # noqa: F401 (limits apply to libraries that are loaded)
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        return np.stack([fitted_to(task, strength, ITERATIONS) for task in tasks])


def transformed(vectors: Matrix) -> Matrix:
    """Tukey's power transform of embeddings (n, d), with signs, then length 1."""
    return unit_rows((np.sign(vectors) * np.abs(vectors) ** POWER).astype(np.float32))


def tasks_of(embedded: EmbeddedTasks) -> Iterator[FewShotTask]:
    """Each of the T tasks."""
    ways, shots, width = embedded.support.shape[1:]
    classes = np.repeat(np.arange(ways), shots)
    for support, queries in zip(embedded.support.numpy(), embedded.queries.numpy(), strict=True):
        yield FewShotTask(support.reshape(-1, width), classes, queries, ways)
