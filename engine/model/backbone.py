"""Backbones: networks that turn an image into an embedding, `f` in the paper."""

from typing import Final

import torch
from torch import Tensor, nn

LEAF_NET_WIDTHS: Final = (48, 96, 192, 384)


def _convolution(channels_in: int, channels_out: int, *, size: int = 3, stride: int = 1) -> list[nn.Module]:
    return [
        nn.Conv2d(channels_in, channels_out, size, stride, size // 2, bias=False),
        nn.BatchNorm2d(channels_out),
    ]


class ResidualBlock(nn.Module):
    """Two 3x3 convolutions beside a shortcut; a strided shortcut averages before it projects.

    Source: He et al., CVPR 2016, with the average-pooled shortcut of He et al., CVPR 2019.
    """

    def __init__(self, channels_in: int, channels_out: int, stride: int) -> None:
        super().__init__()
        self.residual = nn.Sequential(
            *_convolution(channels_in, channels_out, stride=stride),
            nn.ReLU(inplace=True),
            *_convolution(channels_out, channels_out),
        )
        shortcut: list[nn.Module] = []
        if stride > 1:
            shortcut.append(nn.AvgPool2d(stride, ceil_mode=True))
        if stride > 1 or channels_in != channels_out:
            shortcut += _convolution(channels_in, channels_out, size=1)
        self.shortcut = nn.Sequential(*shortcut)
        self.activation = nn.ReLU(inplace=True)

    def forward(self, features: Tensor) -> Tensor:
        """Map (B, C_in, H, W) float to (B, C_out, ceil(H / stride), ceil(W / stride)) float."""
        activated: Tensor = self.activation(self.residual(features) + self.shortcut(features))
        return activated


class LeafNet(nn.Module):
    """The bundled backbone: a small residual network for images of 64 to 224 pixels.

    Args:
        widths: channels of the four stages; the last one is the embedding width.
        blocks_per_stage: residual blocks in each stage.
        stem_width: channels after the first strided convolution.
    """

    def __init__(
        self,
        widths: tuple[int, ...] = LEAF_NET_WIDTHS,
        *,
        blocks_per_stage: int = 2,
        stem_width: int = 32,
    ) -> None:
        super().__init__()
        layers = [*_convolution(3, stem_width, stride=2), nn.ReLU(inplace=True)]
        channels = stem_width
        for stage, width in enumerate(widths):
            for block in range(blocks_per_stage):
                stride = 2 if block == 0 and stage > 0 else 1
                layers.append(ResidualBlock(channels, width, stride))
                channels = width
        self.stages = nn.Sequential(*layers)
        self.embedding_width = channels

    def forward(self, images: Tensor) -> Tensor:
        """Map images (B, 3, H, W), normalised float, to embeddings (B, embedding_width) float."""
        features: Tensor = self.stages(images)
        return torch.mean(features, dim=(2, 3))


class UnitEmbedding(nn.Module):
    """A backbone whose embeddings have length 1, so that squared distances lie in [0, 4] for every backbone."""

    def __init__(self, backbone: nn.Module) -> None:
        super().__init__()
        self.backbone = backbone

    def forward(self, images: Tensor) -> Tensor:
        """Map images (B, 3, H, W), normalised float, to embeddings (B, d) float of length 1."""
        return nn.functional.normalize(self.backbone(images), dim=1)
