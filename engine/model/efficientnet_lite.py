"""EfficientNet-Lite: inverted residual blocks that quantise well; an embedding may pool stages.

Source: Tan and Le, ICML 2019, Table 1, as its authors' Lite variants change it: no
squeeze-and-excitation, ReLU6 for swish, and a stem and a head that stay as wide as in the smallest
network.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import torch
from torch import Tensor, nn

from engine.errors import ModelError
from engine.model.backbone import SMALLEST
from engine.texts import Message, enumerated

STEM_WIDTH = 32  # channels of the stem, the same in every variant, as published
HEAD_WIDTH = 1280  # channels of the head, likewise
CENTRE_SPREAD = 0.35
"""Standard deviation of the centre weighting, as a share of the map's side (decision 22)."""

# Widths are multiples of 8, rounded down by at most a tenth; the rest is as published.
_WIDTH_STEP = 8
_MOST_ROUNDED_OFF = 0.1
_NORM_EPSILON = 1e-3
_NORM_MOMENTUM = 0.01


class LiteStage(NamedTuple):
    """A row of the paper's table: blocks of one width, of which the first one may stride."""

    blocks: int
    kernel: int
    stride: int
    expansion: int
    width: int


# The paper's Table 1.
_STAGES = (
    LiteStage(1, 3, 1, 1, 16),
    LiteStage(2, 3, 2, 6, 24),
    LiteStage(2, 5, 2, 6, 40),
    LiteStage(3, 3, 2, 6, 80),
    LiteStage(3, 5, 1, 6, 112),
    LiteStage(4, 5, 2, 6, 192),
    LiteStage(1, 3, 1, 6, 320),
)


@dataclass(frozen=True)
class LiteVariant:
    """Width and depth relative to the smallest network, and the side of the training images."""

    width: float
    depth: float
    input_side: int

    @property
    def stages(self) -> tuple[LiteStage, ...]:
        """Rows of the table for this network: the first and the last stage do not grow deeper."""
        inner = range(1, len(_STAGES) - 1)
        return tuple(
            stage._replace(
                blocks=math.ceil(stage.blocks * self.depth) if place in inner else stage.blocks,
                width=_rounded_width(stage.width * self.width),
            )
            for place, stage in enumerate(_STAGES)
        )


LITE_VARIANTS: Mapping[str, LiteVariant] = {
    "efficientnet-lite0": LiteVariant(1.0, 1.0, 224),
    "efficientnet-lite1": LiteVariant(1.0, 1.1, 240),
    "efficientnet-lite2": LiteVariant(1.1, 1.2, 260),
}
"""The published networks by name."""


def _rounded_width(width: float) -> int:
    """The nearest multiple of 8, or the one above where that takes more than a tenth away."""
    nearest = max(_WIDTH_STEP, int(width + _WIDTH_STEP / 2) // _WIDTH_STEP * _WIDTH_STEP)
    return nearest + _WIDTH_STEP if nearest < (1 - _MOST_ROUNDED_OFF) * width else nearest


@final
class SameConvolution(nn.Conv2d):
    """A convolution without bias and with TensorFlow's SAME padding: ceil(side / stride) pixels.

    An odd padding puts one more at the end than at the beginning: the published weights were
    trained so.
    """

    def __init__(
        self, channels_in: int, channels_out: int, kernel: int, stride: int = 1, groups: int = 1
    ) -> None:
        super().__init__(channels_in, channels_out, kernel, stride, groups=groups, bias=False)

    def forward(self, features: Tensor) -> Tensor:
        """Map (B, C_in, H, W) float to (B, C_out, ceil(H / stride), ceil(W / stride)) float."""
        top, bottom = self.padding_of(features.shape[2])
        left, right = self.padding_of(features.shape[3])
        if top == bottom and left == right:  # most are: no copy of the map is made
            return nn.functional.conv2d(
                features, self.weight, None, self.stride, (top, left), groups=self.groups
            )
        return super().forward(nn.functional.pad(features, (left, right, top, bottom)))

    def padding_of(self, side: int) -> tuple[int, int]:
        """Pixels put before and after a row of this many."""
        kernel, stride = self.kernel_size[0], self.stride[0]
        missing = max(0, (math.ceil(side / stride) - 1) * stride + kernel - side)
        return missing // 2, missing - missing // 2


def centre_weights(height: int, width: int) -> Tensor:
    """Centre weighting of a map, (H, W) float64 of mean 1: photos show their subject in the middle.

    A normal distribution around the centre; with the spread of 0.35 a corner still counts an eighth
    of it.
    """
    rows, columns = (
        ((torch.arange(side, dtype=torch.float64) + 0.5) / side - 0.5)
        .square()
        .div(-2 * CENTRE_SPREAD**2)
        .exp()
        for side in (height, width)
    )
    weights = torch.outer(rows, columns)
    return weights / weights.mean()


def pooled_around_centre(features: Tensor) -> Tensor:
    """Centre-weighted generalised mean, then length 1: (B, C, H, W) float to (B, C) float32."""
    present = features.float().clamp(min=SMALLEST)
    weights = centre_weights(features.shape[2], features.shape[3]).to(present)
    return nn.functional.normalize(
        (present * present * present * weights).mean(dim=(2, 3)).pow(1 / 3), dim=1
    )


def _convolution(convolution: SameConvolution, *, activated: bool = True) -> nn.Sequential:
    norm = nn.BatchNorm2d(convolution.out_channels, eps=_NORM_EPSILON, momentum=_NORM_MOMENTUM)
    return nn.Sequential(convolution, norm, *([nn.ReLU6(inplace=True)] if activated else []))


@final
class InvertedResidual(nn.Module):
    """Expansion, depthwise convolution, linear projection; with a shortcut where shapes allow.

    Source: Sandler et al., CVPR 2018.
    """

    def __init__(self, channels_in: int, stage: LiteStage, stride: int) -> None:
        super().__init__()
        wide = channels_in * stage.expansion
        depthwise = SameConvolution(wide, wide, stage.kernel, stride, groups=wide)
        self.expand = (
            _convolution(SameConvolution(channels_in, wide, 1))
            if stage.expansion > 1
            else nn.Sequential()
        )
        self.depthwise = _convolution(depthwise)
        self.project = _convolution(SameConvolution(wide, stage.width, 1), activated=False)
        self.has_shortcut = stride == 1 and channels_in == stage.width

    def forward(self, features: Tensor) -> Tensor:
        """Map (B, C_in, H, W) float to (B, C_out, ceil(H / stride), ceil(W / stride)) float."""
        residual: Tensor = self.project(self.depthwise(self.expand(features)))
        return features + residual if self.has_shortcut else residual


@final
class EfficientNetLite(nn.Module):
    """EfficientNet-Lite without its classifier; the embedding pools the maps `pooled_places`."""

    def __init__(self, variant: LiteVariant, pooled_places: Sequence[int] | None = None) -> None:
        super().__init__()
        self.stem = _convolution(SameConvolution(3, STEM_WIDTH, 3, 2))
        channels, stages = STEM_WIDTH, []
        for stage in variant.stages:
            blocks = [InvertedResidual(channels, stage, stage.stride)]
            blocks += [InvertedResidual(stage.width, stage, 1) for _ in range(stage.blocks - 1)]
            stages.append(nn.Sequential(*blocks))
            channels = stage.width
        self.stages = nn.ModuleList(stages)
        self.head = _convolution(SameConvolution(channels, HEAD_WIDTH, 1))
        # Of stages and head
        self.map_widths = (*(stage.width for stage in variant.stages), HEAD_WIDTH)
        self.pooled_places = tuple(
            range(len(self.map_widths)) if pooled_places is None else pooled_places
        )
        self.embedding_width = sum(self.map_widths[place] for place in self.pooled_places)

    def maps(self, images: Tensor) -> list[Tensor]:
        """Outputs of the seven stages (no activation) and the head, each (B, width, H', W').

        Images (B, 3, H, W) hold (value - 127) / 128 of values from 0 to 255.
        """
        features, found = self.stem(images), []
        for layers in (*self.stages, self.head):
            features = layers(features)
            found.append(features)
        return found

    def forward(self, images: Tensor) -> Tensor:
        """Map normalised images (B, 3, H, W) to embeddings (B, sum of map widths) float32."""
        maps = self.maps(images)
        return torch.cat([pooled_around_centre(maps[place]) for place in self.pooled_places], dim=1)


def load_published(network: EfficientNetLite, published: Mapping[str, Tensor]) -> None:
    """Load published weights, named as in EfficientNet-PyTorch, without the classifier's.

    Raises:
        ModelError: the weights are those of another network.
    """
    named = {name: value for name, value in published.items() if not name.startswith("_fc.")}
    renamed = {ours: named.pop(theirs) for ours, theirs in _names(network) if theirs in named}
    shapes = {name: value.shape for name, value in network.state_dict().items()}
    wrong = [
        name
        for name, shape in shapes.items()
        if name not in renamed or renamed[name].shape != shape
    ]
    if wrong or named:
        first = wrong[0] if wrong else ""
        raise ModelError(
            "these are the weights of another network",
            expected="{first} of shape {shape}" if wrong else "{expected_count} arrays",
            found="{count} arrays, with {names}",
            first=first,
            shape=tuple(shapes[first]) if wrong else "",
            expected_count=len(shapes),
            count=len(published),
            names=enumerated([*named][:3]) or Message("other shapes"),
        )
    network.load_state_dict(renamed)


def _names(network: EfficientNetLite) -> Iterator[tuple[str, str]]:
    """Name of each array here and in the published file."""
    places = [("stem", "_conv_stem", "_bn0"), ("head", "_conv_head", "_bn1")]
    number = 0
    for stage, blocks in enumerate(network.stages):
        assert isinstance(blocks, nn.Sequential), "a stage is a row of blocks"
        for block in range(len(blocks)):
            ours, theirs = f"stages.{stage}.{block}", f"_blocks.{number}"
            for place, part in enumerate(("expand", "depthwise", "project")):
                places.append((f"{ours}.{part}", f"{theirs}._{part}_conv", f"{theirs}._bn{place}"))
            number += 1
    for ours, convolution, norm in places:
        yield f"{ours}.0.weight", f"{convolution}.weight"
        for array in ("weight", "bias", "running_mean", "running_var", "num_batches_tracked"):
            yield f"{ours}.1.{array}", f"{norm}.{array}"
