"""Activations of a network on photos: ranges, and channel means of convolution inputs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Floats, Pixels
from engine.errors import ModelError, found_at
from engine.files import read_regular
from engine.model_card import BackboneCard
from engine.new_file import ORDINARY_FILE, write_file
from engine.new_folder import scratch_folder
from engine.runtime.backbone_input import Preparation, input_output
from engine.runtime.onnx_runtime import load_onnxruntime
from engine.runtime.sessions import one_line, open_session, run_session, runtime_errors

QUANTISED = ["Conv", "Add", "Relu", "Clip", "MaxPool", "AveragePool"]
"""Operators that the eight-bit companion computes in integers."""

_LEAST, _LARGEST, _MEAN = "ReduceMin", "ReduceMax", "GlobalAveragePool"  # operators of ONNX
_BATCH = 8  # images in one run where the network takes any number. Chosen: little memory.
_DIGITS = 5  # of a range's ends, of which a 256th is resolved
_PREPARED = {"onnx.quant.pre_process": "onnxruntime.quant"}
"""Else ONNX Runtime logs that it should be."""


@dataclass(frozen=True)
class Activations:
    """Statistics of the values between the layers, by their names in the file."""

    ranges: Mapping[str, tuple[float, float]]  # least and largest number of each value
    means: Mapping[str, Floats]  # (C,) of each channel, of what convolutions take


def measure_activations(model: Path, card: BackboneCard, images: Pixels) -> Activations:
    """Measure the activations of a backbone on (n, side, side, 3) uint8 RGB images.

    Raises:
        ModelError: the backbone cannot be opened or run.
    """
    prepared = prepared_batches(open_session(model), card, images)
    with scratch_folder() as folder:
        try:
            fold_constants(model, folder / "plain.onnx")
            measured = _write_measuring(folder / "plain.onnx", folder / "measuring.onnx")
            session = open_session(folder / "measuring.onnx")
        except runtime_errors() as error:
            raise ModelError("the backbone cannot be quantised", found=one_line(error)) from error
        runs = [
            run_session(session, batch, [output for output, *_ in measured]) for batch in prepared
        ]
    least: dict[str, float] = {}
    largest: dict[str, float] = {}
    means: dict[str, Floats] = {}
    for (_output, statistic, name), parts in zip(measured, zip(*runs, strict=True), strict=True):
        if statistic == _LEAST:
            least[name] = _rounded(np.min(parts))
        elif statistic == _LARGEST:
            largest[name] = _rounded(np.max(parts))
        else:
            means[name] = (
                np.concatenate(parts).mean(axis=(0, 2, 3), dtype=np.float64).astype(np.float32)
            )
    return Activations({name: (value, largest[name]) for name, value in least.items()}, means)


def _write_measuring(plain: Path, out: Path) -> list[tuple[str, str, str]]:
    """Write the network with statistics as extra outputs: name, operator and value of each."""
    import onnx

    network = onnx.load(str(plain))
    graph = network.graph
    constants = {initializer.name for initializer in graph.initializer} | {""}
    nodes = [node for node in graph.node if node.op_type in QUANTISED]
    values = dict.fromkeys(
        name for node in nodes for name in (*node.input, *node.output) if name not in constants
    )
    convolved = dict.fromkeys(node.input[0] for node in nodes if node.op_type == "Conv")
    measured = [
        (f"{statistic} {name}", statistic, name)
        for statistic in (_LEAST, _LARGEST)
        for name in values
    ]
    measured += [(f"{_MEAN} {name}", _MEAN, name) for name in convolved]
    for output, statistic, name in measured:
        options: dict[str, Any] = {} if statistic == _MEAN else {"keepdims": 0}
        graph.node.append(onnx.helper.make_node(statistic, [name], [output], **options))
        graph.output.append(
            onnx.helper.make_tensor_value_info(output, onnx.TensorProto.FLOAT, None)
        )
    onnx.save(network, str(out))
    return measured


def _rounded(value: Any) -> float:
    return float(f"{value:.{_DIGITS}g}")


def fold_constants(model: Path, out: Path) -> None:
    """Write the network with float16 weights as plain float32 ones: others are not quantised."""
    import onnx

    onnxruntime = load_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(out)
    onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    network = onnx.load(str(out))
    onnx.helper.set_model_props(network, _PREPARED)
    onnx.save(network, str(out))


def prepared_batches(
    session: Any, card: BackboneCard, images: Pixels
) -> Iterator[dict[str, NDArray[Any]]]:
    """Inputs of an opened network, some images at a time."""
    ends, preparation = input_output(session, card), Preparation(card)
    size = ends.most_images or _BATCH
    for start in range(0, len(images), size):
        prepared = preparation.prepare(images[start : start + size])
        yield {ends.input_name: prepared.astype(ends.input_type, copy=False)}


def write_activations(path: Path, activations: Activations) -> None:
    """Write statistics as an .npz file, the same bytes each time; raises `OSError`."""
    names, means = list(activations.ranges), activations.means
    content = BytesIO()
    np.savez_compressed(
        content,
        names=np.array(names),
        ranges=np.array([activations.ranges[name] for name in names]),
        convolved=np.array(list(means)),
        channels=np.array([len(mean) for mean in means.values()]),
        means=np.concatenate(list(means.values())).astype(np.float16),
    )
    write_file(path, content.getvalue(), mode=ORDINARY_FILE)


def read_activations(path: Path) -> Activations:
    """Read what `write_activations` wrote.

    Raises:
        ModelError: the file cannot be read.
    """
    try:
        with np.load(BytesIO(read_regular(path)), allow_pickle=False) as arrays:
            ranges = {
                str(name): (float(least), float(largest))
                for name, (least, largest) in zip(arrays["names"], arrays["ranges"], strict=True)
            }
            parts = np.split(arrays["means"].astype(np.float32), np.cumsum(arrays["channels"])[:-1])
            return Activations(ranges, dict(zip(map(str, arrays["convolved"]), parts, strict=True)))
    except (OSError, ValueError, KeyError, TypeError, BadZipFile) as error:
        raise ModelError(
            "the ranges of the backbone cannot be read", found=found_at(path, error)
        ) from error
