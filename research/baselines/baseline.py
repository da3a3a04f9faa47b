"""Base of the three baselines: trained as objectives, tested on many tasks of stored embeddings."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.errors import InputError
from engine.training.level_wise import EpisodeShape, LevelWiseSampler
from engine.training.loop import Objective
from engine.training.training_set import TrainingSet

Embeddings = NDArray[np.float32]


class Baseline(Objective, ABC):
    """An objective that classifies the queries of a few-shot task by its support set alone.

    Attributes:
        tasks_at_once: test tasks that are computed together; bounds memory and never changes a
            result.
    """

    tasks_at_once: int = 1

    @abstractmethod
    def scores(
        self, support: Tensor, queries: Tensor, generators: Sequence[np.random.Generator]
    ) -> Tensor:
        """Score of every class for every query.

        Args:
            support: (T, N, k, d) float32.
            queries: (T, q, d) float32.
            generators: T sources of randomness, one for each task.

        Returns:
            (T, q, N) float32; the highest is the prediction.
        """

    def predict(self, support: Embeddings, queries: Embeddings, *, seed: int) -> NDArray[np.int64]:
        """Classify the queries of many tasks, in evaluation mode and without gradient.

        Args:
            support: (T, N, k, d) float32, embeddings of the support images of N classes.
            queries: (T, q, d) float32.
            seed: the randomness of a task depends on this and on its position only.

        Returns:
            (T, q) int64 in [0, N), the position of the predicted class.

        Raises:
            InputError: the shapes do not match.
        """
        _require_tasks(support, queries)
        was_training = self.training
        self.eval()
        try:
            chunks = [
                self._predict(
                    support,
                    queries,
                    range(first, min(first + self.tasks_at_once, len(support))),
                    seed,
                )
                for first in range(0, len(support), self.tasks_at_once)
            ]
        finally:
            self.train(was_training)
        return np.concatenate(chunks)

    @torch.no_grad()
    def _predict(
        self, support: Embeddings, queries: Embeddings, tasks: range, seed: int
    ) -> NDArray[np.int64]:
        device = next((parameter.device for parameter in self.parameters()), torch.device("cpu"))
        own = slice(tasks.start, tasks.stop)
        scores = self.scores(
            torch.tensor(support[own], device=device),
            torch.tensor(queries[own], device=device),
            [np.random.default_rng((seed, task)) for task in tasks],
        )
        return scores.argmax(dim=2).cpu().numpy()


def baseline_sampler(
    training_set: TrainingSet, shape: EpisodeShape, *, level_wise: bool
) -> LevelWiseSampler:
    """Episodes of a baseline, or of its `*` variant.

    Paper: section 4, "we replace the original training tasks with level-wise training tasks". A
    baseline has no buffer of prototypes, so as many of a coarse class's images as there are shots
    are its support images.

    Args:
        training_set: images and graph.
        shape: sizes; `coarse_shots` is replaced by the shots.
        level_wise: True for the `*` variant, False for plain few-shot episodes.

    Returns:
        A sampler whose every task has support images.

    Raises:
        InputError: too few classes have enough images, or coarse classes have no query images left.
    """
    if level_wise and shape.coarse_images <= shape.shots:
        raise InputError(
            "coarse classes would have support images only",
            expected=f"more than {shape.shots} images of each coarse class",
            found=str(shape.coarse_images),
            remedy="raise the coarse images of the episode, or ask for fewer shots",
        )
    return LevelWiseSampler(
        training_set, replace(shape, coarse_shots=shape.shots), coarse_levels=level_wise
    )


def _require_tasks(support: Embeddings, queries: Embeddings) -> None:
    fits = (
        support.ndim == 4  # noqa: PLR2004 (T, N, k, d)
        and queries.ndim == 3  # noqa: PLR2004 (T, q, d)
        and 0 not in support.shape
        and (support.shape[0], support.shape[3]) == (queries.shape[0], queries.shape[2])
    )
    if not fits:
        raise InputError(
            "support and query embeddings do not belong to the same tasks",
            expected="(T, N, k, d) and (T, q, d), neither T, N, k nor d being 0",
            found=f"{support.shape} and {queries.shape}",
        )
