"""Preprocessing of pixels and postprocessing to embeddings, by the backbone's card."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from engine.arrays import Floats, Pixels
from engine.errors import ModelError
from engine.model_card import BackboneCard
from engine.texts import Message, enumerated

INPUT_RANK = 4  # batch, channels, height and width
INPUT_TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16}
OUTPUT_TYPES = frozenset({"tensor(float)", "tensor(float16)", "tensor(double)"})
LUMINANCE = np.array((0.299, 0.587, 0.114), dtype=np.float32)
"""Weights of red, green and blue in gray (ITU-R BT.601), as Pillow takes them."""
_MAP_RANK = 4  # Batch, channels, height and width of a feature map
_TOKENS_RANK = 3  # Batch, tokens and width
SMALLEST_LENGTH = 1e-12
"""Least norm that embeddings are divided by, so that zero stays zero; as torch's `normalize`."""


@dataclass(frozen=True)
class InputOutput:
    """Which tensors of a network are used."""

    input_name: str  # of the images
    input_type: DTypeLike  # float32 or float16
    # The network takes at most so many at once; None where it takes any number
    most_images: int | None
    output_name: str  # of the embeddings


def input_output(session: Any, card: BackboneCard) -> InputOutput:
    """Compare an opened network with its card; raises `ModelError` where input or output differ."""
    inputs = session.get_inputs()
    shape = list(inputs[0].shape) if len(inputs) == 1 else []
    batch = shape[0] if shape and isinstance(shape[0], int) else None
    fits = len(shape) == INPUT_RANK and all(
        not isinstance(found, int) or found == wanted
        for found, wanted in zip(shape[1:], input_shape(card), strict=True)
    )
    if not fits or inputs[0].type not in INPUT_TYPES or batch not in {None, 1}:
        raise ModelError(
            "the backbone's input does not fit its card",
            expected="one float input of shape (any, {shape})",
            found=enumerated(f"{found.name}: {found.type} {found.shape}" for found in inputs)
            or "no input",
            shape=", ".join(map(str, input_shape(card))),
        )
    kinds = {str(output.name): str(output.type) for output in session.get_outputs()}
    name = card.output or next(iter(kinds), "")
    if kinds.get(name) not in OUTPUT_TYPES:
        raise ModelError(
            "the backbone's output does not fit its card",
            expected="float numbers from {name}",
            found=enumerated(f"{each}: {kind}" for each, kind in kinds.items()) or "no output",
            name=name or Message("an output"),
        )
    return InputOutput(str(inputs[0].name), INPUT_TYPES[inputs[0].type], batch, name)


def input_shape(card: BackboneCard) -> tuple[int, int, int]:
    """Shape of one image: (channels, side, side) or (side, side, channels)."""
    side = card.input_side
    return (card.channels, side, side) if card.layout == "nchw" else (side, side, card.channels)


class PixelValues(Protocol):
    """How a network takes pixels: of a backbone's card, or of a detector's input."""

    @property
    def mean(self) -> tuple[float, ...]: ...
    @property
    def std(self) -> tuple[float, ...]: ...
    @property
    def value_scale(self) -> float: ...
    @property
    def channel_order(self) -> str: ...
    @property
    def layout(self) -> str: ...


class Preparation:
    """Turns pixels into a network's input.

    Attributes:
        scale, shift: (3,) float32, of red, green and blue: a number is pixel · scale + shift.
        channels: which of these the network takes, in its order; a gray one takes the luminance
            with the first.
    """

    def __init__(self, card: PixelValues) -> None:
        mean, std = np.array(card.mean, dtype=np.float64), np.array(card.std, dtype=np.float64)
        # (x / 255 · value_scale - mean) / std as one multiplication and one addition
        self.scale = (card.value_scale / (255 * std)).astype(np.float32)
        self.shift = (-mean / std).astype(np.float32)
        self.channels = {"rgb": (0, 1, 2), "bgr": (2, 1, 0), "grey": (0,)}[card.channel_order]
        self._is_grey = card.channel_order == "grey"
        self._is_planar = card.layout != "nhwc"

    def prepare(self, images: Pixels) -> Floats:
        """Normalise (B, side, side, 3) uint8 RGB to float32, in the network's layout."""
        batch, height, width, _ = images.shape
        count = len(self.channels)
        shape = (batch, count, height, width) if self._is_planar else (batch, height, width, count)
        prepared = np.empty(shape, np.float32)
        for place, channel in enumerate(self.channels):
            plane = prepared[:, place] if self._is_planar else prepared[..., place]
            np.multiply(
                images @ LUMINANCE if self._is_grey else images[..., channel],
                self.scale[channel],
                out=plane,
            )
            plane += self.shift[channel]
        return prepared


def pooled(output: NDArray[Any], card: BackboneCard) -> Floats:
    """Turn the network's output for B images, (B, d) or a map or tokens to pool, into embeddings.

    Returns:
        (B, d) float32, of length 1 if the card says so; unchanged for a shape that cannot be
        pooled.
    """
    if card.pooling == "mean" and output.ndim == _MAP_RANK:
        output = output.mean(axis=(2, 3) if card.layout == "nchw" else (1, 2), dtype=np.float32)
    elif card.pooling == "mean" and output.ndim == _TOKENS_RANK:
        output = output.mean(axis=1, dtype=np.float32)
    elif card.pooling == "first" and output.ndim == _TOKENS_RANK:
        output = output[:, 0]
    embeddings: Floats = output.astype(np.float32, copy=False)
    if card.unit_length:
        with np.errstate(invalid="ignore", over="ignore"):  # NaN stays NaN, and is refused
            lengths = np.linalg.norm(embeddings, axis=-1, keepdims=True)
            embeddings = embeddings / np.maximum(lengths, SMALLEST_LENGTH)
    return embeddings
