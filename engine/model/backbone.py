"""Backbones: networks that turn an image into an embedding, `f` in the paper."""

from typing import final

import torch
from torch import Tensor, nn

from engine.errors import InputError

SMALLEST = 1e-6  # below this a channel counts as silent: the root of 0 has no slope
CONV4_WIDTH = 64
CONV4_LAYERS = 4
SMALLEST_SIDE = 1 << CONV4_LAYERS
LAST_SCALE = 0.2


class Whitened(nn.Module):
    """A backbone and a fixed whitening: matrix (d, d_in) times (embeddings - mean (d_in,))."""

    def __init__(self, backbone: nn.Module, mean: Tensor, matrix: Tensor) -> None:
        super().__init__()
        self.backbone = backbone
        self.embedding_width = len(matrix)
        self.whitening = nn.Linear(matrix.shape[1], matrix.shape[0])
        with torch.no_grad():
            self.whitening.weight.copy_(matrix)
            self.whitening.bias.copy_(-matrix @ mean)

    def forward(self, images: Tensor) -> Tensor:
        """Map images (B, 3, H, W), normalised float, to embeddings (B, d) float."""
        return self.whitening(self.backbone(images))


class UnitEmbedding(nn.Module):
    """A backbone with embeddings of length 1, so that squared distances are in [0, 4]."""

    def __init__(self, backbone: nn.Module) -> None:
        super().__init__()
        self.backbone = backbone

    def forward(self, images: Tensor) -> Tensor:
        """Map images (B, 3, H, W), normalised float, to embeddings (B, d) float of length 1."""
        return nn.functional.normalize(self.backbone(images), dim=1)


@final
class Conv4(nn.Module):
    """Four times 3x3 convolution, batch norm, ReLU and 2x2 max-pooling, then flattened.

    Pooling comes before ReLU: the largest of four is the same either way, and ReLU then sees a
    quarter of the values.

    Paper: section 4, "4 convolutional layers, each with 64 filters"; used since Vinyals et al.,
    NeurIPS 2016.

    Args:
        side: side of the input images in pixels, at least 16.
        width: filters of each layer.
        last_scale: initial scale of the last batch norm. The usual 1 makes squared distances of
            some hundreds at first, which a softmax over distances takes a thousand iterations to
            shrink.

    Raises:
        InputError: the images are too small to be halved four times.
    """

    def __init__(
        self, side: int, width: int = CONV4_WIDTH, *, last_scale: float = LAST_SCALE
    ) -> None:
        super().__init__()
        if side < SMALLEST_SIDE:
            raise InputError(
                "the images are too small for Conv4",
                expected="a side of at least {smallest} px",
                found="{side} px",
                smallest=SMALLEST_SIDE,
                side=side,
            )
        layers: list[nn.Module] = []
        for channels_in in (3, *(width,) * (CONV4_LAYERS - 1)):
            layers += [
                nn.Conv2d(channels_in, width, 3, padding=1),
                nn.BatchNorm2d(width),
                nn.MaxPool2d(2),
                nn.ReLU(inplace=True),
            ]
        nn.init.constant_(layers[-3].weight, last_scale)  # type: ignore[arg-type]
        self.layers = nn.Sequential(*layers, nn.Flatten())
        self.side = side
        self.embedding_width = width * (side >> CONV4_LAYERS) ** 2

    def forward(self, images: Tensor) -> Tensor:
        """Map images (B, 3, side, side), normalised, to embeddings (B, embedding_width)."""
        return self.layers(images)
