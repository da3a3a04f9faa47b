"""Looks at an untrusted ONNX file by opening and running it; only ever called in a process held to limits."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from engine.backbones.library import usable_name
from engine.backbones.model_files import own_propagation
from engine.backbones.onnx_files.facts import GUESS_NOTICE, ImageInput, OnnxFacts, TensorFacts, declared_facts
from engine.backbones.onnx_files.hints import Hint, hint_for
from engine.backbones.onnx_files.structure import OnnxStructure, check_external, read_structure
from engine.backbones.onnx_files.tensors import image_input_of, judged, likeliest_first, looks_like_scores
from engine.backbones.preprocessing import USUAL_SIDE, preprocessing_from
from engine.errors import InputError, ModelError
from engine.everyday.in_use import propagation_width
from engine.runtime.backbone_input import INPUT_TYPES
from engine.runtime.sessions import open_session, run_session

SUPPORTED_DOMAINS: Final = frozenset({"ai.onnx.ml", "com.microsoft"})
"""Operators beyond the standard that ONNX Runtime brings along."""
_NO_OPERATOR: Final = "the model uses operators that ONNX Runtime does not have"
SAFE_OPSET: Final = 21
_SEED: Final = 0
_NAMES_SHOWN: Final = 5
_NAME_SHOWN: Final = 60  # letters of a name
_TOO_NEW: Final = ("official support", "under development", "unsupported model ir version")
_UNKNOWN_OPERATOR: Final = ("not a registered function/op", "no op registered", "could not find an implementation")
"""Signs of both in the words of ONNX Runtime."""


def examine(path: Path, *, most_bytes: int) -> OnnxFacts:
    """Find out whether a file can be a backbone, and what can be known about it.

    Args:
        most_bytes: with its external data.

    Raises:
        ModelError: it cannot, and why.
    """
    _check_size(path, 0, most_bytes)
    structure = read_structure(path)
    size = _check_size(path, check_external(path, structure), most_bytes)
    _check_operators(structure)
    session = _opened(path, structure)
    image_input = image_input_of(session)
    hint = hint_for(path, structure.notes, structure.producer)
    values = _fitting(hint, image_input)
    outputs = likeliest_first(_outputs(session, values, image_input))
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


def _check_size(path: Path, external_bytes: int, most_bytes: int) -> int:
    size = external_bytes + (path.stat().st_size if path.is_file() else 0)
    if size > most_bytes:
        raise ModelError(
            "the model is too large",
            expected="at most {limit:,.0f} MB on this computer",
            found=f"{size / 2**20:,.0f} MB",
            limit=most_bytes / 2**20,
        )
    return size


def _check_operators(structure: OnnxStructure) -> None:
    if structure.is_empty:
        raise ModelError("the model computes nothing", expected="a network", found="no operator in it")
    strange = {domain for domain, _ in structure.foreign} - SUPPORTED_DOMAINS
    if strange:
        operators = {operator for _, operator in structure.foreign}
        raise ModelError(
            _NO_OPERATOR,
            found="{operators} of {strange}",
            remedy="export it with standard ONNX operators only",
            operators=_some(operators),
            strange=_some(strange),
        )


def _some(names: Iterable[str]) -> str:
    """A few names from a file, which may hold any number of any length."""
    every = sorted(names)
    more = f" and {len(every) - _NAMES_SHOWN} more" if len(every) > _NAMES_SHOWN else ""
    return ", ".join(name[:_NAME_SHOWN] for name in every[:_NAMES_SHOWN]) + more


def _opened(path: Path, structure: OnnxStructure) -> Any:
    try:
        return open_session(path)
    except ModelError as error:
        text = error.found.lower()
        if any(sign in text for sign in _TOO_NEW):
            raise ModelError(
                "the model is made for a newer ONNX Runtime",
                found="opset {opset}, format {format_version}",
                remedy="export it again with opset {safe_opset} or lower",
                opset=structure.opset,
                format_version=structure.format_version,
                safe_opset=SAFE_OPSET,
            ) from error
        if any(sign in text for sign in _UNKNOWN_OPERATOR):
            raise ModelError(_NO_OPERATOR, found=error.found) from error
        raise


def _fitting(hint: Hint, image_input: ImageInput) -> dict[str, Any]:
    """What is known of the preprocessing, with what the input itself says in its place."""
    values: dict[str, Any] = {**hint.values, "layout": image_input.layout}
    order = values.get("channel_order", "rgb")
    values["channel_order"] = "grey" if image_input.channels == 1 else "rgb" if order == "grey" else order
    values["input_side"] = image_input.fixed_side or values.get("input_side", USUAL_SIDE)
    try:
        return dict(vars(preprocessing_from(values)))
    except InputError as error:
        raise ModelError("the preprocessing cannot be used", found=str(error)) from error


def _outputs(session: Any, values: Mapping[str, Any], image_input: ImageInput) -> list[TensorFacts]:
    """Run the network on noise, one image, another and both if it can, and judge the outputs by their shapes."""
    side, channels = values["input_side"], image_input.channels
    shape = (channels, side, side) if image_input.layout == "nchw" else (side, side, channels)
    noise = np.random.default_rng(_SEED).standard_normal((2, *shape)).astype(INPUT_TYPES[image_input.kind])
    batches = [noise[:1], noise[1:], *([noise] if image_input.fixed_batch is None else [])]
    declared = declared_facts(session.get_outputs())
    runs = [_run(session, image_input.name, batch) for batch in batches]
    shapes = (
        [value.shape if isinstance(value, np.ndarray) else None for value in values]
        for values in zip(*runs, strict=True)
    )
    return [
        judged(output, list(found), layout=image_input.layout) for output, found in zip(declared, shapes, strict=True)
    ]


def _run(session: Any, name: str, batch: NDArray[Any]) -> list[Any]:
    try:
        return list(run_session(session, {name: batch}))
    except ModelError as error:
        if len(batch) > 1:
            remedy = "export it with a dynamic batch axis"
            raise ModelError("the model fails with two images at once", found=error.found, remedy=remedy) from error
        raise


def _chosen_output(outputs: tuple[TensorFacts, ...], wanted: str) -> TensorFacts:
    if not wanted:
        return outputs[0]
    named = next((output for output in outputs if output.name == wanted), None)
    if named is None:
        expected = _some(output.name for output in outputs)
        raise ModelError(
            "the card names an output that the model does not have", expected=expected, found=f"“{wanted}”"
        )
    if named.refused:
        found = f"{named.name}: {named.refused}"
        raise ModelError("the output that the card names cannot be an embedding", found=found)
    return named


def _check_propagation(path: Path, width: int) -> None:
    """Refuse propagation beside the file that was trained for something else: it would come along unseen."""
    beside = own_propagation(path)
    if not beside.is_file():
        return
    trained_for = propagation_width(beside)
    if trained_for not in {None, width}:
        raise ModelError(
            "the propagation file beside the model was trained for another one",
            expected="embeddings of width {width}",
            found="{trained_for} in {beside}",
            remedy="remove it, and the one for any width is used",
            width=width,
            trained_for=trained_for,
            beside=beside.name,
        )


def _notices(hint: Hint, image_input: ImageInput, chosen: TensorFacts, side: int) -> tuple[str, ...]:
    declared_side = hint.values.get("input_side", side)
    notices = {
        GUESS_NOTICE: not hint.is_declared,
        f"The output “{chosen.name}” looks like scores of classes; the features before them are often better.":
            looks_like_scores(chosen),
        "The network takes one image at a time, which is slower.": image_input.fixed_batch is not None,
        f"The settings say {declared_side} pixels, but the network takes only {side}.": declared_side != side,
    }  # fmt: skip
    return tuple(notice for notice, is_so in notices.items() if is_so)
