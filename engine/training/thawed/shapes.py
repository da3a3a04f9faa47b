"""What ONNX does to the shapes of tensors, in torch."""

from typing import Final

import numpy as np
import torch
from torch import Tensor, nn

from engine.training.thawed.layers import Attributes, Inputs

_KEPT: Final = 0  # in the wanted shape of a Reshape: as long as it was
_PAIRS: Final = 2  # each axis has a padding before and one behind


def shape(attributes: Attributes, inputs: Inputs) -> Tensor:
    """Shape, or a part of it."""
    return torch.tensor(list(inputs[0].shape)[attributes.get("start", 0) : attributes.get("end")], dtype=torch.int64)


def reshape(attributes: Attributes, inputs: Inputs) -> Tensor:
    """Reshape."""
    values, wanted = inputs[0], inputs[1].tolist()
    if not attributes.get("allowzero", 0):
        wanted = [values.shape[place] if size == _KEPT else size for place, size in enumerate(wanted)]
    return values.reshape(wanted)


def flatten(attributes: Attributes, inputs: Inputs) -> Tensor:
    """Flatten to a matrix."""
    values, axis = inputs[0], attributes.get("axis", 1)
    rows = int(torch.tensor(values.shape[:axis]).prod())
    return values.reshape(rows, -1)


def transpose(attributes: Attributes, inputs: Inputs) -> Tensor:
    """Transpose."""
    order = attributes.get("perm", list(range(inputs[0].ndim))[::-1])
    return inputs[0].permute(order)


def concatenation(attributes: Attributes, inputs: Inputs) -> Tensor:
    """Concat."""
    return torch.cat(list(inputs), dim=attributes["axis"])


def split(attributes: Attributes, inputs: Inputs) -> tuple[Tensor, ...]:
    """Split along an axis."""
    values, axis = inputs[0], attributes.get("axis", 0)
    if len(inputs) > 1 and inputs[1] is not None:
        return torch.split(values, inputs[1].tolist(), dim=axis)
    if "split" in attributes:
        return torch.split(values, attributes["split"], dim=axis)
    return torch.split(values, -(-values.shape[axis] // attributes["num_outputs"]), dim=axis)


def slice_of(_attributes: Attributes, inputs: Inputs) -> Tensor:
    """Slice; steps are positive."""
    values, starts, ends = inputs[0], inputs[1].tolist(), inputs[2].tolist()
    axes = inputs[3].tolist() if len(inputs) > 3 and inputs[3] is not None else range(len(starts))  # noqa: PLR2004
    steps = inputs[4].tolist() if len(inputs) > 4 else [1] * len(starts)  # noqa: PLR2004
    parts = [slice(None)] * values.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        parts[axis] = slice(start, end, step)
    return values[tuple(parts)]


def gather(attributes: Attributes, inputs: Inputs) -> Tensor:
    """Gather along an axis."""
    values, places, axis = inputs[0], inputs[1], attributes.get("axis", 0)
    axis = axis % values.ndim
    flat = values.index_select(axis, places.reshape(-1) % values.shape[axis])
    return flat.reshape(*values.shape[:axis], *places.shape, *values.shape[axis + 1 :])


def squeezed(attributes: Attributes, inputs: Inputs) -> Tensor:
    """Squeeze."""
    axes = axes_of(attributes, inputs)
    return inputs[0].squeeze() if axes is None else inputs[0].squeeze(tuple(axes))


def unsqueezed(attributes: Attributes, inputs: Inputs) -> Tensor:
    """Unsqueeze."""
    values, axes = inputs[0], axes_of(attributes, inputs) or []
    for axis in sorted(axis % (values.ndim + len(axes)) for axis in axes):
        values = values.unsqueeze(axis)
    return values


def expanded(_attributes: Attributes, inputs: Inputs) -> Tensor:
    """Expand: a length of 1 on either side gives way."""
    sizes = np.broadcast_shapes(inputs[0].shape, tuple(inputs[1].tolist()))
    return inputs[0].expand(sizes)


def filled(attributes: Attributes, inputs: Inputs) -> Tensor:
    """ConstantOfShape."""
    value = attributes.get("value")
    return torch.full(inputs[0].tolist(), 0.0) if value is None else value.expand(inputs[0].tolist()).clone()


def padded(_attributes: Attributes, inputs: Inputs) -> Tensor:
    """Pad with a constant."""
    pads = inputs[1].tolist()
    value = float(inputs[2]) if len(inputs) > _PAIRS and inputs[2] is not None else 0.0
    count = len(pads) // _PAIRS
    pairs = [(pads[place], pads[place + count]) for place in range(count)]
    return nn.functional.pad(inputs[0], [each for pair in reversed(pairs) for each in pair], value=value)


def axes_of(attributes: Attributes, inputs: Inputs) -> list[int] | None:
    """Axes as an input, as newer files have them, or as an attribute; None for all."""
    if len(inputs) > 1 and inputs[1] is not None:
        return [int(axis) for axis in inputs[1].tolist()]
    return attributes.get("axes")
