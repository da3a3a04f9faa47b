"""Every operator of ONNX that training can go through, by its name."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import torch
from torch import Tensor, nn

from engine.training.thawed import layers, shapes
from engine.training.thawed.layers import Attributes, Inputs
from engine.training.thawed.shapes import axes_of

Operator = Callable[[Attributes, Inputs], Any]
"""From attributes and inputs to the output, or to a tuple of outputs."""

_FLOATS: Final = frozenset({1, 10, 11, 16})
"""ONNX's numbers for float32, float16, float64 and bfloat16: all are float32 in training."""
_BOOL: Final = 9  # ONNX's number for yes and no


def _plain(function: Callable[..., Any]) -> Operator:
    """An operator without attributes."""
    return lambda _attributes, inputs: function(*inputs)


def _reduced(function: Callable[..., Tensor]) -> Operator:
    """An operator over axes."""

    def operator(attributes: Attributes, inputs: Inputs) -> Tensor:
        axes = axes_of(attributes, inputs)
        keep = bool(attributes.get("keepdims", 1))
        return function(inputs[0], tuple(range(inputs[0].ndim)) if axes is None else tuple(axes), keep)

    return operator


def _length(values: Tensor, axes: tuple[int, ...], keep: bool) -> Tensor:
    return values.square().sum(axes, keep).clamp(min=torch.finfo(torch.float32).tiny).sqrt()


def _clipped(attributes: Attributes, inputs: Inputs) -> Tensor:
    low = inputs[1] if len(inputs) > 1 else attributes.get("min")
    high = inputs[2] if len(inputs) > 2 else attributes.get("max")  # noqa: PLR2004
    return torch.clamp(inputs[0], low, high)


def _cast(attributes: Attributes, inputs: Inputs) -> Tensor:
    wanted = attributes["to"]
    found: Tensor = inputs[0]
    if wanted in _FLOATS:
        return found.float()
    return found.bool() if wanted == _BOOL else found.long()


def _divided(first: Tensor, second: Tensor) -> Tensor:
    if first.is_floating_point() or second.is_floating_point():
        return first / second
    return torch.div(first, second, rounding_mode="trunc")


def _unit(attributes: Attributes, inputs: Inputs) -> Tensor:
    return nn.functional.normalize(inputs[0], p=attributes.get("p", 2), dim=attributes.get("axis", -1))


OPERATORS: Final[Mapping[str, Operator]] = {
    "Abs": _plain(torch.abs),
    "Add": _plain(torch.add),
    "AveragePool": layers.average_pooling,
    "BatchNormalization": layers.batch_normalisation,
    "Cast": _cast,
    "Clip": _clipped,
    "Concat": shapes.concatenation,
    "ConstantOfShape": shapes.filled,
    "Conv": layers.convolution,
    "Div": _plain(_divided),
    "Dropout": lambda _attributes, inputs: inputs[0],
    "Equal": _plain(torch.eq),
    "Erf": _plain(torch.erf),
    "Exp": _plain(torch.exp),
    "Expand": shapes.expanded,
    "Flatten": shapes.flatten,
    "Gather": shapes.gather,
    "Gelu": layers.gelu,
    "Gemm": layers.product,
    "GlobalAveragePool": layers.global_average,
    "HardSigmoid": layers.hard_sigmoid,
    "HardSwish": _plain(nn.functional.hardswish),
    "Identity": _plain(lambda value: value),
    "LayerNormalization": layers.layer_normalisation,
    "LeakyRelu": lambda attributes, inputs: nn.functional.leaky_relu(inputs[0], attributes.get("alpha", 0.01)),
    "LpNormalization": _unit,
    "MatMul": _plain(torch.matmul),
    "Max": _plain(torch.maximum),
    "MaxPool": layers.max_pooling,
    "Min": _plain(torch.minimum),
    "Mul": _plain(torch.mul),
    "Neg": _plain(torch.neg),
    "Pad": shapes.padded,
    "Pow": _plain(torch.pow),
    "Reciprocal": _plain(torch.reciprocal),
    "ReduceL2": _reduced(_length),
    "ReduceMax": _reduced(torch.amax),
    "ReduceMean": _reduced(torch.mean),
    "ReduceSum": _reduced(torch.sum),
    "Relu": _plain(torch.relu),
    "Reshape": shapes.reshape,
    "Shape": shapes.shape,
    "Sigmoid": _plain(torch.sigmoid),
    "Slice": shapes.slice_of,
    "Softmax": layers.softmax,
    "Split": shapes.split,
    "Sqrt": _plain(torch.sqrt),
    "Squeeze": shapes.squeezed,
    "Sub": _plain(torch.sub),
    "Tanh": _plain(torch.tanh),
    "Transpose": shapes.transpose,
    "Unsqueeze": shapes.unsqueezed,
    "Where": _plain(torch.where),
}
"""Numbers in it are the defaults of ONNX, and places of inputs."""
