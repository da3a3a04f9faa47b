"""Backbones: networks that turn an image into an embedding, `f` in the paper."""

from collections.abc import Sequence
from typing import Final, final

import torch
from torch import Tensor, nn

from engine.errors import InputError

LEAF_NET_WIDTHS: Final = (48, 96, 192, 384)
LEAF_NET_BLOCKS: Final = (1, 1, 2, 1)
SMALLEST: Final = 1e-6
"""Below this a channel counts as silent: the root of 0 has no slope."""
CONV4_WIDTH: Final = 64
CONV4_LAYERS: Final = 4
SMALLEST_SIDE: Final = 1 << CONV4_LAYERS
LAST_SCALE: Final = 0.2


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
        return self.activation(self.residual(features) + self.shortcut(features))


def pooled(features: Tensor) -> Tensor:
    """Generalised mean of each channel over a map, then length 1: (B, C, H, W) float to (B, C) float32.

    Between the mean and the maximum: a channel that answers strongly somewhere counts, however small that place is.

    Source: Radenovic et al., TPAMI 2019, with p fixed to 3.
    """
    present = features.float().clamp(min=SMALLEST)
    cubes = present * present * present  # cheaper than a power
    return nn.functional.normalize(cubes.mean(dim=(2, 3)).pow(1 / 3), dim=1)


class LeafNet(nn.Module):
    """The bundled backbone: a small residual network for images of 64 to 224 pixels that is listened to at every stage.

    Early stages know colour and texture, late ones kinds of things; which of them tells a person's classes apart
    nobody knows beforehand, so the embedding holds all.

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
        """Outputs of the four stages, each (B, width, H', W') float, for images (B, 3, H, W), normalised float."""
        features, found = images, []
        for place, layer in enumerate(self.stages, start=1):
            features = layer(features)
            if place in self.stage_ends:
                found.append(features)
        return found

    def forward(self, images: Tensor) -> Tensor:
        """Map images (B, 3, H, W), normalised float, to embeddings (B, sum of the widths) float32."""
        return torch.cat([pooled(features) for features in self.maps(images)], dim=1)


class LastStage(nn.Module):
    """Only what a network's last stage says, averaged over the map: what classifiers are usually trained on."""

    def __init__(self, network: LeafNet, width: int) -> None:
        super().__init__()
        self.network = network
        self.embedding_width = width

    def forward(self, images: Tensor) -> Tensor:
        """Map images (B, 3, H, W), normalised float, to embeddings (B, width of the last stage) float."""
        return torch.mean(self.network.maps(images)[-1], dim=(2, 3))


class Whitened(nn.Module):
    """A backbone followed by a fixed affine map that makes its embeddings' directions comparable.

    Args:
        backbone: gives embeddings (B, d_in).
        mean: (d_in,) float32, subtracted.
        matrix: (d, d_in) float32, multiplied with.
    """

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
    """A backbone whose embeddings have length 1, so that squared distances lie in [0, 4] for every backbone."""

    def __init__(self, backbone: nn.Module) -> None:
        super().__init__()
        self.backbone = backbone

    def forward(self, images: Tensor) -> Tensor:
        """Map images (B, 3, H, W), normalised float, to embeddings (B, d) float of length 1."""
        return nn.functional.normalize(self.backbone(images), dim=1)


@final
class Conv4(nn.Module):
    """Four times 3x3 convolution, batch norm, ReLU and 2x2 max-pooling, then flattened.

    Pooling comes before ReLU: the largest of four is the same either way, and ReLU then sees a quarter of the values.

    Paper: section 4, "4 convolutional layers, each with 64 filters"; used since Vinyals et al., NeurIPS 2016.

    Args:
        side: side of the input images in pixels, at least 16.
        width: filters of each layer.
        last_scale: what the last batch norm starts to multiply by. The usual 1 makes squared distances of some hundreds
            at first, which a softmax over distances takes a thousand iterations to shrink.

    Raises:
        InputError: the images are too small to be halved four times.
    """

    def __init__(self, side: int, width: int = CONV4_WIDTH, *, last_scale: float = LAST_SCALE) -> None:
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
        nn.init.constant_(layers[-3].weight, last_scale)  # type: ignore[arg-type]  # the last batch norm
        self.layers = nn.Sequential(*layers, nn.Flatten())
        self.side = side
        self.embedding_width = width * (side >> CONV4_LAYERS) ** 2

    def forward(self, images: Tensor) -> Tensor:
        """Map images (B, 3, side, side), normalised, to embeddings (B, embedding_width)."""
        return self.layers(images)
