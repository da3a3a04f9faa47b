"""Prototypical networks (Snell et al., NeurIPS 2017): classes are the means of their support embeddings."""

from collections.abc import Sequence
from typing import final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.model.propagation import log_probabilities
from engine.training.level_wise import LevelTask, LevelWiseDraw, LevelWiseSampler
from research.baselines.baseline import Baseline


@final
class PrototypicalNet(Baseline):
    """Classification by the nearest mean; nothing is learned but the backbone.

    Args:
        backbone: maps images (B, 3, H, W) to embeddings (B, d).
        sampler: from `baseline_sampler`: plain episodes, or one task for each level for the `*` variant.
    """

    def __init__(self, backbone: nn.Module, sampler: LevelWiseSampler) -> None:
        super().__init__(backbone)
        self._sampler = sampler

    def draw(self, generator: np.random.Generator) -> LevelWiseDraw:
        """Draw the episode of one iteration."""
        return self._sampler.draw(generator)

    def loss(self, embeddings: Tensor, draw: LevelWiseDraw) -> Tensor:
        """Sum over the tasks of the mean cross entropy of their queries.

        Args:
            embeddings: (B, d) float32.
            draw: its tasks all have support images.

        Returns:
            Scalar float32, at least 0.
        """
        return torch.stack([_task_loss(embeddings, task) for task in draw.tasks]).sum()

    def scores(self, support: Tensor, queries: Tensor, generators: Sequence[np.random.Generator]) -> Tensor:  # noqa: ARG002 (nothing is random)
        """Log-probability of every class; shapes as in `Baseline.scores`."""
        return torch.stack(
            [
                log_probabilities(of_task, prototypes)
                for of_task, prototypes in zip(queries, support.mean(dim=2), strict=True)
            ]
        )


def _task_loss(embeddings: Tensor, task: LevelTask) -> Tensor:
    device = embeddings.device
    prototypes = embeddings[torch.from_numpy(task.support).to(device)].mean(dim=1)
    queries = embeddings[torch.from_numpy(task.queries).to(device)]
    return functional.nll_loss(log_probabilities(queries, prototypes), torch.from_numpy(task.targets).to(device))
