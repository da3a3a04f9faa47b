"""The tensors of a network: its input, which must take images, and which of its outputs can be an embedding."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from engine.backbones.onnx_files.facts import ImageInput, TensorFacts, declared_facts
from engine.backbones.preprocessing import LARGEST_SIDE, SMALLEST_SIDE
from engine.errors import ModelError
from engine.model_card import CHANNELS
from engine.runtime.backbone_input import INPUT_RANK, INPUT_TYPES, OUTPUT_TYPES

LEAST_WIDTH: Final = 2
MOST_WIDTH: Final = 16_384
_LIKELY: Final = ("image_embed", "embed", "pooler", "pooled", "feature", "last_hidden_state")
_UNLIKELY: Final = ("logit", "prob", "softmax", "score", "class", "label")
_MAP: Final = 4
_VECTOR: Final = 2
_CHANNELS_AT: Final[Mapping[str, int]] = {"nchw": 1, "nhwc": 3}
Shapes = Sequence[tuple[int, ...] | None]
_NO_IMAGE: Final = "the model's input is not an image"
_CHANNEL_COUNTS: Final = frozenset({1, CHANNELS})


def judged(output: TensorFacts, shapes: Shapes, *, layout: str) -> TensorFacts:
    """Say whether an output can be an embedding.

    Args:
        shapes: that it had for one image, for another image, and for two at once if the network takes two; None where
            it was no array.
        layout: "nchw" or "nhwc", where a map has its channels.
    """
    observed = shapes[0] or ()
    refused = _refused(output.kind, shapes)
    if refused:
        return replace(output, observed=observed, refused=refused)
    width = observed[_CHANNELS_AT[layout]] if len(observed) == _MAP else observed[-1]
    if not LEAST_WIDTH <= width <= MOST_WIDTH:
        reason = f"it has {width:,} values for an image, not {LEAST_WIDTH} to {MOST_WIDTH:,}"
        return replace(output, observed=observed, refused=reason)
    return replace(output, observed=observed, pooling="none" if len(observed) == _VECTOR else "mean", width=width)


def _refused(kind: str, shapes: Shapes) -> str:
    first, second, *both = shapes
    if first is None or second is None or not kind.startswith("tensor("):
        return "it is a list, not an array"
    rows = both[0][0] if both and both[0] else 2
    reasons = {
        f"it holds {kind[len('tensor(') : -1]} values, such as labels, not a vector": kind not in OUTPUT_TYPES,
        "it is one number for each image": len(first) < _VECTOR,
        f"it has {len(first)} axes": len(first) > _MAP,
        f"it gives {first[0] if first else 0} rows for one image": first[:1] != (1,),
        "its width changes from image to image": first != second,
        f"it gives {rows} rows for two images": rows != 2,  # noqa: PLR2004
    }
    return next((reason for reason, is_so in reasons.items() if is_so), "")


def likeliest_first(outputs: Sequence[TensorFacts]) -> tuple[TensorFacts, ...]:
    """Sort outputs by how likely they are the embedding.

    Raises:
        ModelError: none of them can be one.
    """
    if all(output.refused for output in outputs):
        found = "; ".join(f"{output.name}: {output.refused}" for output in outputs) or "no output"
        raise ModelError(
            "no output of the model can be an embedding",
            expected="a vector, a map or tokens for each image",
            found=found,
            remedy="export the network without its last step, so that it gives its features",
        )
    return tuple(sorted(outputs, key=_unlikeliness))


def _unlikeliness(output: TensorFacts) -> tuple[bool, bool, int, bool]:
    name = output.name.lower()
    rank = next((place for place, word in enumerate(_LIKELY) if word in name), len(_LIKELY))
    return bool(output.refused), looks_like_scores(output), rank, output.pooling != "none"


def looks_like_scores(output: TensorFacts) -> bool:
    """Whether an output's name says that it scores classes, rather than describes an image."""
    return any(word in output.name.lower() for word in _UNLIKELY)


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
        raise ModelError(
            "the model's input side cannot be used",
            expected="{least} to {most} pixels",
            found=f"{side:,}",
            least=SMALLEST_SIDE,
            most=LARGEST_SIDE,
        )
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
