"""Makes the eight-bit companion of a backbone, which `engine.runtime.eight_bit` runs in its place.

Static quantisation: what flows between the convolutions to eight bits within the range seen on
sample images, here or earlier; weights to seven bits per output channel, so that no product
overflows on any CPU: those without VNNI add two products in sixteen bits, and 2 x 255 x 64 is below
32,768. What rounding the weights takes from a channel on average is added to its bias. What comes
after the convolutions (means, powers, whitening) stays in float32. Decision 95.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.arrays import Doubles, Floats, Pixels
from engine.errors import InputError, ModelError, found_at
from engine.full_disk import writing
from engine.model_card import BackboneCard, file_hash
from engine.new_file import ORDINARY_FILE, new_file, open_own, write_file
from engine.new_folder import scratch_folder
from engine.runtime.activations import (
    QUANTISED,
    Activations,
    fold_constants,
    measure_activations,
    prepared_batches,
)
from engine.runtime.backbone_input import input_output
from engine.runtime.eight_bit import SOURCE_KEY, check_photos, cosines, eight_bit_path
from engine.runtime.onnx_runtime import load_quantiser
from engine.runtime.sessions import one_line, open_session, run_session, runtime_errors

FIDELITY = 0.995
"""Smallest mean cosine of the companion's and the backbone's embeddings, on held-out images."""

FEWEST_IMAGES = 10
"""Images to estimate activation ranges, at least. Chosen; LeafNet's took 200 (decision 95)."""
LEAST_FIDELITY = 0.985
"""Smallest cosine on the photos that are compared at each opening: above the limit there."""
HELD_OUT = 5  # one image in so many is held out for the comparison

LARGEST_WEIGHT = 64
"""Largest magnitude of a quantised weight."""


@dataclass(frozen=True)
class EightBitReport:
    """A companion and the cosines of its embeddings and the backbone's, on held-out images."""

    path: Path
    size_bytes: int
    mean_cosine: float
    least_cosine: float


def write_eight_bit(
    model: Path, card: BackboneCard, images: Pixels, *, in_float: Sequence[str] = ()
) -> EightBitReport:
    """Quantise a backbone to its eight-bit companion, with activation ranges seen on images.

    Args:
        images: (n, side, side, 3) uint8 RGB photos of the kind it will see, 100 or more for good
            ranges.

    Raises:
        InputError: there are fewer than `FEWEST_IMAGES` images.
        ModelError, StorageError: see `write_eight_bit_within`.
    """
    if len(images) < FEWEST_IMAGES:
        raise InputError(
            "too few images to quantise with",
            expected="{least} or more",
            found=str(len(images)),
            least=FEWEST_IMAGES,
        )
    held_out = np.arange(len(images)) % HELD_OUT == 0
    activations = measure_activations(model, card, images[~held_out])
    return write_eight_bit_within(activations, model, card, images[held_out], in_float=in_float)


def write_eight_bit_within(
    activations: Activations,
    model: Path,
    card: BackboneCard,
    images: Pixels,
    *,
    in_float: Sequence[str] = (),
) -> EightBitReport:
    """Quantise a backbone to its eight-bit companion, with known activations.

    Args:
        activations: of `measure_activations` for this network, from here or elsewhere.
        images: (n, side, side, 3) uint8 RGB, which the two are compared on.
        in_float: layers that are not quantised: prefixes of their values' names.

    Raises:
        ModelError: the backbone cannot be opened or quantised, the ranges are another network's, or
            the companion's embeddings differ; nothing is written.
        StorageError: the folder refuses the file.
    """
    path = eight_bit_path(model)
    with (
        writing(path, "the model cannot be written"),
        new_file(path, replace=True, mode=ORDINARY_FILE) as draft,
    ):
        with scratch_folder() as folder:
            _quantise(model, draft.path, folder, activations, tuple(in_float))
        _note_source(draft.path, model)
        agreement = _cosines(draft.path, model, card, images)
        _require("mean", float(agreement.mean()), FIDELITY)
        _require(
            "least",
            float(_cosines(draft.path, model, card, check_photos(card)).min()),
            LEAST_FIDELITY,
        )
    return EightBitReport(
        path, path.stat().st_size, float(agreement.mean()), float(agreement.min())
    )


def _require(which: str, found: float, least: float) -> None:
    if found < least:
        raise ModelError(
            "eight bits are too few for this backbone",
            expected="a {which} cosine of {least}",
            found=f"{found:.4f}",
            which=which,
            least=least,
        )


def layers_in_float(model: Path) -> tuple[str, ...]:
    """Outputs of the layers that a backbone's eight-bit companion leaves in float; () without one.

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
        raise ModelError(
            "the eight-bit version cannot be read", found=found_at(path, error)
        ) from error
    eight_bit = {
        name for node in nodes if node.op_type == "DequantizeLinear" for name in node.output
    }
    kept = (node for node in nodes if node.op_type in QUANTISED and node.input[0] not in eight_bit)
    return tuple(node.output[0] for node in kept)


def _quantise(
    model: Path, out: Path, folder: Path, activations: Activations, in_float: tuple[str, ...]
) -> None:
    quantization = load_quantiser()
    plain, known = folder / "plain.onnx", folder / "ranges.json"
    ranges = activations.ranges
    try:
        fold_constants(model, plain)
        quantised, left = _quantised_nodes(plain, in_float)
        if missing := sorted(quantised - set(ranges)):
            raise ModelError(
                "the ranges are those of another network",
                expected=missing[0],
                found="{ranges} others",
                ranges=len(ranges),
            )
        compensate_rounding(plain, quantised, activations.means)
        # As ONNX Runtime keeps ranges: it then runs no images.
        method = {"CLS": "CalibrationMethod", "value": "CalibrationMethod.MinMax"}
        data = {
            name: {"lowest": least, "highest": largest} for name, (least, largest) in ranges.items()
        }
        write_file(known, json.dumps({"calibration_method": method, "data": data}))
        quantization.quantize_static(
            plain,
            out,
            None,
            quant_format=quantization.QuantFormat.QDQ,
            op_types_to_quantize=QUANTISED,
            nodes_to_exclude=left,
            per_channel=True,
            reduce_range=True,
            activation_type=quantization.QuantType.QUInt8,
            weight_type=quantization.QuantType.QInt8,
            calibrate_method=quantization.CalibrationMethod.MinMax,
            calibration_cache_path=known,
        )
    except runtime_errors() as error:
        raise ModelError("the backbone cannot be quantised", found=one_line(error)) from error


def _quantised_nodes(network: Path, in_float: tuple[str, ...]) -> tuple[set[str], list[str]]:
    """Outputs of the quantised nodes, and the other nodes, such as limits after no convolution."""
    import onnx

    nodes = onnx.load(str(network), load_external_data=False).graph.node
    convolved = {node.output[0] for node in nodes if node.op_type == "Conv"}
    left = {
        node.name for node in nodes if node.op_type == "Clip" and node.input[0] not in convolved
    }
    left |= {node.name for node in nodes if node.output[0].startswith(in_float)}
    return {
        node.output[0] for node in nodes if node.op_type in QUANTISED and node.name not in left
    }, sorted(left)


def compensate_rounding(
    network_file: Path, quantised: set[str], means: Mapping[str, Floats]
) -> None:
    """Add to each bias what the rounded weights take away from its channel on average."""
    import onnx

    network = onnx.load(str(network_file))
    arrays = {initializer.name: initializer for initializer in network.graph.initializer}
    for node in network.graph.node:
        if node.op_type != "Conv" or node.output[0] not in quantised or node.input[1] not in arrays:
            continue
        if node.input[0] not in means:
            raise ModelError("the ranges are those of another network", expected=node.input[0])
        weights = onnx.numpy_helper.to_array(arrays[node.input[1]]).astype(np.float64)
        lost = mean_lost(weights, means[node.input[0]].astype(np.float64))
        has_bias = len(node.input) > 2  # noqa: PLR2004 (values, weights, bias)
        bias = onnx.numpy_helper.to_array(arrays[node.input[2]]) if has_bias else np.float64(0)
        name = f"{node.output[0]}.compensated_bias"
        network.graph.initializer.append(
            onnx.numpy_helper.from_array((bias + lost).astype(np.float32), name)
        )
        node.input[:] = [node.input[0], node.input[1], name]
    onnx.save(network, str(network_file))


def mean_lost(weights: Doubles, means: Doubles) -> Doubles:
    """Mean effect (O,) on outputs of rounding weights (O, C / groups, h, w), by means (C,)."""
    largest = np.abs(weights).max(axis=(1, 2, 3), keepdims=True)
    scale = np.maximum(largest, np.finfo(np.float32).tiny) / LARGEST_WEIGHT
    lost = (weights - np.rint(weights / scale) * scale).sum(axis=(2, 3))
    groups = len(means) // weights.shape[1]
    by_group = lost.reshape(groups, -1, weights.shape[1]) * means.reshape(groups, 1, -1)
    return by_group.sum(axis=2).reshape(-1)


def _cosines(companion: Path, model: Path, card: BackboneCard, images: Pixels) -> Doubles:
    return cosines(_embed_all(companion, card, images), _embed_all(model, card, images))


def _embed_all(model: Path, card: BackboneCard, images: Pixels) -> Floats:
    """The network's output for each image, flattened: (n, values)."""
    session = open_session(model)
    name = input_output(session, card).output_name
    parts = [
        run_session(session, batch, [name])[0] for batch in prepared_batches(session, card, images)
    ]
    return np.concatenate(parts).reshape(len(images), -1)


def _note_source(companion: Path, model: Path) -> None:
    """Write into the companion which file it was made from."""
    import onnx

    network = onnx.load(str(companion))
    onnx.helper.set_model_props(network, {SOURCE_KEY: file_hash(model)})
    with open_own(companion, "wb") as file:
        file.write(network.SerializeToString())
