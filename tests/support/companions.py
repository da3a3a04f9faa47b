"""8-bit companions, made without quantisation, and the bounds of their weights."""

from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from engine.model_card import file_hash
from engine.runtime.eight_bit import SOURCE_KEY, eight_bit_path

LARGEST_ACTIVATION = 255
LARGEST_SUM = 2**15 - 1  # of one 16-bit step in AVX2


def write_companion(model: Path, like: Path) -> Path:
    """Make a copy of `like` the companion of `model`."""
    network = onnx.load(str(like))
    onnx.helper.set_model_props(network, {SOURCE_KEY: file_hash(model)})
    eight_bit_path(model).write_bytes(network.SerializeToString())
    return eight_bit_path(model)


def cannot_overflow(companion: Path) -> bool:
    """Whether two products with the largest weights of a convolution fit into 16 bits."""
    network = onnx.load(str(companion))
    arrays = {each.name: numpy_helper.to_array(each) for each in network.graph.initializer}
    made = {node.output[0]: node for node in network.graph.node}
    weights = [
        arrays[made[node.input[1]].input[0]]
        for node in network.graph.node
        if node.op_type == "Conv" and node.input[1] in made
    ]
    assert weights, "it computes in eight bits"
    assert {each.dtype for each in weights} == {np.dtype(np.int8)}
    largest = max(int(np.abs(each.astype(np.int16)).max()) for each in weights)
    return 2 * LARGEST_ACTIVATION * largest <= LARGEST_SUM
