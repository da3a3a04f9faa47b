"""Every operator of ONNX that training can go through, by its name."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from engine.errors import ModelError

Attributes = Mapping[str, Any]
Inputs = Sequence[Any]  # tensors; None where an optional input is left out

_PLANE = 2  # height and width: the only places that images have
_KEPT = 0  # in the wanted shape of a Reshape: as long as it was
_PAIRS = 2  # each axis has a padding before and one behind
_FLOATS = frozenset({1, 10, 11, 16})
"""ONNX's numbers for float32, float16, float64 and bfloat16: all are float32 in training."""
_BOOL = 9  # ONNX's number for yes and no

Operator = Callable[[Attributes, Inputs], Any]
"""From attributes and inputs to the output, or to a tuple of outputs."""


def _convolution(attributes: Attributes, inputs: Inputs) -> Tensor:
    images, weight, bias = inputs[0], inputs[1], _optional(inputs, 2)
    strides = attributes.get("strides", [1, 1])
    dilations = attributes.get("dilations", [1, 1])
    kernel = [
        (size - 1) * dilation + 1
        for size, dilation in zip(weight.shape[2:], dilations, strict=True)
    ]
    images, padding = _padded(images, attributes, kernel, strides)
    return nn.functional.conv2d(
        images, weight, bias, strides, padding, dilations, attributes.get("group", 1)
    )


def _product(attributes: Attributes, inputs: Inputs) -> Tensor:
    first, second, bias = inputs[0], inputs[1], _optional(inputs, 2)
    first = first.mT if attributes.get("transA", 0) else first
    second = second.mT if attributes.get("transB", 0) else second
    found: Tensor = attributes.get("alpha", 1.0) * (first @ second)
    return found if bias is None else found + attributes.get("beta", 1.0) * bias


def _layer_normalisation(attributes: Attributes, inputs: Inputs) -> Tensor:
    values, scale, bias = inputs[0], inputs[1], _optional(inputs, 2)
    axis = attributes.get("axis", -1) % values.ndim
    return nn.functional.layer_norm(
        values, values.shape[axis:], scale, bias, attributes.get("epsilon", 1e-5)
    )


def _batch_normalisation(attributes: Attributes, inputs: Inputs) -> Tensor:
    """BatchNormalization with the file's mean and variance, which training does not change."""
    values, scale, bias, mean, variance = inputs
    return nn.functional.batch_norm(
        values, mean, variance, scale, bias, eps=attributes.get("epsilon", 1e-5)
    )


def _average_pooling(attributes: Attributes, inputs: Inputs) -> Tensor:
    kernel, strides = attributes["kernel_shape"], attributes.get("strides", [1, 1])
    padding = _even_padding(attributes)
    return nn.functional.avg_pool2d(
        inputs[0],
        kernel,
        strides,
        padding,
        ceil_mode=bool(attributes.get("ceil_mode", 0)),
        count_include_pad=bool(attributes.get("count_include_pad", 0)),
    )


def _max_pooling(attributes: Attributes, inputs: Inputs) -> Tensor:
    kernel, strides = attributes["kernel_shape"], attributes.get("strides", [1, 1])
    dilations = attributes.get("dilations", [1, 1])
    is_rounded_up = bool(attributes.get("ceil_mode", 0))
    images, padding = _padded(inputs[0], attributes, kernel, strides, filling=float("-inf"))
    return nn.functional.max_pool2d(
        images, kernel, strides, padding, dilations, ceil_mode=is_rounded_up
    )


def _optional(inputs: Inputs, place: int) -> Any:
    return inputs[place] if len(inputs) > place else None


def _padded(
    images: Tensor,
    attributes: Attributes,
    kernel: Sequence[int],
    strides: Sequence[int],
    *,
    filling: float = 0.0,
) -> tuple[Tensor, list[int]]:
    """Images, padded where needed, and the layer's own padding; torch pads symmetrically."""
    auto_pad = attributes.get("auto_pad", "NOTSET")
    pads = list(attributes.get("pads", [0] * (2 * _PLANE)))
    if auto_pad.startswith("SAME"):
        missing = [
            max((-(-size // stride) - 1) * stride + width - size, 0)
            for size, stride, width in zip(images.shape[2:], strides, kernel, strict=True)
        ]
        less = [each // 2 for each in missing]
        more = [each - half for each, half in zip(missing, less, strict=True)]
        pads = less + more if auto_pad == "SAME_UPPER" else more + less
    top, left, bottom, right = pads
    if (top, left) == (bottom, right):
        return images, [top, left]
    return nn.functional.pad(images, [left, right, top, bottom], value=filling), [0, 0]


def _even_padding(attributes: Attributes) -> list[int]:
    top, left, bottom, right = attributes.get("pads", [0] * (2 * _PLANE))
    if (top, left) != (bottom, right) or attributes.get("auto_pad", "NOTSET") not in {
        "NOTSET",
        "VALID",
    }:
        raise ModelError(
            "training cannot go through this network", found="averages over an uneven border"
        )
    return [top, left]


def _shape(attributes: Attributes, inputs: Inputs) -> Tensor:
    return torch.tensor(
        list(inputs[0].shape)[attributes.get("start", 0) : attributes.get("end")], dtype=torch.int64
    )


def _reshape(attributes: Attributes, inputs: Inputs) -> Tensor:
    values, wanted = inputs[0], inputs[1].tolist()
    if not attributes.get("allowzero", 0):
        wanted = [
            values.shape[place] if size == _KEPT else size for place, size in enumerate(wanted)
        ]
    return values.reshape(wanted)


def _flatten(attributes: Attributes, inputs: Inputs) -> Tensor:
    values, axis = inputs[0], attributes.get("axis", 1)
    rows = int(torch.tensor(values.shape[:axis]).prod())
    return values.reshape(rows, -1)


def _split(attributes: Attributes, inputs: Inputs) -> tuple[Tensor, ...]:
    values, axis = inputs[0], attributes.get("axis", 0)
    if len(inputs) > 1 and inputs[1] is not None:
        return torch.split(values, inputs[1].tolist(), dim=axis)
    if "split" in attributes:
        return torch.split(values, attributes["split"], dim=axis)
    return torch.split(values, -(-values.shape[axis] // attributes["num_outputs"]), dim=axis)


def _slice_of(_attributes: Attributes, inputs: Inputs) -> Tensor:
    """Slice; steps are positive."""
    values, starts, ends = inputs[0], inputs[1].tolist(), inputs[2].tolist()
    has_axes = len(inputs) > 3 and inputs[3] is not None  # noqa: PLR2004
    axes = inputs[3].tolist() if has_axes else range(len(starts))
    steps = inputs[4].tolist() if len(inputs) > 4 else [1] * len(starts)  # noqa: PLR2004
    parts = [slice(None)] * values.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        parts[axis] = slice(start, end, step)
    return values[tuple(parts)]


def _gather(attributes: Attributes, inputs: Inputs) -> Tensor:
    values, places, axis = inputs[0], inputs[1], attributes.get("axis", 0)
    axis = axis % values.ndim
    flat = values.index_select(axis, places.reshape(-1) % values.shape[axis])
    return flat.reshape(*values.shape[:axis], *places.shape, *values.shape[axis + 1 :])


def _squeezed(attributes: Attributes, inputs: Inputs) -> Tensor:
    axes = _axes_of(attributes, inputs)
    return inputs[0].squeeze() if axes is None else inputs[0].squeeze(tuple(axes))


def _unsqueezed(attributes: Attributes, inputs: Inputs) -> Tensor:
    values, axes = inputs[0], _axes_of(attributes, inputs) or []
    for axis in sorted(axis % (values.ndim + len(axes)) for axis in axes):
        values = values.unsqueeze(axis)
    return values


def _expanded(_attributes: Attributes, inputs: Inputs) -> Tensor:
    sizes = np.broadcast_shapes(inputs[0].shape, tuple(inputs[1].tolist()))
    return inputs[0].expand(sizes)


def _filled(attributes: Attributes, inputs: Inputs) -> Tensor:
    value = attributes.get("value")
    return (
        torch.full(inputs[0].tolist(), 0.0)
        if value is None
        else value.expand(inputs[0].tolist()).clone()
    )


def _padded_with_constant(_attributes: Attributes, inputs: Inputs) -> Tensor:
    pads = inputs[1].tolist()
    value = float(inputs[2]) if len(inputs) > _PAIRS and inputs[2] is not None else 0.0
    count = len(pads) // _PAIRS
    pairs = [(pads[place], pads[place + count]) for place in range(count)]
    return nn.functional.pad(
        inputs[0], [each for pair in reversed(pairs) for each in pair], value=value
    )


def _axes_of(attributes: Attributes, inputs: Inputs) -> list[int] | None:
    """Axes as an input, as newer files have them, or as an attribute; None for all."""
    if len(inputs) > 1 and inputs[1] is not None:
        return [int(axis) for axis in inputs[1].tolist()]
    return attributes.get("axes")


def _plain(function: Callable[..., Any]) -> Operator:
    """An operator without attributes."""
    return lambda _attributes, inputs: function(*inputs)


def _reduced(function: Callable[..., Tensor]) -> Operator:
    """An operator over axes."""

    def operator(attributes: Attributes, inputs: Inputs) -> Tensor:
        axes = _axes_of(attributes, inputs)
        keep = bool(attributes.get("keepdims", 1))
        return function(
            inputs[0], tuple(range(inputs[0].ndim)) if axes is None else tuple(axes), keep
        )

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
    return nn.functional.normalize(
        inputs[0], p=attributes.get("p", 2), dim=attributes.get("axis", -1)
    )


OPERATORS: Mapping[str, Operator] = {
    "Abs": _plain(torch.abs),
    "Add": _plain(torch.add),
    "AveragePool": _average_pooling,
    "BatchNormalization": _batch_normalisation,
    "Cast": _cast,
    "Clip": _clipped,
    "Concat": lambda attributes, inputs: torch.cat(list(inputs), dim=attributes["axis"]),
    "ConstantOfShape": _filled,
    "Conv": _convolution,
    "Div": _plain(_divided),
    "Dropout": lambda _attributes, inputs: inputs[0],
    "Equal": _plain(torch.eq),
    "Erf": _plain(torch.erf),
    "Exp": _plain(torch.exp),
    "Expand": _expanded,
    "Flatten": _flatten,
    "Gather": _gather,
    "Gelu": lambda attributes, inputs: nn.functional.gelu(
        inputs[0], approximate=attributes.get("approximate", "none")
    ),
    "Gemm": _product,
    "GlobalAveragePool": lambda _attributes, inputs: inputs[0].mean(dim=(2, 3), keepdim=True),
    "HardSigmoid": lambda attributes, inputs: (
        attributes.get("alpha", 0.2) * inputs[0] + attributes.get("beta", 0.5)
    ).clamp(0.0, 1.0),
    "HardSwish": _plain(nn.functional.hardswish),
    "Identity": _plain(lambda value: value),
    "LayerNormalization": _layer_normalisation,
    "LeakyRelu": lambda attributes, inputs: nn.functional.leaky_relu(
        inputs[0], attributes.get("alpha", 0.01)
    ),
    "LpNormalization": _unit,
    "MatMul": _plain(torch.matmul),
    "Max": _plain(torch.maximum),
    "MaxPool": _max_pooling,
    "Min": _plain(torch.minimum),
    "Mul": _plain(torch.mul),
    "Neg": _plain(torch.neg),
    "Pad": _padded_with_constant,
    "Pow": _plain(torch.pow),
    "Reciprocal": _plain(torch.reciprocal),
    "ReduceL2": _reduced(_length),
    "ReduceMax": _reduced(torch.amax),
    "ReduceMean": _reduced(torch.mean),
    "ReduceSum": _reduced(torch.sum),
    "Relu": _plain(torch.relu),
    "Reshape": _reshape,
    "Shape": _shape,
    "Sigmoid": _plain(torch.sigmoid),
    "Slice": _slice_of,
    "Softmax": lambda attributes, inputs: torch.softmax(inputs[0], dim=attributes.get("axis", -1)),
    "Split": _split,
    "Sqrt": _plain(torch.sqrt),
    "Squeeze": _squeezed,
    "Sub": _plain(torch.sub),
    "Tanh": _plain(torch.tanh),
    "Transpose": lambda attributes, inputs: inputs[0].permute(
        attributes.get("perm", list(range(inputs[0].ndim))[::-1])
    ),
    "Unsqueeze": _unsqueezed,
    "Where": _plain(torch.where),
}
"""Numbers in it are the defaults of ONNX, and places of inputs."""
