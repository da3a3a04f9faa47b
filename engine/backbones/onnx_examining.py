"""Examine an untrusted ONNX file by running it; only called in a process with limits."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.backbones.foreign_network import open_foreign, some_of
from engine.backbones.library import usable_name
from engine.backbones.messages import (
    GUESS_NOTICE,
    ImageInput,
    OnnxFacts,
    TensorFacts,
    declared_facts,
)
from engine.backbones.model_files import own_propagation
from engine.backbones.onnx_structure import Hint, hint_for
from engine.backbones.preprocessing import (
    LARGEST_SIDE,
    SMALLEST_SIDE,
    USUAL_SIDE,
    preprocessing_from,
)
from engine.errors import InputError, ModelError
from engine.everyday.in_use import propagation_width
from engine.model_card import CHANNELS
from engine.runtime.backbone_input import INPUT_RANK, INPUT_TYPES, OUTPUT_TYPES
from engine.runtime.sessions import run_session
from engine.texts import Message, enumerated, marked

Shapes = Sequence[tuple[int, ...] | None]

LEAST_WIDTH = 2
MOST_WIDTH = 16_384
_LIKELY = ("image_embed", "embed", "pooler", "pooled", "feature", "last_hidden_state")
_UNLIKELY = ("logit", "prob", "softmax", "score", "class", "label")
_MAP = 4
_BOTH = 2
_VECTOR = 2
_CHANNELS_AT: Mapping[str, int] = {"nchw": 1, "nhwc": 3}
_CHANNEL_COUNTS = frozenset({1, CHANNELS})
_NO_IMAGE = marked("the model's input is not an image")
_NO_BATCH_REMEDY = "export it with a dynamic batch axis"
_SEED = 0


def _judged(output: TensorFacts, shapes: Shapes, *, layout: str) -> TensorFacts:
    """Check whether an output can be an embedding, by its shapes for one and two images."""
    observed = shapes[0] or ()
    if refused := _refused(output.kind, shapes):
        return replace(output, observed=observed, refused=refused)
    width = observed[_CHANNELS_AT[layout]] if len(observed) == _MAP else observed[-1]
    if not LEAST_WIDTH <= width <= MOST_WIDTH:
        return replace(
            output,
            observed=observed,
            refused=Message(
                "it has {width:,} values for an image, not {least} to {most:,}",
                {"width": width, "least": LEAST_WIDTH, "most": MOST_WIDTH},
            ),
        )
    return replace(
        output,
        observed=observed,
        pooling="none" if len(observed) == _VECTOR else "mean",
        width=width,
    )


def _refused(kind: str, shapes: Shapes) -> str:
    first, second, *both = shapes
    if first is None or second is None or not kind.startswith("tensor("):
        return Message("it is a list, not an array")
    rows = both[0][0] if both and both[0] else _BOTH
    reasons = {
        Message(
            "it contains {kind} values, such as labels, not a vector",
            {"kind": kind[len("tensor(") : -1]},
        ): kind not in OUTPUT_TYPES,
        Message("it has one number for each image"): len(first) < _VECTOR,
        Message("it has {count} axes", {"count": len(first)}): len(first) > _MAP,
        Message("it gives {count} rows for one image", {"count": first[0] if first else 0}): (
            first[:1] != (1,)
        ),
        Message("its width changes from image to image"): first != second,
        Message("it gives {count} rows for two images", {"count": rows}): rows != _BOTH,
    }
    return next((reason for reason, is_so in reasons.items() if is_so), "")


def _most_likely_first(outputs: Sequence[TensorFacts]) -> tuple[TensorFacts, ...]:
    if all(output.refused for output in outputs):
        found = enumerated(_refusal(output) for output in outputs) or "no output"
        raise ModelError(
            "no output of the model can be an embedding",
            expected="a vector, a map or tokens for each image",
            found=found,
            remedy="export the network without its last step, so that it gives its features",
        )

    def rank(output: TensorFacts) -> tuple[bool, bool, int, bool]:
        name = output.name.lower()
        place = next((place for place, word in enumerate(_LIKELY) if word in name), len(_LIKELY))
        return bool(output.refused), _looks_like_scores(output), place, output.pooling != "none"

    return tuple(sorted(outputs, key=rank))


def _refusal(output: TensorFacts) -> Message:
    return Message("{name}: {reason}", {"name": output.name, "reason": output.refused})


def _looks_like_scores(output: TensorFacts) -> bool:
    return any(word in output.name.lower() for word in _UNLIKELY)


def _image_input_of(session: Any) -> ImageInput:
    """The only input of an opened `onnxruntime.InferenceSession`, which must take images."""
    inputs = declared_facts(session.get_inputs())
    if len(inputs) != 1:
        raise ModelError(
            "the model has several inputs" if inputs else "the model has no input",
            expected="one, the images",
            found=enumerated(each.name for each in inputs),
        )
    facts = inputs[0]
    shape = ", ".join("any" if axis is None else str(axis) for axis in facts.shape)
    found = f"{facts.name}: {facts.kind} ({shape})"
    if facts.kind not in INPUT_TYPES or len(facts.shape) != INPUT_RANK:
        raise ModelError(
            _NO_IMAGE,
            expected="float numbers with the axes images, channels, height and width",
            found=found,
        )
    batch, *axes = (axis if isinstance(axis, int) else None for axis in facts.shape)
    if batch not in {None, 1}:
        raise ModelError(
            "the model takes only batches of one size",
            expected="any number of images, or 1",
            found=found,
            remedy=_NO_BATCH_REMEDY,
        )
    layout, channels = _layout(axes[0], axes[2], found)
    sides = {axes[1], axes[2 if layout == "nchw" else 0]} - {None}
    if len(sides) > 1:
        raise ModelError(
            "the model's images are not square", found=found, remedy="export it for square images"
        )
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
        facts.name,
        facts.kind,
        facts.shape,
        layout=layout,
        channels=channels,
        fixed_side=side,
        fixed_batch=batch,
    )


def _layout(first: int | None, last: int | None, found: str) -> tuple[str, int]:
    """Layout and channels: an axis of 3 or 1, or channels first where both axes are open."""
    if first in _CHANNEL_COUNTS:
        return "nchw", first or CHANNELS
    if last in _CHANNEL_COUNTS:
        return "nhwc", last or CHANNELS
    if first is None:
        return "nchw", CHANNELS
    raise ModelError(_NO_IMAGE, expected="3 channels, or 1", found=found)


def examine(path: Path, *, most_bytes: int) -> OnnxFacts:
    """Check whether a file of at most so many bytes, with external data, can be a backbone.

    Raises:
        ModelError: it cannot, and why.
    """
    session, structure, size = open_foreign(path, most_bytes=most_bytes)
    image_input = _image_input_of(session)
    hint = hint_for(path, structure.notes, structure.producer)
    values = _fitting(hint, image_input)
    outputs = _most_likely_first(_outputs(session, values, image_input))
    chosen = _chosen_output(outputs, values["output"])
    _check_propagation(path, chosen.width)
    keeps_first = values["pooling"] == "first" and chosen.pooling == "mean"
    values |= {"output": chosen.name, "pooling": "first" if keeps_first else chosen.pooling}
    return OnnxFacts(
        name=usable_name(hint.name or path.stem),
        size_bytes=size,
        opset=structure.opset,
        producer=structure.producer,
        image_input=image_input,
        outputs=outputs,
        preprocessing=preprocessing_from(values),
        why=hint.why,
        is_declared=hint.is_declared,
        width=chosen.width,
        notices=_notices(hint, image_input, chosen, values["input_side"]),
        description=hint.description,
        licence=hint.licence,
    )


def _fitting(hint: Hint, image_input: ImageInput) -> dict[str, Any]:
    values: dict[str, Any] = {**hint.values, "layout": image_input.layout}
    order = values.get("channel_order", "rgb")
    values["channel_order"] = (
        "grey" if image_input.channels == 1 else "rgb" if order == "grey" else order
    )
    values["input_side"] = image_input.fixed_side or values.get("input_side", USUAL_SIDE)
    try:
        return dict(vars(preprocessing_from(values)))
    except InputError as error:
        raise ModelError("the preprocessing cannot be used", found=str(error)) from error


def _outputs(session: Any, values: Mapping[str, Any], image_input: ImageInput) -> list[TensorFacts]:
    """Run the network on noise, one image, another and both if possible, and judge its outputs."""
    side, channels = values["input_side"], image_input.channels
    shape = (channels, side, side) if image_input.layout == "nchw" else (side, side, channels)
    noise = (
        np.random.default_rng(_SEED)
        .standard_normal((2, *shape))
        .astype(INPUT_TYPES[image_input.kind])
    )
    batches = [noise[:1], noise[1:], *([noise] if image_input.fixed_batch is None else [])]
    declared = declared_facts(session.get_outputs())
    runs = [_outputs_of(session, image_input.name, batch) for batch in batches]
    judged = []
    for output, *found in zip(declared, *runs, strict=True):
        shapes = [value.shape if isinstance(value, np.ndarray) else None for value in found]
        judged.append(_judged(output, shapes, layout=image_input.layout))
    return judged


def _outputs_of(session: Any, name: str, batch: NDArray[Any]) -> list[Any]:
    try:
        return list(run_session(session, {name: batch}))
    except ModelError as error:
        if len(batch) > 1:
            raise ModelError(
                "the model fails with two images at once",
                found=error.found,
                remedy=_NO_BATCH_REMEDY,
            ) from error
        raise


def _chosen_output(outputs: tuple[TensorFacts, ...], wanted: str) -> TensorFacts:
    if not wanted:
        return outputs[0]
    named = next((output for output in outputs if output.name == wanted), None)
    if named is None:
        raise ModelError(
            "the card names an output that the model does not have",
            expected=some_of(each.name for each in outputs),
            found=f"“{wanted}”",
        )
    if named.refused:
        raise ModelError(
            "the output that the card names cannot be an embedding", found=_refusal(named)
        )
    return named


def _check_propagation(path: Path, width: int) -> None:
    """Refuse a propagation file next to the model that was trained for another width."""
    propagation = own_propagation(path)
    if propagation.is_file() and (trained_for := propagation_width(propagation)) not in {
        None,
        width,
    }:
        raise ModelError(
            "the propagation file next to the model was trained for another model",
            expected="embeddings of width {width}",
            found="{trained_for} in {name}",
            remedy="remove it, and the one for any width is used",
            width=width,
            trained_for=trained_for,
            name=propagation.name,
        )


def _notices(
    hint: Hint, image_input: ImageInput, chosen: TensorFacts, side: int
) -> tuple[str, ...]:
    declared_side = hint.values.get("input_side", side)
    notices = {
        GUESS_NOTICE: not hint.is_declared,
        Message(
            "The output “{name}” looks like scores of classes; the features before them are often "
            "better.",
            {"name": chosen.name},
        ): _looks_like_scores(chosen),
        Message("The network takes one image at a time, which is slower."): image_input.fixed_batch
        is not None,
        Message(
            "The settings are for {declared} pixels, but the network accepts only {side}.",
            {"declared": declared_side, "side": side},
        ): declared_side != side,
    }
    return tuple(notice for notice, is_so in notices.items() if is_so)
