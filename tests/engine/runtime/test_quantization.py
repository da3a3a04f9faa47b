import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

from engine.errors import InputError, ModelError, StorageError
from engine.model_card import file_hash
from engine.runtime import quantization
from engine.runtime.eight_bit import SOURCE_KEY, eight_bit_path, trial_images
from engine.runtime.quantization import layers_in_float, write_eight_bit
from tests.support.backbones import SIDE, write_tiny_backbone
from tests.support.full_disk import full_disk_after


def test_the_companion_says_the_same_in_small_integers(tmp_path: Path) -> None:
    """It is written beside the backbone, knows what it was made from, holds eight-bit weights, and agrees."""
    model = tmp_path / "tiny.onnx"
    card = write_tiny_backbone(model)
    before = model.read_bytes()
    report = write_eight_bit(model, card, trial_images(SIDE, 40))
    assert report.path == eight_bit_path(model)
    assert report.size_bytes == report.path.stat().st_size
    assert 0.999 < report.least_cosine <= report.mean_cosine <= 1
    network = onnx.load(str(report.path))
    assert {entry.key: entry.value for entry in network.metadata_props}[SOURCE_KEY] == file_hash(model)
    assert onnx.TensorProto.INT8 in {tensor.data_type for tensor in network.graph.initializer}
    assert model.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tiny.card.json", "tiny.int8.onnx", "tiny.onnx"]


def test_few_images_are_refused(tmp_path: Path) -> None:
    """Ranges cannot be read off a handful of images."""
    card = write_tiny_backbone(tmp_path / "tiny.onnx")
    with pytest.raises(InputError, match="too few"):
        write_eight_bit(tmp_path / "tiny.onnx", card, trial_images(SIDE, 9))


def test_an_unfaithful_companion_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit that nothing reaches leaves the folder as it was."""
    card = write_tiny_backbone(tmp_path / "tiny.onnx")
    monkeypatch.setattr(quantization, "FIDELITY", 1.1)
    with pytest.raises(ModelError, match="eight bits are too few"):
        write_eight_bit(tmp_path / "tiny.onnx", card, trial_images(SIDE, 20))
    assert not list(tmp_path.glob("*.int8.onnx"))
    assert not list(tmp_path.glob(".*"))


def test_a_backbone_that_is_none(tmp_path: Path) -> None:
    """A file that is no network is a model error."""
    card = write_tiny_backbone(tmp_path / "tiny.onnx")
    (tmp_path / "tiny.onnx").write_bytes(b"no network")
    with pytest.raises(ModelError, match="cannot be opened"):
        write_eight_bit(tmp_path / "tiny.onnx", card, np.zeros((20, SIDE, SIDE, 3), dtype=np.uint8))


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on file sizes here")
def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    """The companion is there as a whole or not at all."""
    card = write_tiny_backbone(tmp_path / "tiny.onnx")
    with full_disk_after(1000), pytest.raises((StorageError, ModelError)):
        write_eight_bit(tmp_path / "tiny.onnx", card, trial_images(SIDE, 20))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tiny.card.json", "tiny.onnx"]


def test_what_one_companion_leaves_in_float_the_next_one_does(tmp_path: Path) -> None:
    """A network with other weights is as fast as the one that it came from."""
    model = tmp_path / "tiny.onnx"
    card = write_tiny_backbone(model)
    assert layers_in_float(model) == ()
    write_eight_bit(model, card, trial_images(SIDE, 20))
    assert layers_in_float(model) == ()
    write_eight_bit(model, card, trial_images(SIDE, 20), in_float=["features", "active"])
    assert layers_in_float(model) == ("features", "active")
    eight_bit_path(model).write_bytes(b"no network")
    with pytest.raises(ModelError, match="cannot be read"):
        layers_in_float(model)
