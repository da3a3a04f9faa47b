"""The input of a network that takes images: one tensor, four axes, colours or grey, square."""

from typing import Any, Final

from engine.backbones.onnx_files.facts import ImageInput, declared_facts
from engine.backbones.preprocessing import LARGEST_SIDE, SMALLEST_SIDE
from engine.errors import ModelError
from engine.model_card import CHANNELS
from engine.runtime.backbone_input import INPUT_RANK, INPUT_TYPES

_NO_IMAGE: Final = "the model's input is not an image"
_CHANNEL_COUNTS: Final = frozenset({1, CHANNELS})


def image_input_of(session: Any) -> ImageInput:
    """Find the input of images of an opened `onnxruntime.InferenceSession`.

    Raises:
        ModelError: it has several inputs, or its input is no image.
    """
    inputs = declared_facts(session.get_inputs())
    if len(inputs) != 1:
        what = "the model has several inputs" if inputs else "the model takes no input"
        raise ModelError(what, expected="one, the images", found=", ".join(each.name for each in inputs))
    facts = inputs[0]
    found = f"{facts.name}: {facts.kind} {_text(facts.shape)}"
    if facts.kind not in INPUT_TYPES or len(facts.shape) != INPUT_RANK:
        raise ModelError(
            _NO_IMAGE, expected="float numbers with the axes images, channels, height and width", found=found
        )
    batch, *axes = (axis if isinstance(axis, int) else None for axis in facts.shape)
    if batch not in {None, 1}:
        raise ModelError(
            "the model takes only batches of one size",
            expected="any number of images, or 1",
            found=found,
            remedy="export it with a dynamic batch axis",
        )
    layout, channels = _layout(axes[0], axes[2], found)
    sides = {axes[1], axes[2 if layout == "nchw" else 0]} - {None}
    if len(sides) > 1:
        raise ModelError("the model's images are not square", found=found, remedy="export it for square images")
    side = next(iter(sides), None)
    if side is not None and not SMALLEST_SIDE <= side <= LARGEST_SIDE:
        expected = f"{SMALLEST_SIDE} to {LARGEST_SIDE} pixels"
        raise ModelError("the model's input side cannot be used", expected=expected, found=f"{side:,}")
    return ImageInput(
        facts.name, facts.kind, facts.shape, layout=layout, channels=channels, fixed_side=side, fixed_batch=batch
    )


def _layout(first: int | None, last: int | None, found: str) -> tuple[str, int]:
    """Where the channels are: on an axis of 3 or 1, or where most networks have them when nothing is said."""
    if first in _CHANNEL_COUNTS:
        return "nchw", first or CHANNELS
    if last in _CHANNEL_COUNTS:
        return "nhwc", last or CHANNELS
    if first is None:
        return "nchw", CHANNELS
    raise ModelError(_NO_IMAGE, expected="3 channels, or 1", found=found)


def _text(shape: tuple[Any, ...]) -> str:
    return "(" + ", ".join("any" if axis is None else str(axis) for axis in shape) + ")"
