"""Preprocessing as operators of the network, so that only bytes are copied to a device."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from engine.model_card import BackboneCard
from engine.new_file import write_file
from engine.runtime.backbone_input import LUMINANCE, InputOutput, Preparation
from engine.runtime.onnx_runtime import read_network

PIXELS = "pixels"  # input: (B, side, side, 3) uint8 RGB
_PREFIX = "pixels."  # of names of values. Chosen: no exporter makes such.

Nodes = list[Any]
"""Of `onnx.NodeProto`."""
Arrays = list[Any]
"""Of `onnx.TensorProto`."""


def preparation_nodes(
    card: BackboneCard, source: str, prepared: str, kind: DTypeLike
) -> tuple[Nodes, Arrays]:
    """Operators from pixels (B, side, side, 3) uint8 to the network's input, as `Preparation`.

    Args:
        source, prepared: names of both.
        kind: type of `prepared`.
    """
    from onnx import TensorProto, helper, numpy_helper

    feed, nodes, arrays = Preparation(card), Nodes(), Arrays()

    def node(operator: str, *inputs: str, **attributes: Any) -> str:
        name = f"{_PREFIX}{len(nodes)}"
        nodes.append(helper.make_node(operator, inputs, [name], name=name, **attributes))
        return name

    def array(values: object, dtype: DTypeLike = np.float32) -> str:
        name = f"{_PREFIX}array.{len(arrays)}"
        arrays.append(numpy_helper.from_array(np.array(values, dtype=dtype), name))
        return name

    channels = list(feed.channels)
    values = node("Cast", source, to=TensorProto.FLOAT)
    if card.channels == 1:
        values = node("MatMul", values, array(LUMINANCE[:, None]))
    elif channels != sorted(channels):
        values = node("Gather", values, array(channels, np.int64), axis=3)
    values = node("Mul", values, array(feed.scale[channels]))
    values = node("Add", values, array(feed.shift[channels]))
    if card.layout == "nchw":
        values = node("Transpose", values, perm=[0, 3, 1, 2])
    wanted = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    nodes.append(
        helper.make_node("Cast", [values], [prepared], name=f"{_PREFIX}prepared", to=wanted)
    )
    return nodes, arrays


def write_with_pixels(model: Path, target: Path, card: BackboneCard, ends: InputOutput) -> bool:
    """Write a network that takes `PIXELS` instead of what it takes.

    Returns:
        whether it was written: a network with external data is not.

    Raises:
        ModelError: the network cannot be read.
        StorageError: the disk refuses.
    """
    import onnx

    network = read_network(model)
    if any(
        onnx.external_data_helper.uses_external_data(each) for each in network.graph.initializer
    ):
        return False
    nodes, arrays = preparation_nodes(card, PIXELS, ends.input_name, ends.input_type)
    graph = network.graph
    given = next(each for each in graph.input if each.name == ends.input_name)
    batch = given.type.tensor_type.shape.dim[0]
    pixels = onnx.helper.make_tensor_value_info(
        PIXELS, onnx.TensorProto.UINT8, [None, card.input_side, card.input_side, 3]
    )
    pixels.type.tensor_type.shape.dim[0].CopyFrom(batch)
    graph.input.remove(given)
    graph.input.insert(0, pixels)
    rest = list(graph.node)
    del graph.node[:]
    graph.node.extend([*nodes, *rest])
    graph.initializer.extend(arrays)
    write_file(target, network.SerializeToString())
    return True
