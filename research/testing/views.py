"""Mean embeddings of augmented views of an image, cropped and flipped as in training."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.training.arithmetic import augmented_windows
from engine.training.loop import EMBEDDING_BATCH, Embed, Objective
from engine.training.settings import TrainingSettings
from engine.training.training_set import Positions

VIEWS = 10


def views_embedder(
    objective: Objective, pixels: NDArray[np.uint8], settings: TrainingSettings
) -> Embed:
    """Function from positions (k,) to mean embeddings (k, d) of views; deterministic.

    Args:
        objective: trained, in evaluation mode.
        pixels: (n, S, S, 3) uint8.
        settings: of its training, whose augmentation makes the views.
    """

    @torch.no_grad()
    def embed(positions: Positions) -> Tensor:
        device = next(objective.parameters()).device
        blocks = []
        for part in np.array_split(
            positions, max(1, -(-len(positions) * VIEWS // EMBEDDING_BATCH))
        ):
            generator = np.random.default_rng([settings.seed, *part[:1].tolist()])
            windows = augmented_windows(
                pixels,
                np.repeat(part, VIEWS),
                settings.side,
                generator,
                augmentation=settings.augmentation,
                device=device,
            )
            blocks.append(objective.embed(windows).reshape(len(part), VIEWS, -1).mean(dim=1))
        return torch.cat(blocks)

    return embed
