"""Test tasks, the same for every method, so that comparisons are paired."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.errors import InputError
from engine.training.training_set import Positions

TASK_COUNT = 600
QUERIES = 15
TASK_SEED = 2019


@dataclass(frozen=True)
class Tasks:
    """T few-shot tasks of N classes each.

    Attributes:
        classes: (T, N) int64, class positions.
        support: (T, N, k) int64, image positions.
        queries: (T, N, Q) int64, image positions; none of them is in its task's support.
    """

    classes: Positions
    support: Positions
    queries: Positions

    @property
    def targets(self) -> Positions:
        """(N * Q,) int64 in [0, N), the same for every task: queries are ordered by class."""
        return np.repeat(np.arange(self.classes.shape[1]), self.queries.shape[2])

    @property
    def flat_queries(self) -> Positions:
        """(T, N * Q) int64, image positions."""
        return self.queries.reshape(len(self.queries), -1)

    def accuracies(self, predictions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Accuracy (T,) of predictions (T, N * Q) in each task."""
        return np.asarray((predictions == self.targets).mean(axis=1))


def draw_tasks(
    images_by_class: dict[int, Positions],
    *,
    ways: int,
    shots: int,
    queries: int = QUERIES,
    count: int = TASK_COUNT,
    seed: int = TASK_SEED,
) -> Tasks:
    """Draw tasks over classes with enough images, without replacement within a task.

    Args:
        images_by_class: image positions of each candidate class.
        ways: N.
        shots: k.
        queries: Q, images of each class to classify.
        count: T.
        seed: the same seed gives the same tasks.

    Raises:
        InputError: fewer than `ways` classes, or too few images in one.
    """
    classes = np.array(sorted(images_by_class), dtype=np.int64)
    needed = shots + queries
    able = np.array(
        [c for c in classes.tolist() if len(images_by_class[c]) >= needed], dtype=np.int64
    )
    if len(able) < ways:
        raise InputError(
            f"too few classes have enough images for {ways}-way {shots}-shot tasks",
            expected=(
                f"{ways} classes with {needed} images each ({shots} to learn from, "
                f"{queries} to classify)"
            ),
            found=f"{len(able)} of {len(classes)}",
            remedy="build a data set with more images, or ask for fewer ways, shots or queries",
        )
    generator = np.random.default_rng(seed)
    chosen = np.stack([np.sort(generator.choice(able, ways, replace=False)) for _ in range(count)])
    images = np.stack(
        [
            np.stack([generator.choice(images_by_class[c], needed, replace=False) for c in task])
            for task in chosen.tolist()
        ]
    )
    return Tasks(chosen, images[:, :, :shots], images[:, :, shots:])
