"""The network of any ONNX file as a torch module that can be trained on.

The file's own graph is computed, operator by operator, and trained weights go back into it: same
size, same speed. Batch normalisation keeps its statistics, which a few hundred labelled images
would estimate worse.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
import torch
from torch import Tensor, nn

from engine.errors import ModelError
from engine.training.onnx_conversion import read_model
from engine.training.thawed.operators import OPERATORS, Operator

WEIGHTS_AT: Mapping[str, tuple[int, ...]] = {
    "Conv": (1, 2),
    "Gemm": (1, 2),
    "MatMul": (0, 1),
    "LayerNormalization": (1, 2),
    "BatchNormalization": (1, 2),
}
"""Inputs of operators that are trained where they are initializers of the file."""
LAYERS = frozenset({"Conv", "Gemm", "MatMul"})
"""Modules that count as a layer; depths are numbers of them."""


@dataclass(frozen=True)
class _Step:
    """One node of the graph, ready to be computed."""

    kind: str
    operator: Operator
    attributes: Mapping[str, Any]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@final
class ThawedNetwork(nn.Module):
    """The graph of an `onnx.ModelProto`, computed in torch up to an output, by default the first.

    Training freezes `frozen_share` of the layers, counted from the input.

    Raises:
        ModelError: the graph has an operator that training cannot go through.
    """

    def __init__(self, model: Any, output: str = "", *, frozen_share: float = 0.0) -> None:
        super().__init__()
        from onnx import numpy_helper

        graph = model.graph
        self._output = output or graph.output[0].name
        held = {
            tensor.name: torch.from_numpy(_array(numpy_helper.to_array(tensor)))
            for tensor in graph.initializer
        }
        self._input = next(each.name for each in graph.input if each.name not in held)
        self._steps = tuple(_without_casts(_steps(graph, held), held))
        self._weight_names = _weight_names(self._steps, held)
        self.weights = nn.ParameterList(nn.Parameter(held[name]) for name in self._weight_names)
        self._constants = self._kept(
            {name: value for name, value in held.items() if name not in self._weight_names}
        )
        self._last_uses = _last_uses(self._steps, self._output)
        self._freeze(frozen_share)

    def _kept(self, constants: Mapping[str, Tensor]) -> Mapping[str, str | Tensor]:
        """Constants by name in the file: tensors of integers, buffers of floats."""
        kept: dict[str, str | Tensor] = {}
        for number, (name, value) in enumerate(constants.items()):
            kept[name] = value
            if value.is_floating_point():
                self.register_buffer(f"constant{number}", value, persistent=False)
                kept[name] = f"constant{number}"
        return kept

    def _freeze(self, share: float) -> None:
        layers = [
            step
            for step in self._steps
            if step.kind in LAYERS and not set(step.inputs).isdisjoint(self._weight_names)
        ]
        frozen = {name for step in layers[: int(share * len(layers))] for name in step.inputs}
        for name, weight in zip(self._weight_names, self.weights, strict=True):
            weight.requires_grad_(name not in frozen)

    def forward(self, images: Tensor) -> Tensor:
        """Map what the file's input takes to what its output gives."""
        values: dict[str, Any] = dict(zip(self._weight_names, self.weights, strict=True))
        values[self._input] = images
        for step, unused in zip(self._steps, self._last_uses, strict=True):
            inputs = [self._value(name, values) for name in step.inputs]
            found = step.operator(step.attributes, inputs)
            values.update(
                zip(step.outputs, found if isinstance(found, tuple) else (found,), strict=False)
            )
            for name in unused:
                values.pop(name, None)
        return values[self._output]

    def _value(self, name: str, values: Mapping[str, Any]) -> Any:
        if not name:
            return None
        if name in values:
            return values[name]
        constant = self._constants[name]
        return getattr(self, constant) if isinstance(constant, str) else constant

    def trained_weights(self) -> Iterator[tuple[str, Tensor]]:
        """Names in the file and values of the weights that training may have changed."""
        for name, weight in zip(self._weight_names, self.weights, strict=True):
            if weight.requires_grad:
                yield name, weight.detach().cpu()


def thawed(path: Path, output: str = "", *, frozen_share: float = 0.0) -> ThawedNetwork:
    """Read a file's network; arguments as of `ThawedNetwork`.

    Raises:
        ModelError: the file cannot be read, or its network cannot be trained on.
    """
    try:
        return ThawedNetwork(read_model(path), output, frozen_share=frozen_share)
    except ModelError as error:
        raise ModelError(
            error.what,
            expected=error.expected,
            found="{detail} in {path}",
            remedy=error.remedy,
            detail=error.found,
            path=path,
        ) from error


@torch.no_grad()
def average_with_file(path: Path, network: ThawedNetwork, trained_share: float) -> None:
    """Average trained weights with those of the file, by a share in [0, 1]: keeps robustness.

    Paper: Wortsman et al., CVPR 2022 (WiSE-FT).
    """
    for weight, before in zip(network.weights, thawed(path).weights, strict=True):
        weight.lerp_(before, 1 - trained_share)


def with_weights(path: Path, network: ThawedNetwork) -> bytes:
    """Serialise a file with its network's trained weights, in the file's precision.

    Raises:
        ModelError: a weight does not fit into the file's number type.
    """
    from onnx import numpy_helper

    model = read_model(path)
    tensors = {tensor.name: tensor for tensor in model.graph.initializer}
    for name, weight in network.trained_weights():
        tensor = tensors[name]
        before = numpy_helper.to_array(tensor)
        with np.errstate(over="ignore"):  # what is too large is refused below
            values = weight.numpy().astype(before.dtype)
        if not np.isfinite(values).all():
            raise ModelError(
                "a trained weight does not fit into the file",
                expected=str(before.dtype),
                found=name,
            )
        tensor.CopyFrom(numpy_helper.from_array(values, name))
    return model.SerializeToString()


def _array(values: Any) -> Any:
    """A copy that torch may own: all floats as float32."""
    return values.astype(np.float32) if values.dtype.kind == "f" else np.array(values)


def _steps(graph: Any, held: dict[str, Tensor]) -> Iterator[_Step]:
    from onnx import helper, numpy_helper

    for node in graph.node:
        attributes = {
            each.name: _attribute(helper.get_attribute_value(each)) for each in node.attribute
        }
        if node.op_type == "Constant":
            value: Any = next(iter(attributes.values()))
            array = numpy_helper.to_array(value) if hasattr(value, "raw_data") else np.array(value)
            held[node.output[0]] = torch.from_numpy(_array(array))
            continue
        operator = OPERATORS.get(node.op_type) if node.domain in {"", "ai.onnx"} else None
        if operator is None:
            raise ModelError(
                "training cannot go through this network",
                expected="operators that training supports",
                found=f"“{node.op_type}”",
                remedy="tune propagation instead, or train from another backbone",
            )
        if (value := attributes.get("value")) is not None and hasattr(value, "raw_data"):
            attributes["value"] = torch.from_numpy(_array(numpy_helper.to_array(value)))
        yield _Step(node.op_type, operator, attributes, tuple(node.input), tuple(node.output))


def _attribute(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    return (
        list(value)
        if isinstance(value, tuple) or type(value).__name__.startswith("Repeated")
        else value
    )


def _without_casts(steps: Iterator[_Step], held: Mapping[str, Tensor]) -> Iterator[_Step]:
    """Remove the casts of float16 weights: they are float32 from the start."""
    names: dict[str, str] = {}
    for step in steps:
        inputs = tuple(names.get(name, name) for name in step.inputs)
        if (
            step.kind in {"Cast", "Identity"}
            and inputs[0] in held
            and held[inputs[0]].is_floating_point()
        ):
            names[step.outputs[0]] = inputs[0]
            continue
        yield _Step(step.kind, step.operator, step.attributes, inputs, step.outputs)


def _weight_names(steps: tuple[_Step, ...], held: Mapping[str, Tensor]) -> tuple[str, ...]:
    named: dict[str, None] = {}
    for step in steps:
        for place in WEIGHTS_AT.get(step.kind, ()):
            if (
                place < len(step.inputs)
                and step.inputs[place] in held
                and held[step.inputs[place]].is_floating_point()
            ):
                named[step.inputs[place]] = None
    return tuple(named)


def _last_uses(steps: tuple[_Step, ...], output: str) -> tuple[tuple[str, ...], ...]:
    """For each step the values that no later step uses, and which can be freed."""
    last: dict[str, int] = {}
    for number, step in enumerate(steps):
        for name in (*step.inputs, *step.outputs):
            last[name] = number
    last.pop(output, None)
    unused: list[list[str]] = [[] for _ in steps]
    for name, number in last.items():
        unused[number].append(name)
    return tuple(map(tuple, unused))
