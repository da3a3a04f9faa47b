"""Writes an ONNX graph node by node: each method adds an operator and returns its output's name."""

from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np
from numpy.typing import DTypeLike

AXES_AS_INPUT: Final = 18
"""From this version of the standard operators on, reductions take their axes as an input."""


@final
class GraphWriter:
    """Collects nodes and arrays for a version of the standard operators, 13 or later.

    Args:
        opset: that version.

    Attributes:
        nodes: `onnx.NodeProto`, in the order in which they run.
        arrays: `onnx.TensorProto`, the constants.
        sparse_arrays: `onnx.SparseTensorProto`, constants of a network that was taken over.
    """

    def __init__(self, opset: int) -> None:
        self.nodes: list[Any] = []
        self.arrays: list[Any] = []
        self.sparse_arrays: list[Any] = []
        self._opset = opset

    def node(self, kind: str, inputs: Sequence[str], name: str, **options: Any) -> str:
        """Add an operator whose only output bears its name."""
        from onnx import helper

        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **options))
        return name

    def array(self, name: str, values: Any, kind: DTypeLike = np.float32) -> str:
        """Add a constant."""
        from onnx import numpy_helper

        self.arrays.append(numpy_helper.from_array(np.array(values, dtype=kind), name))
        return name

    def reduced(
        self, kind: str, source: str, axes: Sequence[int], name: str, *, keeps: bool = True
    ) -> str:
        """Reduce axes by `ReduceSum`, `ReduceMean` or `ReduceL2`."""
        if kind == "ReduceSum" or self._opset >= AXES_AS_INPUT:
            return self.node(
                kind,
                [source, self.array(f"{name}.axes", axes, np.int64)],
                name,
                keepdims=int(keeps),
            )
        return self.node(kind, [source], name, axes=list(axes), keepdims=int(keeps))

    def reshaped(self, source: str, shape: Sequence[int], name: str) -> str:
        """Give values another shape; one of its sides may be -1."""
        return self.node("Reshape", [source, self.array(f"{name}.shape", shape, np.int64)], name)

    def picked(self, source: str, places: Sequence[int], name: str) -> str:
        """Take these columns, in this order."""
        return self.node(
            "Gather", [source, self.array(f"{name}.places", places, np.int64)], name, axis=1
        )

    def cast(self, source: str, kind: DTypeLike, name: str) -> str:
        """Turn values into numbers of another kind."""
        from onnx import helper

        return self.node("Cast", [source], name, to=helper.np_dtype_to_tensor_dtype(np.dtype(kind)))

    def unit(self, source: str, smallest: float, name: str) -> str:
        """Scale rows to length 1; shorter ones than `smallest` are divided by that."""
        length = self.reduced("ReduceL2", source, [1], f"{name}.length")
        divisor = self.node(
            "Max", [length, self.array(f"{name}.smallest", smallest)], f"{name}.divisor"
        )
        return self.node("Div", [source, divisor], name)
