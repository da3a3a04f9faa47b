"""Classification heads that shape the embedding in training, and their predictions of ancestors.

The paper has none. One linear layer distinguishes all training classes of a level, at every level;
an image of a fine class also counts for all that is above it.
"""

from typing import final

import numpy as np
import torch
from torch import Tensor, nn

from engine.arrays import Flags
from engine.training.training_set import Positions, TrainingSet

INITIAL_DEVIATION = 0.01  # of weights. Chosen: probabilities are nearly even at first.
UNSEEN_LEVEL = -1  # of classes that training never sees


@final
class ClassHeads(nn.Module):
    """Logits of C classes from embeddings of width d, compared within each level.

    Args:
        embedding_width: d.
        training_set: classes that have images of their own, or below them, get a logit.
        fine_only: only the few-shot classes are distinguished, as for a method without coarse
            labels.
        seed: of the initial weights.

    Attributes:
        levels: (C,) int64, `UNSEEN_LEVEL` for classes that no image counts for.
        counts_for: (C, C) bool, row the class of an image, column a class that it counts for:
            itself or one above it.
    """

    levels: Tensor
    counts_for: Tensor

    def __init__(
        self,
        embedding_width: int,
        training_set: TrainingSet,
        *,
        fine_only: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__()
        count = training_set.class_count
        counts_for = np.eye(count, dtype=bool)
        for position in range(count):
            counts_for[position, sorted(training_set.ancestors[position])] = True
        has_images = np.array([len(images) > 0 for images in training_set.images_by_class])
        is_seen = counts_for[has_images].any(axis=0)
        is_seen[~_below_or_above(training_set)] = False
        if fine_only:
            is_seen &= np.isin(np.arange(count), training_set.few_shot)
        self.register_buffer(
            "levels", torch.from_numpy(np.where(is_seen, training_set.levels, UNSEEN_LEVEL))
        )
        self.register_buffer("counts_for", torch.from_numpy(counts_for & is_seen))
        generator = torch.Generator().manual_seed(seed)
        self.weight = nn.Parameter(
            INITIAL_DEVIATION * torch.randn(count, embedding_width, generator=generator)
        )
        self.bias = nn.Parameter(torch.zeros(count))

    @property
    def seen_levels(self) -> tuple[int, ...]:
        """Levels on which there are classes to choose among, finest first."""
        levels, counts = torch.unique(self.levels, return_counts=True)
        pairs = zip(levels.tolist(), counts.tolist(), strict=True)
        return tuple(
            sorted(
                (level for level, count in pairs if level != UNSEEN_LEVEL and count > 1),
                reverse=True,
            )
        )

    def log_probabilities(self, embeddings: Tensor) -> Tensor:
        """Log-probability (n, C) float32 of each class within its level; -inf for unseen ones."""
        logits = nn.functional.linear(embeddings, self.weight, self.bias)
        scores = torch.full_like(logits, float("-inf"))
        for level in self.seen_levels:
            on_level = self.levels == level
            scores[:, on_level] = logits[:, on_level].log_softmax(dim=1)
        return scores

    def loss(self, embeddings: Tensor, class_positions: Positions) -> Tensor:
        """Sum over levels of the mean negative log-probability of classes or ancestors.

        An image with several ancestors on a level counts for any of them; one with none is left out
        there.

        Args:
            embeddings: (B, d) float32.
            class_positions: (B,) int64 in [0, C), the class that each image is known to be of.
        """
        logits = nn.functional.linear(embeddings, self.weight, self.bias)
        wanted = self.counts_for[torch.from_numpy(class_positions).to(embeddings.device)]
        losses = [embeddings.new_zeros(())]
        for level in self.seen_levels:
            on_level = self.levels == level
            of_level, is_wanted = logits[:, on_level], wanted[:, on_level]
            counts = is_wanted.any(dim=1)
            if counts.any():
                of_level, is_wanted = of_level[counts], is_wanted[counts]
                right = of_level.masked_fill(~is_wanted, float("-inf")).logsumexp(dim=1)
                losses.append((of_level.logsumexp(dim=1) - right).mean())
        return torch.stack(losses).sum()


def _below_or_above(training_set: TrainingSet) -> Flags:
    """Few-shot classes and their ancestors (C,) bool: others take no part in training."""
    is_part = np.zeros(training_set.class_count, dtype=bool)
    for position in training_set.few_shot.tolist():
        is_part[[position, *training_set.ancestors[position]]] = True
    return is_part
