import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

from engine.errors import InputError, ModelError, StorageError
from engine.model_card import file_hash
from engine.runtime import quantization
from engine.runtime.activations import (
    Activations,
    measure_activations,
    read_activations,
    write_activations,
)
from engine.runtime.backbone_input import Preparation
from engine.runtime.eight_bit import SOURCE_KEY, check_photos, eight_bit_path, trial_images
from engine.runtime.quantization import (
    compensate_rounding,
    layers_in_float,
    mean_lost,
    write_eight_bit,
)
from tests.support.backbones import SIDE, tiny_weights, write_tiny_backbone
from tests.support.companions import cannot_overflow
from tests.support.full_disk import full_disk_after


def test_the_companion_says_the_same_in_small_integers(tmp_path: Path) -> None:
    """Written beside the backbone with its origin, it holds eight-bit weights, and agrees."""
    model = tmp_path / "tiny.onnx"
    card = write_tiny_backbone(model)
    before = model.read_bytes()
    report = write_eight_bit(model, card, trial_images(SIDE, 40))
    assert report.path == eight_bit_path(model)
    assert report.size_bytes == report.path.stat().st_size
    assert cannot_overflow(report.path)
    assert 0.999 < report.least_cosine <= report.mean_cosine <= 1
    network = onnx.load(str(report.path))
    assert {entry.key: entry.value for entry in network.metadata_props}[SOURCE_KEY] == file_hash(
        model
    )
    assert onnx.TensorProto.INT8 in {tensor.data_type for tensor in network.graph.initializer}
    assert model.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "tiny.card.json",
        "tiny.int8.onnx",
        "tiny.onnx",
    ]


def test_no_product_overflows_whatever_the_weights(tmp_path: Path) -> None:
    """A channel of one large weight among small ones, and one of equal weights.

    Both at the limit, never above.
    """
    model = tmp_path / "tiny.onnx"
    card = write_tiny_backbone(model)
    network = onnx.load(str(model))
    weights = tiny_weights()
    weights[0] = 0.01
    weights[0, 0, 0, 0] = 100.0
    weights[1] = 1.0
    network.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(weights, "weights"))
    onnx.save(network, str(model))
    assert cannot_overflow(write_eight_bit(model, card, check_photos(card, 20)).path)


def test_what_rounding_takes_away_is_in_the_bias(tmp_path: Path) -> None:
    """Two channels of mean 2 and 3.

    By weights 1 and 0.5 / 64 the second rounds to 0, and loses 3 x 0.5 / 64.
    """
    activations = Activations(
        {"active": (0.0, 6.0), "out": (0.0, 9.0)}, {"active": np.array([2, 3], np.float32)}
    )
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Conv", ["active", "weights"], ["out"], name="out")],
        "one convolution",
        [onnx.helper.make_tensor_value_info("active", onnx.TensorProto.FLOAT, ["batch", 2, 4, 4])],
        [onnx.helper.make_tensor_value_info("out", onnx.TensorProto.FLOAT, ["batch", 1, 4, 4])],
        [onnx.numpy_helper.from_array(np.array([[[[1.0]], [[0.5 / 64]]]], np.float32), "weights")],
    )
    network = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8
    )
    onnx.save(network, str(tmp_path / "plain.onnx"))
    compensate_rounding(tmp_path / "plain.onnx", {"out"}, activations.means)
    (bias,) = (
        onnx.numpy_helper.to_array(each)
        for each in onnx.load(str(tmp_path / "plain.onnx")).graph.initializer
        if each.name != "weights"
    )
    assert bias.tolist() == pytest.approx([3 * 0.5 / 64])


def test_groups_are_compensated_by_their_own_channels(tmp_path: Path) -> None:
    """Four channels in two groups: the first output hears the first two alone."""
    weights = np.array([[1, 0.25 / 64], [1, 0.25 / 64]], np.float64).reshape(2, 2, 1, 1)
    assert mean_lost(weights, np.array([5.0, 4.0, 7.0, 8.0])).tolist() == pytest.approx(
        [4 * 0.25 / 64, 8 * 0.25 / 64]
    )


def test_activations_are_measured(tmp_path: Path) -> None:
    """Ranges of the layers' inputs and outputs, and means of convolved values."""
    model = tmp_path / "tiny.onnx"
    card = write_tiny_backbone(model)
    photos = check_photos(card, 11)
    found = measure_activations(model, card, photos)
    inputs = Preparation(card).prepare(photos)
    assert set(found.ranges) == {"images", "features", "active"}
    assert found.ranges["images"] == pytest.approx(
        (float(inputs.min()), float(inputs.max())), rel=1e-4
    )
    assert found.ranges["active"] == (0.0, found.ranges["features"][1])
    assert list(found.means) == ["images"]
    assert found.means["images"] == pytest.approx(inputs.mean(axis=(0, 2, 3)), abs=1e-4)


def test_activations_are_kept_in_a_file(tmp_path: Path) -> None:
    """What was written is read, the same bytes each time; a damaged file is a model error."""
    activations = Activations(
        {"a": (-1.5, 2.0), "b.c": (0.0, 6.0)},
        {"a": np.array([0.5, 1.5], np.float32), "b.c": np.array([3.0], np.float32)},
    )
    paths = [tmp_path / f"{number}.npz" for number in range(2)]
    for path in paths:
        write_activations(path, activations)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    found = read_activations(paths[0])
    assert found.ranges == activations.ranges
    assert {name: mean.tolist() for name, mean in found.means.items()} == {
        "a": [0.5, 1.5],
        "b.c": [3.0],
    }
    paths[0].write_bytes(paths[0].read_bytes()[:100])
    with pytest.raises(ModelError, match="cannot be read"):
        read_activations(paths[0])


def test_few_images_are_refused(tmp_path: Path) -> None:
    """Ranges cannot be read off a handful of images."""
    card = write_tiny_backbone(tmp_path / "tiny.onnx")
    with pytest.raises(InputError, match="too few"):
        write_eight_bit(tmp_path / "tiny.onnx", card, trial_images(SIDE, 9))


def test_an_unfaithful_companion_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
