"""The mixed form of networks.

Which operators compute in float16, and that the rest keeps embeddings right.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from engine.errors import ModelError
from engine.runtime.eight_bit import cosines
from engine.runtime.half_precision import nodes_in_float, write_half
from engine.runtime.sessions import open_session

IMAGES = np.random.default_rng(0).uniform(0, 100, (3, 4, 5, 5)).astype(np.float32)


def write_network(path: Path, nodes: Sequence[Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Write a network from (B, 4, 5, 5) images to (B, 4) embeddings."""
    graph = helper.make_graph(
        nodes,
        "made up",
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, ["batch", 4, 5, 5])],
        [helper.make_tensor_value_info("embeddings", TensorProto.FLOAT, ["batch", 4])],
        [numpy_helper.from_array(values, name) for name, values in arrays.items()],
        value_info=[  # as torch writes them
            helper.make_tensor_value_info(name, TensorProto.FLOAT, values.shape)
            for name, values in arrays.items()
            if values.dtype == np.float32
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString())


def write_cubic(path: Path) -> None:
    """A convolution that changes nothing, and the cube root of the mean cube.

    Of up to 1,000,000 here.
    """
    nodes = [
        helper.make_node("Conv", ["images", "weights"], ["features"]),
        helper.make_node("Mul", ["features", "features"], ["square"]),
        helper.make_node("Mul", ["square", "features"], ["cube"]),
        helper.make_node("ReduceMean", ["cube", "places"], ["mean"], keepdims=0),
        helper.make_node("Pow", ["mean", "third"], ["embeddings"]),
    ]
    eye = np.eye(4, dtype=np.float32).reshape(4, 4, 1, 1)
    arrays = {"weights": eye, "places": np.array([2, 3]), "third": np.array(1 / 3, np.float32)}
    write_network(path, nodes, arrays)


def embedded(path: Path) -> NDArray[np.float32]:
    """What the file gives where each value is rounded to its type.

    ONNX Runtime leaves roundings out on the CPU.
    """
    (found,) = ReferenceEvaluator(str(path)).run(None, {"images": IMAGES})
    return np.asarray(found)


def kinds_by_operator(path: Path) -> dict[str, set[int]]:
    """Types of the values that each kind of operator gives."""
    model = onnx.shape_inference.infer_shapes(onnx.load(str(path)), strict_mode=True)
    values = (*model.graph.value_info, *model.graph.output)
    kinds = {value.name: value.type.tensor_type.elem_type for value in values}
    found: dict[str, set[int]] = {}
    for node in model.graph.node:
        found.setdefault(node.op_type, set()).add(kinds[node.output[0]])
    return found


def test_pooling_that_float16_cannot_hold_stays_in_float32(tmp_path: Path) -> None:
    """Layers compute in float16, cubes in float32 from one operator to the next; by hand.

    100 cubed is above 65,504.
    """
    write_cubic(tmp_path / "cubic.onnx")
    write_half(tmp_path / "cubic.onnx", tmp_path / "half.onnx")
    kinds = kinds_by_operator(tmp_path / "half.onnx")
    assert kinds["Conv"] == {TensorProto.FLOAT16}
    assert {*kinds["Mul"], *kinds["ReduceMean"], *kinds["Pow"]} == {TensorProto.FLOAT}
    found, expected = embedded(tmp_path / "half.onnx"), embedded(tmp_path / "cubic.onnx")
    assert found.dtype == np.float32
    assert not np.array_equal(found, expected)
    assert cosines(found, expected).min() > 0.9999
    assert open_session(tmp_path / "half.onnx").get_inputs()[0].type == "tensor(float)"


def test_what_stays_in_float32() -> None:
    """All that no convolution or product follows, and weights of few bits.

    Their scales may be below 6e-8.
    """
    nodes = [
        helper.make_node("DequantizeLinear", ["few_bits", "scale"], ["weights"], name="weights"),
        helper.make_node("QuantizeLinear", ["images", "step"], ["bytes"], name="to bytes"),
        helper.make_node("DequantizeLinear", ["bytes", "step"], ["rounded"], name="from bytes"),
        helper.make_node("Conv", ["rounded", "weights"], ["map"], name="layer"),
        helper.make_node("MatMul", ["map", "map"], ["product"], name="product"),
        helper.make_node("Relu", ["map"], ["active"], name="beside"),
        helper.make_node("Gemm", ["active", "head"], ["embeddings"], name="head"),
    ]
    arrays = [
        numpy_helper.from_array(np.zeros(1, dtype=np.int8), name)
        for name in ("few_bits", "scale", "step")
    ]
    graph = helper.make_graph(nodes, "made up", [], [], arrays)
    assert set(nodes_in_float(graph)) == {"weights", "beside", "head"}


def test_a_file_that_is_no_network(tmp_path: Path) -> None:
    """It is named."""
    (tmp_path / "rubbish.onnx").write_bytes(b"rubbish")
    with pytest.raises(ModelError, match=r"rubbish\.onnx"):
        write_half(tmp_path / "rubbish.onnx", tmp_path / "half.onnx")
