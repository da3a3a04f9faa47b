"""Makes the eight-bit companion of a backbone, which `engine.runtime.eight_bit` runs where it is faster.

Static quantisation: weights to eight bits per output channel, what flows between the convolutions to eight bits within
the range seen on sample images, here or earlier. What comes after the convolutions (means, powers, whitening) stays in
float32.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from engine.errors import InputError, ModelError, found_at
from engine.full_disk import writing
from engine.model_card import BackboneCard, file_hash
from engine.new_file import ORDINARY_FILE, new_file, open_own, write_file
from engine.new_folder import scratch_folder
from engine.runtime.backbone_input import Preparation, input_output
from engine.runtime.eight_bit import SOURCE_KEY, cosines, eight_bit_path
from engine.runtime.onnx_runtime import load_onnxruntime, load_quantiser
from engine.runtime.sessions import one_line, open_session, run_session, runtime_errors

FIDELITY: Final = 0.995
"""Smallest mean cosine between embeddings of the companion and the backbone's, on images it was not fitted to."""

FEWEST_IMAGES: Final = 10
"""Fewer than this say nothing about the range of activations. Chosen; LeafNet's companion took 200 (decision 21)."""
HELD_OUT: Final = 5  # one image in so many is kept for the comparison

_BATCH: Final = 8  # images in one run where the network takes any number. Chosen: little memory.
_PREPARED: Final = {"onnx.quant.pre_process": "onnxruntime.quant"}  # else ONNX Runtime logs that it should be
_QUANTISED: Final = ["Conv", "Add", "Relu", "Clip", "MaxPool", "AveragePool"]
_DIGITS: Final = 5  # of a range's ends, of which a 256th is resolved

Ranges = Mapping[str, tuple[float, float]]
"""Least and largest number of each value between the layers, by its name in the file."""


@dataclass(frozen=True)
class EightBitReport:
    """A companion and the cosines between its embeddings and the backbone's, on images it was not fitted to."""

    path: Path
    size_bytes: int
    mean_cosine: float
    least_cosine: float


def write_eight_bit(
    model: Path, card: BackboneCard, images: NDArray[np.uint8], *, in_float: Sequence[str] = ()
) -> EightBitReport:
    """Write the eight-bit companion beside a backbone file, with ranges seen on images.

    Args:
        images: (n, side, side, 3) uint8 RGB photos of the kind it will see, 100 or more for good ranges.

    Raises:
        InputError: there are fewer than `FEWEST_IMAGES` images.
        ModelError, StorageError: see `write_eight_bit_within`.
    """
    if len(images) < FEWEST_IMAGES:
        raise InputError(
            "too few images to quantise with", expected="{least} or more", found=str(len(images)), least=FEWEST_IMAGES
        )
    held_out = np.arange(len(images)) % HELD_OUT == 0
    ranges = activation_ranges(model, card, images[~held_out])
    return write_eight_bit_within(ranges, model, card, images[held_out], in_float=in_float, fidelity=FIDELITY)


def write_eight_bit_within(
    ranges: Ranges,
    model: Path,
    card: BackboneCard,
    images: NDArray[np.uint8],
    *,
    in_float: Sequence[str] = (),
    fidelity: float = FIDELITY,
) -> EightBitReport:
    """Write the eight-bit companion beside a backbone file, with ranges that are known.

    Args:
        ranges: of `activation_ranges` for this network, from here or elsewhere.
        images: (n, side, side, 3) uint8 RGB, which the two are compared on.
        in_float: layers that stay as they are: what the names of their values begin with.
        fidelity: smallest mean cosine that will do.

    Raises:
        ModelError: the backbone cannot be opened or quantised, the ranges are another network's, or the companion's
            embeddings differ; nothing is written.
        StorageError: the folder refuses the file.
    """
    path = eight_bit_path(model)
    with writing(path, "the model cannot be written"), new_file(path, replace=True, mode=ORDINARY_FILE) as draft:
        with scratch_folder() as folder:
            _quantise(model, draft.path, folder, ranges, tuple(in_float))
        _note_source(draft.path, model)
        agreement = cosines(_embed_all(draft.path, card, images), _embed_all(model, card, images))
        if agreement.mean() < fidelity:
            raise ModelError(
                "eight bits are too few for this backbone",
                expected="a mean cosine of {fidelity}",
                found=f"{agreement.mean():.4f}",
                fidelity=fidelity,
            )
    return EightBitReport(path, path.stat().st_size, float(agreement.mean()), float(agreement.min()))


def layers_in_float(model: Path) -> tuple[str, ...]:
    """Outputs of the layers that the eight-bit companion beside a backbone file leaves in float; () without one.

    Raises:
        ModelError: the companion cannot be read.
    """
    import onnx
    from google.protobuf.message import DecodeError

    path = eight_bit_path(model)
    if not path.is_file():
        return ()
    try:
        nodes = onnx.load(str(path), load_external_data=False).graph.node
    except (OSError, DecodeError) as error:
        raise ModelError("the eight-bit version cannot be read", found=found_at(path, error)) from error
    eight_bit = {name for node in nodes if node.op_type == "DequantizeLinear" for name in node.output}
    kept = (node for node in nodes if node.op_type in _QUANTISED and node.input[0] not in eight_bit)
    return tuple(node.output[0] for node in kept)


def activation_ranges(model: Path, card: BackboneCard, images: NDArray[np.uint8]) -> Ranges:
    """Ranges of the activations of a backbone on (n, side, side, 3) uint8 RGB images.

    Raises:
        ModelError: the backbone cannot be opened or run.
    """
    quantization, prepared = load_quantiser(), _prepared(open_session(model), card, images)
    with scratch_folder() as folder:
        plain = folder / "plain.onnx"
        try:
            _fold_constants(model, plain)
            calibrator = quantization.calibrate.create_calibrator(
                plain,
                _QUANTISED,
                augmented_model_path=str(folder / "telling.onnx"),
                calibrate_method=quantization.CalibrationMethod.MinMax,
            )
            calibrator.collect_data(SimpleNamespace(get_next=partial(next, prepared, None)))
            seen = calibrator.compute_data()
        except runtime_errors() as error:
            raise ModelError("the backbone cannot be quantised", found=one_line(error)) from error
        ranges = {name: seen[name].range_value for name in seen.keys()}  # noqa: SIM118 (no mapping)
        return {name: (_rounded(np.min(least)), _rounded(np.max(most))) for name, (least, most) in ranges.items()}


def _rounded(value: Any) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _quantise(model: Path, out: Path, folder: Path, ranges: Ranges, in_float: tuple[str, ...]) -> None:
    quantization = load_quantiser()
    plain, known = folder / "plain.onnx", folder / "ranges.json"
    try:
        _fold_constants(model, plain)
        quantised, left = _quantised_nodes(plain, in_float)
        if missing := sorted(quantised - set(ranges)):
            raise ModelError(
                "the ranges are those of another network",
                expected=missing[0],
                found="{ranges} others",
                ranges=len(ranges),
            )
        # As ONNX Runtime keeps ranges: it then runs no images.
        method = {"CLS": "CalibrationMethod", "value": "CalibrationMethod.MinMax"}
        data = {name: {"lowest": least, "highest": largest} for name, (least, largest) in ranges.items()}
        write_file(known, json.dumps({"calibration_method": method, "data": data}))
        quantization.quantize_static(
            plain,
            out,
            None,
            quant_format=quantization.QuantFormat.QDQ,
            op_types_to_quantize=_QUANTISED,
            nodes_to_exclude=left,
            per_channel=True,
            activation_type=quantization.QuantType.QUInt8,
            weight_type=quantization.QuantType.QInt8,
            calibrate_method=quantization.CalibrationMethod.MinMax,
            calibration_cache_path=known,
        )
    except runtime_errors() as error:
        raise ModelError("the backbone cannot be quantised", found=one_line(error)) from error


def _quantised_nodes(network: Path, in_float: tuple[str, ...]) -> tuple[set[str], list[str]]:
    """Outputs of the nodes that become eight bits, and the nodes that stay, as limits that follow no convolution do."""
    import onnx

    nodes = onnx.load(str(network), load_external_data=False).graph.node
    convolved = {node.output[0] for node in nodes if node.op_type == "Conv"}
    left = {node.name for node in nodes if node.op_type == "Clip" and node.input[0] not in convolved}
    left |= {node.name for node in nodes if node.output[0].startswith(in_float)}
    return {node.output[0] for node in nodes if node.op_type in _QUANTISED and node.name not in left}, sorted(left)


def _fold_constants(model: Path, out: Path) -> None:
    """Write the network with weights that were cast up from float16 as plain float32 ones: others are not quantised."""
    import onnx

    onnxruntime = load_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(out)
    onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    network = onnx.load(str(out))
    onnx.helper.set_model_props(network, _PREPARED)
    onnx.save(network, str(out))


def _prepared(session: Any, card: BackboneCard, images: NDArray[np.uint8]) -> Iterator[dict[str, NDArray[Any]]]:
    ends, preparation = input_output(session, card), Preparation(card)
    size = ends.most_images or _BATCH
    for start in range(0, len(images), size):
        prepared = preparation.prepare(images[start : start + size])
        yield {ends.input_name: prepared.astype(ends.input_type, copy=False)}


def _embed_all(model: Path, card: BackboneCard, images: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The network's output for each image, flattened: (n, values)."""
    session = open_session(model)
    name = input_output(session, card).output_name
    parts = [run_session(session, batch, [name])[0] for batch in _prepared(session, card, images)]
    return np.concatenate(parts).reshape(len(images), -1)


def _note_source(companion: Path, model: Path) -> None:
    """Write into the companion which file it was made from."""
    import onnx

    network = onnx.load(str(companion))
    onnx.helper.set_model_props(network, {SOURCE_KEY: file_hash(model)})
    with open_own(companion, "wb") as file:
        file.write(network.SerializeToString())
