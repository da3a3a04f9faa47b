"""A network whose convolutions and products compute in float16, for GPUs with tensor cores.

What follows the last of them stays in float32: pooling cubes its values, and the cube of 41 is
beyond float16. So do constants of eight bits, whose scales are too small for it (decision 95).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.new_file import write_file
from engine.runtime.onnx_runtime import load_half_conversion, read_network

_LAYERS = frozenset({"Conv", "ConvTranspose", "MatMul"})
"""Operators that take nearly all time. Not Gemm, which is the head of pooled values."""


def write_half(model: Path, target: Path) -> None:
    """Write a network's mixed form, with the same inputs and outputs in float32.

    Raises:
        ModelError: the network cannot be read.
        StorageError: the disk refuses.
    """
    network = read_network(model)
    for place, node in enumerate(network.graph.node):
        node.name = str(place)  # some have none, and nodes are left out by name
    conversion = load_half_conversion()
    half = conversion.convert_float_to_float16(
        network, keep_io_types=True, node_block_list=list(nodes_in_float(network.graph))
    )
    # WORKAROUND: the conversion adds a cast twice where two of the nodes left out take the same
    # value, rounds what one of them passes to the next, appends casts behind the nodes that need
    # them, and leaves outdated types.
    unique = {node.name: node for node in half.graph.node}
    del half.graph.node[:]
    half.graph.node.extend(unique.values())
    del half.graph.value_info[:]
    tidied = conversion.OnnxModel(half)
    tidied.remove_cascaded_cast_nodes()
    tidied.topological_sort()
    write_file(target, half.SerializeToString())


def nodes_in_float(graph: Any) -> Iterator[str]:
    """Names of the nodes that stay in float32: after the last layer, and constants of few bits."""
    constants = {initializer.name for initializer in graph.initializer}
    feeds_layer: set[str] = set()
    for node in reversed(graph.node):
        if node.op_type in _LAYERS or not feeds_layer.isdisjoint(node.output):
            feeds_layer.update(node.input)
            if node.op_type != "DequantizeLinear" or node.input[0] not in constants:
                continue
        yield node.name
