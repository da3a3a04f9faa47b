"""Prototypical networks (Snell et al., NeurIPS 2017): a class is the mean of its embeddings."""

from collections.abc import Sequence
from typing import NamedTuple, final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.model.propagation import log_probabilities
from engine.training.class_heads import ClassHeads
from engine.training.level_wise import LevelTask, LevelWiseDraw, LevelWiseSampler
from engine.training.training_set import Positions
from research.baselines.baseline import Baseline


class BesideHeads(NamedTuple):
    """Classification heads trained with a baseline, for a fair comparison with a PPN with heads.

    Attributes:
        heads: over the classes of the baseline.
        class_positions: (n,) int64, class of each training image.
        weight: of their loss.
    """

    heads: ClassHeads
    class_positions: Positions
    weight: float


@final
class PrototypicalNet(Baseline):
    """Classification by the nearest class mean; only the backbone is learned.

    Args:
        backbone: maps images (B, 3, H, W) to embeddings (B, d).
        sampler: from `baseline_sampler`: plain episodes, or one task for each level for the `*`
            variant.
        beside: heads for training only.
    """

    def __init__(
        self, backbone: nn.Module, sampler: LevelWiseSampler, beside: BesideHeads | None = None
    ) -> None:
        super().__init__(backbone)
        self._sampler = sampler
        self._beside = beside
        self.heads = None if beside is None else beside.heads

    def draw(self, generator: np.random.Generator) -> LevelWiseDraw:
        """Draw the episode of one iteration."""
        return self._sampler.draw(generator)

    def loss(self, embeddings: Tensor, draw: LevelWiseDraw) -> Tensor:
        """Sum over tasks of the mean cross entropy of their queries, plus the loss of the heads.

        Args:
            embeddings: (B, d) float32.
            draw: its tasks all have support images.

        Returns:
            Scalar float32, at least 0.
        """
        losses = [_task_loss(embeddings, task) for task in draw.tasks]
        if self._beside is not None:
            classes = self._beside.class_positions[draw.images]
            losses.append(self._beside.weight * self._beside.heads.loss(embeddings, classes))
        return torch.stack(losses).sum()

    def scores(
        self,
        support: Tensor,
        queries: Tensor,
        generators: Sequence[np.random.Generator],  # noqa: ARG002 (nothing is random)
    ) -> Tensor:
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
    return functional.nll_loss(
        log_probabilities(queries, prototypes), torch.from_numpy(task.targets).to(device)
    )
