"""Exported models of others are tried in a process with limits before use."""

import hashlib
import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from engine.bundle import opened
from engine.bundle.classifier_graph import IMAGES
from engine.bundle.opened import try_bundle
from engine.errors import ModelError, ProtoleafError
from engine.worker.limits import Limits
from tests.support.command_line import refused

pytestmark = pytest.mark.slow

NARROW = Limits(seconds=8.0, memory_bytes=2**30, file_bytes=2**30)


def make_endless(folder: Path) -> None:
    """Make an exported network count to 2^62 before it returns."""
    path = folder / "classifier.onnx"
    model = onnx.load(path)
    for node in model.graph.node:
        node.input[:] = ["slow_images" if name == IMAGES else name for name in node.input]
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["going"], ["go_on"]),
            helper.make_node("Mul", ["state", "state"], ["next_state"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("turn", TensorProto.INT64, ()),
            helper.make_tensor_value_info("going", TensorProto.BOOL, ()),
            helper.make_tensor_value_info("state", TensorProto.UINT8, None),
        ],
        [
            helper.make_tensor_value_info("go_on", TensorProto.BOOL, ()),
            helper.make_tensor_value_info("next_state", TensorProto.UINT8, None),
        ],
    )
    model.graph.node.insert(
        0, helper.make_node("Loop", ["endless_turns", "", IMAGES], ["slow_images"], body=body)
    )
    model.graph.initializer.append(
        numpy_helper.from_array(np.array(2**62, dtype=np.int64), "endless_turns")
    )
    onnx.save(model, path)
    classes = folder / "classes.json"
    fields = json.loads(classes.read_text(encoding="utf-8"))
    fields["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    classes.write_text(json.dumps(fields), encoding="utf-8")


def test_a_sound_model_answers(bundle: Path) -> None:
    """Its duration is reported."""
    assert 0 < try_bundle(bundle).seconds < NARROW.seconds


def test_an_endless_model_is_ended(
    bundle: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`classify --model` refuses it in one line."""
    make_endless(bundle)
    with pytest.raises(ModelError, match="takes too long"):
        try_bundle(bundle, limits=NARROW)
    monkeypatch.setattr(opened, "usual_limits", lambda: NARROW)
    out = tmp_path / "out.csv"
    assert "takes too long" in refused(capsys, "classify", "--model", bundle, "-o", out, bundle)
    assert not out.exists()


def test_what_is_no_model_is_refused_there(tmp_path: Path) -> None:
    """With the same reason as by opening."""
    with pytest.raises(ProtoleafError, match="not an exported model"):
        try_bundle(tmp_path)
