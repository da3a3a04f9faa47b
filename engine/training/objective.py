"""What one iteration of training draws, and the loss it makes of the embeddings: PPN and every baseline is one."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

Embed = Callable[[NDArray[np.int64]], Tensor]
"""Embeds the images at (k,) positions of the training set, without gradient: (k, d) float32."""


@dataclass(frozen=True)
class IterationDraw:
    """One iteration's data."""

    images: NDArray[np.int64]  # (B,) int64, positions in the training set; what a subclass adds speaks of these rows


class Objective(nn.Module, ABC):
    """A backbone with what is learned on top of it. All state lives in parameters and registered buffers.

    Args:
        backbone: maps images (B, 3, H, W) to embeddings (B, d).

    Attributes:
        constants: what it was made with, by name; a checkpoint remembers them and goes on with the same only.
        refresh_interval: iterations between two calls of `refresh`, the first before the first iteration; 0 for never.
        precision: number type of the backbone's arithmetic; the loss is always computed in float32.
    """

    refresh_interval: int = 0

    def __init__(self, backbone: nn.Module) -> None:
        super().__init__()
        self.backbone = backbone
        self.precision = torch.float32
        self.constants: Mapping[str, float | str | int | bool | None] = {}

    @abstractmethod
    def draw(self, generator: np.random.Generator) -> IterationDraw:
        """Draw the data of one iteration; all randomness comes from `generator`."""

    @abstractmethod
    def loss(self, embeddings: Tensor, draw: Any) -> Tensor:
        """Scalar float32 loss of embeddings (B, d) float32, a row for each image of the draw."""

    def refresh(self, embed: Embed, generator: np.random.Generator | None = None) -> None:
        """Compute anew what is too expensive to compute in each iteration.

        Args:
            generator: source of samples, where only a sample is looked at; without one, all images are: at the end.
        """

    def forward(self, images: Tensor, draw: IterationDraw) -> Tensor:
        """Loss of images (B, 3, H, W) float32, normalised."""
        return self.loss(self.embed(images), draw)

    def embed(self, images: Tensor) -> Tensor:
        """Embeddings (B, d) float32 of images (B, 3, H, W) float32, computed in `precision`."""
        with torch.autocast(images.device.type, self.precision, enabled=self.precision != torch.float32):
            embeddings: Tensor = self.backbone(images)
        return embeddings.float()
