"""A network that takes pixels gives what it gave before, whatever its card says."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from engine.errors import ModelError
from engine.model_card import BackboneCard
from engine.runtime.backbone_input import InputOutput, Preparation, input_output, input_shape
from engine.runtime.pixel_input import PIXELS, write_with_pixels
from engine.runtime.sessions import open_session, run_session
from tests.support.backbones import SIDE, tiny_card

OPSET = 17
CARD = replace(tiny_card(), mean=(0.4, 0.5, 0.6), std=(0.2, 0.25, 0.3))


def write_echo(path: Path, card: BackboneCard, kind: int = TensorProto.FLOAT) -> InputOutput:
    """A network that gives what it is given, in one row for each image."""
    given = helper.make_tensor_value_info("images", kind, ["B", *input_shape(card)])
    found = helper.make_tensor_value_info("rows", kind, ["B", None])
    nodes = [helper.make_node("Flatten", ["images"], ["rows"], axis=1)]
    graph = helper.make_graph(nodes, "echo", [given], [found])
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8), path
    )
    return input_output(open_session(path), card)


@pytest.mark.parametrize(
    "card",
    [
        CARD,
        replace(CARD, layout="nhwc"),
        replace(CARD, channel_order="bgr", value_scale=255.0),
        replace(CARD, channel_order="grey"),
    ],
    ids=["rgb", "channels last", "bgr", "grey"],
)
@pytest.mark.parametrize("kind", [TensorProto.FLOAT, TensorProto.FLOAT16])
def test_pixels_are_prepared_as_in_numpy(tmp_path: Path, card: BackboneCard, kind: int) -> None:
    ends = write_echo(tmp_path / "echo.onnx", card, kind)
    write_with_pixels(tmp_path / "echo.onnx", tmp_path / "pixels.onnx", card, ends)
    pixels = np.random.default_rng(1).integers(0, 256, (3, SIDE, SIDE, 3), dtype=np.uint8)
    (found,) = run_session(open_session(tmp_path / "pixels.onnx"), {PIXELS: pixels})
    expected = Preparation(card).prepare(pixels).astype(ends.input_type).reshape(3, -1)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(
        found, expected, rtol=1e-3 if kind == TensorProto.FLOAT16 else 1e-5, atol=1e-6
    )


def test_a_damaged_network_is_an_error(tmp_path: Path) -> None:
    ends = write_echo(tmp_path / "echo.onnx", CARD)
    (tmp_path / "echo.onnx").write_bytes(b"no network")
    with pytest.raises(ModelError, match="cannot be opened"):
        write_with_pixels(tmp_path / "echo.onnx", tmp_path / "pixels.onnx", CARD, ends)


def test_a_network_in_several_files_stays_as_it_is(tmp_path: Path) -> None:
    """Its pixels are prepared in numpy."""
    ends = write_echo(tmp_path / "echo.onnx", CARD)
    network = onnx.load(tmp_path / "echo.onnx")
    network.graph.initializer.append(
        numpy_helper.from_array(np.zeros(2000, dtype=np.float32), "weights")
    )
    onnx.save(
        network,
        tmp_path / "echo.onnx",
        save_as_external_data=True,
        location="echo.data",
        size_threshold=0,
    )
    assert not write_with_pixels(tmp_path / "echo.onnx", tmp_path / "pixels.onnx", CARD, ends)
    assert not (tmp_path / "pixels.onnx").exists()
