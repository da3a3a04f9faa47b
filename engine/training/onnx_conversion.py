"""From a torch module to an ONNX model in memory, and weights back out of exported files.

Half weights are cast up to float32 in the graph: half the size, the same arithmetic, as ONNX
Runtime folds the casts when it loads the file.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np
import torch
from google.protobuf.message import DecodeError
from torch import Tensor, nn
from torch.export import Dim

from engine.arrays import Floats
from engine.errors import ModelError, found_at
from engine.model.propagation import Attention, Normalisation, PropagationNetwork

OPSET = 20  # version of ONNX's operators; ONNX Runtime computes it from 1.17 on
SMALLEST_WEIGHT = 256
"""Smaller tensors are not halved: biases are small, and constants such as exponents must be
exact."""
_G = "attention.g.weight"
_H = "attention.h.weight"
_HALF = ".half"
_FORM_KEY = "normalisation"
_NORMALISATIONS: tuple[Normalisation, ...] = get_args(Normalisation)


@dataclass(frozen=True)
class ModelShape:
    """Names of inputs and outputs, and for each input the names of its dynamic axes by position.

    Axes of the same name have the same length.
    """

    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    dynamic_axes: tuple[dict[int, str], ...]


def to_onnx(
    module: nn.Module, inputs: tuple[Tensor, ...], shape: ModelShape, *, notes: Mapping[str, str]
) -> Any:
    """Convert a module in evaluation mode to an `onnx.ModelProto` without traces of this machine.

    Args:
        inputs: example arguments; every dynamic axis at least 2 long, as the tracer takes 0 and 1
            for constants.

    Raises:
        ModelError: the exporter cannot convert the module.
    """
    try:
        program = torch.onnx.export(
            module,
            inputs,
            dynamo=True,
            verbose=False,
            input_names=list(shape.input_names),
            output_names=list(shape.output_names),
            dynamic_shapes=_dynamic_shapes(shape.dynamic_axes),
            opset_version=OPSET,
        )
    except torch.onnx.OnnxExporterError as error:
        raise ModelError("the model cannot be converted to ONNX", found=str(error)) from error
    assert program is not None
    model = program.model_proto
    _forget_the_machine(model)
    for key, value in notes.items():
        model.metadata_props.add(key=key, value=value)
    return model


def _dynamic_shapes(axes: tuple[dict[int, str], ...]) -> tuple[dict[int, Any], ...]:
    """Dynamic shapes with each name on its first axis only: the exporter finds the others equal."""
    seen: set[str] = set()
    shapes: list[dict[int, Any]] = []
    for named in axes:
        shapes.append(
            {axis: Dim.DYNAMIC if name in seen else Dim(name) for axis, name in named.items()}
        )
        seen.update(named.values())
    return tuple(shapes)


def _forget_the_machine(model: Any) -> None:
    """Remove the exporter's stack traces: local paths, and most of a small file's size."""
    graph = model.graph
    for part in (
        model,
        graph,
        *graph.node,
        *graph.value_info,
        *graph.input,
        *graph.output,
        *graph.initializer,
    ):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")


def store_weights_as_half(graph: Any) -> None:
    """Replace each large float32 initializer of a `GraphProto` by a float16 one and a cast.

    Raises:
        ModelError: a weight is too large for float16; the graph is left half changed.
    """
    from onnx import TensorProto, helper, numpy_helper

    casts = []
    for tensor in graph.initializer:
        values = numpy_helper.to_array(tensor)
        if tensor.data_type != TensorProto.FLOAT or values.size < SMALLEST_WEIGHT:
            continue
        name = tensor.name
        _check_range(name, values)
        tensor.CopyFrom(numpy_helper.from_array(values.astype(np.float16), f"{name}.half"))
        casts.append(
            helper.make_node(
                "Cast", [f"{name}.half"], [name], to=TensorProto.FLOAT, name=f"{name}.cast"
            )
        )
    nodes = [*casts, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)


def _check_range(name: str, values: Any) -> None:
    largest = float(np.abs(values).max())
    limit = float(np.finfo(np.float16).max)
    if not largest <= limit:
        raise ModelError(
            "a weight does not fit into float16",
            expected="values up to {limit:g}",
            found="{largest:g} in {name}",
            remedy="export without half weights",
            limit=limit,
            largest=largest,
            name=name,
        )


def read_propagation(path: Path) -> PropagationNetwork[Attention]:
    """Make the torch module of a propagation file that `export_propagation` wrote.

    Raises:
        ModelError: the file cannot be read or is not ours.
    """
    model = read_model(path)
    notes = {entry.key: entry.value for entry in model.metadata_props}
    weights = weights_of(model)
    normalisation: Normalisation | None = next(
        (each for each in _NORMALISATIONS if each == notes.get(_FORM_KEY)), None
    )
    if _G not in weights or _H not in weights or normalisation is None:
        raise ModelError(
            "the propagation file contains no attention weights to continue training from",
            found=str(path),
            remedy="train propagation from new weights",
        )
    hidden_width, embedding_width = weights[_G].shape
    attention = Attention(
        embedding_width, hidden_width, logit_scale=float(notes.get("logit_scale", "1"))
    )
    with torch.no_grad():
        attention.g.weight.copy_(torch.from_numpy(weights[_G]))
        attention.h.weight.copy_(torch.from_numpy(weights[_H]))
    return PropagationNetwork(
        attention, steps=int(notes.get("steps", "1")), normalisation=normalisation
    )


def read_model(path: Path) -> Any:
    """Read a file as an `onnx.ModelProto`.

    Raises:
        ModelError: the file cannot be read.
    """
    import onnx

    try:
        return onnx.load(str(path))
    except (OSError, DecodeError) as error:
        raise ModelError("the model file cannot be read", found=found_at(path, error)) from error


def weights_of(model: Any) -> Mapping[str, Floats]:
    """All float tensors of a `ModelProto`, halved ones under their original names."""
    from onnx import numpy_helper

    arrays = {
        tensor.name.removesuffix(_HALF): numpy_helper.to_array(tensor)
        for tensor in model.graph.initializer
    }
    return {
        name: array.astype(np.float32) for name, array in arrays.items() if array.dtype.kind == "f"
    }
