"""Weights stored as float16 inside an ONNX file and cast up to float32: half the size, the same arithmetic.

ONNX Runtime folds the casts when it loads the file, so every later run works on float32 weights.
"""

from typing import Any, Final

import numpy as np

from engine.errors import ModelError

SMALLEST_WEIGHT: Final = 256
"""Tensors with fewer numbers stay as they are: biases are cheap, and constants such as exponents must be exact."""


def store_weights_as_half(graph: Any) -> None:
    """Replace each large float32 initializer of an `onnx.GraphProto` by a float16 one and a cast to float32.

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
        casts.append(helper.make_node("Cast", [f"{name}.half"], [name], to=TensorProto.FLOAT, name=f"{name}.cast"))
    nodes = [*casts, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)


def _check_range(name: str, values: Any) -> None:
    largest = float(np.abs(values).max())
    limit = float(np.finfo(np.float16).max)
    if not largest <= limit:
        raise ModelError(
            "a weight does not fit into float16",
            expected=f"values up to {limit:g}",
            found=f"{largest:g} in {name}",
            remedy="export without half weights",
        )
