"""LeafNet, the fast bundled backbone, as a torch module that is trained here."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from engine.model.backbone import SMALLEST

LEAF_NET_WIDTHS = (48, 96, 192, 384)
LEAF_NET_BLOCKS = (1, 1, 2, 1)


def _convolution(
    channels_in: int, channels_out: int, *, size: int = 3, stride: int = 1
) -> list[nn.Module]:
    return [
        nn.Conv2d(channels_in, channels_out, size, stride, size // 2, bias=False),
        nn.BatchNorm2d(channels_out),
    ]


class ResidualBlock(nn.Module):
    """Two 3x3 convolutions with a shortcut; a strided shortcut averages before it projects.

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
        return self.activation(self.residual(features) + self.shortcut(features))


def pooled(features: Tensor) -> Tensor:
    """Generalised mean over a map, then length 1: (B, C, H, W) float to (B, C) float32.

    Between mean and maximum: a strong local activation of a channel counts.

    Source: Radenovic et al., TPAMI 2019, with p fixed to 3.
    """
    present = features.float().clamp(min=SMALLEST)
    cubes = present * present * present  # cheaper than a power
    return nn.functional.normalize(cubes.mean(dim=(2, 3)).pow(1 / 3), dim=1)


class LeafNet(nn.Module):
    """The bundled backbone: a small residual network for images of 64 to 224 pixels.

    Args:
        widths: channels of the four stages.
        blocks: residual blocks of the four stages.
        stem_width: channels after the first strided convolution.
    """

    def __init__(
        self,
        widths: Sequence[int] = LEAF_NET_WIDTHS,
        blocks: Sequence[int] = LEAF_NET_BLOCKS,
        *,
        stem_width: int = 32,
    ) -> None:
        super().__init__()
        layers = [*_convolution(3, stem_width, stride=2), nn.ReLU(inplace=True)]
        channels, ends = stem_width, []
        for stage, (width, count) in enumerate(zip(widths, blocks, strict=True)):
            for block in range(count):
                layers.append(ResidualBlock(channels, width, 2 if block == 0 and stage > 0 else 1))
                channels = width
            ends.append(len(layers))
        self.stages = nn.Sequential(*layers)
        self.stage_ends = tuple(ends)
        self.embedding_width = sum(widths)

    def maps(self, images: Tensor) -> list[Tensor]:
        """Outputs of the four stages, each (B, width, H', W') float, of images (B, 3, H, W)."""
        features, found = images, []
        for place, layer in enumerate(self.stages, start=1):
            features = layer(features)
            if place in self.stage_ends:
                found.append(features)
        return found

    def forward(self, images: Tensor) -> Tensor:
        """Map normalised images (B, 3, H, W) to embeddings (B, sum of the widths) float32."""
        return torch.cat([pooled(features) for features in self.maps(images)], dim=1)


class LastStage(nn.Module):
    """The last stage of a network, averaged over the map: the usual input of a classifier."""

    def __init__(self, network: LeafNet, width: int) -> None:
        super().__init__()
        self.network = network
        self.embedding_width = width

    def forward(self, images: Tensor) -> Tensor:
        """Map normalised images (B, 3, H, W) float to embeddings (B, last width) float."""
        return torch.mean(self.network.maps(images)[-1], dim=(2, 3))
