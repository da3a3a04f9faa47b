"""Writes an ONNX graph as expressions over numpy arrays are written."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import DTypeLike

AXES_AS_INPUT = 18
"""From this version of the standard operators on, reductions take their axes as an input."""


@final
@dataclass(frozen=True, eq=False)
class Value:
    """A value in a graph, whose operators and methods add nodes to the graph.

    The other operands are values of the same graph or constants, see `GraphWriter.constant`.
    """

    graph: "GraphWriter"
    name: str
    __array_ufunc__ = None  # of an array and a value, numpy leaves the operator to the value

    def apply(self, kind: str, *others: Any, name: str = "", **options: Any) -> "Value":
        """Add an operator whose first input is this value, see `GraphWriter.add`."""
        return self.graph.add(kind, self, *others, name=name, **options)

    def __add__(self, other: Any) -> "Value":
        return self.apply("Add", other)

    def __sub__(self, other: Any) -> "Value":
        return self.apply("Sub", other)

    def __rsub__(self, other: Any) -> "Value":
        return self.graph.add("Sub", other, self)

    def __mul__(self, other: Any) -> "Value":
        return self.apply("Mul", other)

    def __truediv__(self, other: Any) -> "Value":
        return self.apply("Div", other)

    def __matmul__(self, other: Any) -> "Value":
        return self.apply("MatMul", other)

    def __gt__(self, other: Any) -> "Value":
        return self.apply("Greater", other)

    def reduced(
        self, kind: str, axes: Sequence[int] = (1,), *, keeps: bool = True, name: str = ""
    ) -> "Value":
        """Reduce axes by `ReduceSum`, `ReduceMean` or `ReduceL2`."""
        if kind == "ReduceSum" or self.graph.opset >= AXES_AS_INPUT:
            return self.apply(kind, list(axes), name=name, keepdims=int(keeps))
        return self.apply(kind, name=name, axes=list(axes), keepdims=int(keeps))

    def sum(self) -> "Value":
        """Sums (n, 1) of rows (n, d)."""
        return self.reduced("ReduceSum")

    def reshaped(self, shape: Sequence[int]) -> "Value":
        """The same values in another shape; one of its sides may be -1."""
        return self.apply("Reshape", list(shape))

    def columns(self, places: Any) -> "Value":
        """These columns, in this order."""
        return self.apply("Gather", places, axis=1)

    def cast(self, kind: DTypeLike) -> "Value":
        """The same values as numbers of another kind."""
        from onnx import helper

        return self.apply("Cast", to=helper.np_dtype_to_tensor_dtype(np.dtype(kind)))

    def unit(self, shortest: float, name: str = "") -> "Value":
        """Rows scaled to length 1; shorter ones than `shortest` are divided by that."""
        length = self.reduced("ReduceL2").apply("Max", shortest)
        return self.apply("Div", length, name=name)


@final
class GraphWriter:
    """Collects nodes and arrays for a version of the standard operators, 13 or later.

    Args:
        opset: that version.
        prefix: of the names of nodes and constants, where several graphs become one.

    Attributes:
        nodes: `onnx.NodeProto`, in the order in which they run.
        arrays: `onnx.TensorProto`, the constants.
        sparse_arrays: `onnx.SparseTensorProto`, constants of a network that was taken over.
    """

    def __init__(self, opset: int, prefix: str = "") -> None:
        self.opset = opset
        self.nodes: list[Any] = []
        self.arrays: list[Any] = []
        self.sparse_arrays: list[Any] = []
        self._prefix = prefix

    def value(self, name: str) -> Value:
        """The input or output of a node of this name."""
        return Value(self, name)

    def constant(self, values: Any) -> Value:
        """Add an array, numbers or a number: integers as int64, all others as float32."""
        from onnx import numpy_helper

        array = np.asarray(values)
        kind = np.int64 if array.dtype.kind in "iu" else np.float32
        name = f"{self._prefix}constant{len(self.arrays)}"
        self.arrays.append(numpy_helper.from_array(np.array(array, dtype=kind), name))
        return self.value(name)

    def add(
        self,
        kind: str,
        *inputs: Any,
        name: str = "",
        more_outputs: Sequence[str] = (),
        **options: Any,
    ) -> Value:
        """Add an operator, and return its first output, which has the name of the node.

        Args:
            kind: of the operator.
            inputs: values, or constants.
            name: of the node; by default a new one.
            more_outputs: names of further outputs.
            options: attributes of the operator.
        """
        from onnx import helper

        names = [(each if isinstance(each, Value) else self.constant(each)).name for each in inputs]
        name = name or f"{self._prefix}{kind}{len(self.nodes)}"
        node = helper.make_node(kind, names, [name, *more_outputs], name=name, **options)
        self.nodes.append(node)
        return self.value(name)
