"""Layers of a network as ONNX names them, in torch: convolutions, pooling, products, normalisation."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import torch
from torch import Tensor, nn

from engine.errors import ModelError

Attributes = Mapping[str, Any]
Inputs = Sequence[Any]
"""Tensors; None where an optional input is left out."""

_PLANE: Final = 2  # height and width: the only places that images have


def convolution(attributes: Attributes, inputs: Inputs) -> Tensor:
    """Conv over height and width."""
    images, weight, bias = inputs[0], inputs[1], _optional(inputs, 2)
    strides = attributes.get("strides", [1, 1])
    dilations = attributes.get("dilations", [1, 1])
    kernel = [(size - 1) * dilation + 1 for size, dilation in zip(weight.shape[2:], dilations, strict=True)]
    images, padding = _padded(images, attributes, kernel, strides)
    return nn.functional.conv2d(images, weight, bias, strides, padding, dilations, attributes.get("group", 1))


def product(attributes: Attributes, inputs: Inputs) -> Tensor:
    """Gemm."""
    first, second, bias = inputs[0], inputs[1], _optional(inputs, 2)
    first = first.mT if attributes.get("transA", 0) else first
    second = second.mT if attributes.get("transB", 0) else second
    found: Tensor = attributes.get("alpha", 1.0) * (first @ second)
    return found if bias is None else found + attributes.get("beta", 1.0) * bias


def layer_normalisation(attributes: Attributes, inputs: Inputs) -> Tensor:
    """LayerNormalization over the last axes."""
    values, scale, bias = inputs[0], inputs[1], _optional(inputs, 2)
    axis = attributes.get("axis", -1) % values.ndim
    return nn.functional.layer_norm(values, values.shape[axis:], scale, bias, attributes.get("epsilon", 1e-5))


def batch_normalisation(attributes: Attributes, inputs: Inputs) -> Tensor:
    """BatchNormalization with the mean and variance that the file holds: training leaves them as they are."""
    values, scale, bias, mean, variance = inputs
    return nn.functional.batch_norm(values, mean, variance, scale, bias, eps=attributes.get("epsilon", 1e-5))


def average_pooling(attributes: Attributes, inputs: Inputs) -> Tensor:
    """AveragePool over height and width."""
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


def max_pooling(attributes: Attributes, inputs: Inputs) -> Tensor:
    """MaxPool over height and width."""
    kernel, strides = attributes["kernel_shape"], attributes.get("strides", [1, 1])
    dilations = attributes.get("dilations", [1, 1])
    is_rounded_up = bool(attributes.get("ceil_mode", 0))
    images, padding = _padded(inputs[0], attributes, kernel, strides, filling=float("-inf"))
    return nn.functional.max_pool2d(images, kernel, strides, padding, dilations, ceil_mode=is_rounded_up)


def global_average(_attributes: Attributes, inputs: Inputs) -> Tensor:
    """GlobalAveragePool."""
    return inputs[0].mean(dim=(2, 3), keepdim=True)


def softmax(attributes: Attributes, inputs: Inputs) -> Tensor:
    """Softmax over one axis."""
    return torch.softmax(inputs[0], dim=attributes.get("axis", -1))


def gelu(attributes: Attributes, inputs: Inputs) -> Tensor:
    """Gelu, exact or by tanh."""
    return nn.functional.gelu(inputs[0], approximate=attributes.get("approximate", "none"))


def hard_sigmoid(attributes: Attributes, inputs: Inputs) -> Tensor:
    """HardSigmoid."""
    return (attributes.get("alpha", 0.2) * inputs[0] + attributes.get("beta", 0.5)).clamp(0.0, 1.0)


def _optional(inputs: Inputs, place: int) -> Any:
    return inputs[place] if len(inputs) > place else None


def _padded(
    images: Tensor, attributes: Attributes, kernel: Sequence[int], strides: Sequence[int], *, filling: float = 0.0
) -> tuple[Tensor, list[int]]:
    """The images and what the layer itself shall pad; torch pads both sides alike, ONNX as it likes."""
    wish = attributes.get("auto_pad", "NOTSET")
    pads = list(attributes.get("pads", [0] * (2 * _PLANE)))
    if wish.startswith("SAME"):
        missing = [
            max((-(-size // stride) - 1) * stride + width - size, 0)
            for size, stride, width in zip(images.shape[2:], strides, kernel, strict=True)
        ]
        less = [each // 2 for each in missing]
        more = [each - half for each, half in zip(missing, less, strict=True)]
        pads = less + more if wish == "SAME_UPPER" else more + less
    top, left, bottom, right = pads
    if (top, left) == (bottom, right):
        return images, [top, left]
    return nn.functional.pad(images, [left, right, top, bottom], value=filling), [0, 0]


def _even_padding(attributes: Attributes) -> list[int]:
    top, left, bottom, right = attributes.get("pads", [0] * (2 * _PLANE))
    if (top, left) != (bottom, right) or attributes.get("auto_pad", "NOTSET") not in {"NOTSET", "VALID"}:
        raise ModelError("training cannot go through this network", found="averages over an uneven border")
    return [top, left]
