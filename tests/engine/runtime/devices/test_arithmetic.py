"""A network's arithmetic, by hand, and a device's best."""

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from engine.config import assets_folder
from engine.errors import ModelError
from engine.runtime.devices.arithmetic import PRODUCT_MODEL, Product, operations_of
from engine.runtime.devices.facts import CPU_PROVIDER
from tests.support.backbones import SIDE, WIDTH, write_tiny_backbone


def product_model() -> onnx.ModelProto:
    """One matrix product of any size: what `product.onnx` was made by."""
    sides = {"a": ["rows", "inner"], "b": ["inner", "columns"], "product": ["rows", "columns"]}
    values = {
        name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in sides.items()
    }
    node = helper.make_node("MatMul", ["a", "b"], ["product"])
    graph = helper.make_graph([node], "product", [values["a"], values["b"]], [values["product"]])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def test_convolution(tmp_path: Path) -> None:
    """The tiny backbone: 16 x 16 places, 16 channels, 3 x 3 x 3 products and as many additions."""
    write_tiny_backbone(tmp_path / "tiny.onnx")
    by_hand = 2 * (SIDE // 2) ** 2 * WIDTH * 27
    assert operations_of(tmp_path / "tiny.onnx", (3, SIDE, SIDE)) == by_hand


def test_matrix_product(tmp_path: Path) -> None:
    """(1, 5) x (5, 7) takes 35 products and as many additions."""
    weights = helper.make_tensor("b", TensorProto.FLOAT, [5, 7], [1.0] * 35)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["a", "b"], ["c"])],
        "one",
        [helper.make_tensor_value_info("a", TensorProto.FLOAT, ["batch", 5])],
        [helper.make_tensor_value_info("c", TensorProto.FLOAT, ["batch", 7])],
        [weights],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    (tmp_path / "one.onnx").write_bytes(model.SerializeToString())
    assert operations_of(tmp_path / "one.onnx", (5,)) == 70


def test_rubbish(tmp_path: Path) -> None:
    """What is no model has no arithmetic."""
    (tmp_path / "rubbish.onnx").write_bytes(b"rubbish")
    with pytest.raises(ModelError):
        operations_of(tmp_path / "rubbish.onnx", (3, SIDE, SIDE))


def test_best_of_the_cpu() -> None:
    """A matrix product gives a rate.

    Above what any computer falls short of, below what none reaches.
    """
    for workers in (1, 3):
        assert 1e6 < Product(CPU_PROVIDER, workers=workers, side=128).measure(0.01) < 1e15


def test_product_can_be_made_again() -> None:
    """The shipped file is one matrix product, byte for byte."""
    assert (assets_folder() / PRODUCT_MODEL).read_bytes() == product_model().SerializeToString()
