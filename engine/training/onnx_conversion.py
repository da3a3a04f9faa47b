"""From a torch module to an ONNX model in memory: the exporter's call, its noise, and what it leaves behind."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.export import Dim

from engine.errors import ModelError

OPSET: Final = 20
"""Version of ONNX's operators; ONNX Runtime computes it from 1.17 on."""


@dataclass(frozen=True)
class ModelShape:
    """Names of inputs and outputs, and for each input the names of its dynamic axes by position.

    Axes of the same name have the same length.
    """

    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    dynamic_axes: tuple[dict[int, str], ...]


def to_onnx(module: nn.Module, inputs: tuple[Tensor, ...], shape: ModelShape, *, notes: Mapping[str, str]) -> Any:
    """Convert a module in evaluation mode.

    Args:
        inputs: example arguments; every dynamic axis at least 2 long, as the tracer takes 0 and 1 for constants.

    Returns:
        An `onnx.ModelProto` without traces of the machine it was made on.

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
    """Give each name to the first axis that bears it; the exporter finds out that later ones are equal to it.

    Naming an axis twice makes the exporter warn that the second name will not be used.
    """
    seen: set[str] = set()
    shapes: list[dict[int, Any]] = []
    for named in axes:
        shapes.append({axis: Dim.DYNAMIC if name in seen else Dim(name) for axis, name in named.items()})
        seen.update(named.values())
    return tuple(shapes)


def _forget_the_machine(model: Any) -> None:
    """Drop the exporter's stack traces: they hold paths of this machine and most of a small file's size."""
    graph = model.graph
    for part in (model, graph, *graph.node, *graph.value_info, *graph.input, *graph.output, *graph.initializer):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")
