"""ResNet-12, the deeper network of few-shot papers (Mishra et al., 2018; Lee et al., 2019)."""

from typing import final

import torch
from torch import Tensor, nn

from engine.errors import InputError
from engine.model.backbone import LAST_SCALE

WIDTHS = (64, 160, 320, 640)
SMALLEST_SIDE = 1 << len(WIDTHS)
SLOPE = 0.1


@final
class ResNet12(nn.Module):
    """Four residual blocks of three 3x3 convolutions with 2x2 max-pooling; then the mean.

    Without the DropBlock of Lee et al.

    Args:
        side: side of the input images in pixels, at least 16.
        widths: filters of each block.

    Raises:
        InputError: the images are too small to be halved four times.
    """

    def __init__(self, side: int, widths: tuple[int, ...] = WIDTHS) -> None:
        super().__init__()
        if side < SMALLEST_SIDE:
            raise InputError(
                "the images are too small for ResNet-12",
                expected="a side of at least {smallest} px",
                found="{side} px",
                smallest=SMALLEST_SIDE,
                side=side,
            )
        blocks = [_Block(*pair) for pair in zip((3, *widths[:-1]), widths, strict=True)]
        for norm in blocks[-1].norms:  # so that distances are small at first, as in Conv4
            nn.init.constant_(norm.weight, LAST_SCALE)
        self.blocks = nn.Sequential(*blocks)
        self.side = side
        self.embedding_width = widths[-1]

    def forward(self, images: Tensor) -> Tensor:
        """Map images (B, 3, side, side), normalised, to embeddings (B, embedding_width)."""
        found: Tensor = self.blocks(images)
        return found.mean(dim=(2, 3))


class _Block(nn.Module):
    def __init__(self, channels_in: int, width: int) -> None:
        super().__init__()
        self.norms = nn.BatchNorm2d(width), nn.BatchNorm2d(width)  # of both branches that are added
        layers: list[nn.Module] = []
        for channels in (channels_in, width):
            layers += [
                nn.Conv2d(channels, width, 3, padding=1, bias=False),
                nn.BatchNorm2d(width),
                nn.LeakyReLU(SLOPE),
            ]
        self.layers = nn.Sequential(
            *layers, nn.Conv2d(width, width, 3, padding=1, bias=False), self.norms[0]
        )
        self.shortcut = nn.Sequential(nn.Conv2d(channels_in, width, 1, bias=False), self.norms[1])
        self.after = nn.Sequential(nn.LeakyReLU(SLOPE), nn.MaxPool2d(2))

    def forward(self, images: Tensor) -> Tensor:
        found: Tensor = self.after(torch.add(self.layers(images), self.shortcut(images)))
        return found
