import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest

from engine.model_card import BackboneCard, file_hash
from engine.runtime import eight_bit
from engine.runtime.backbone import BackboneSession
from engine.runtime.eight_bit import SOURCE_KEY, cosines, eight_bit_path, open_on_cpu, trial_images
from engine.runtime.providers import CPU_CHOICE
from tests.support.backbones import SIDE, WIDTH, write_tiny_backbone


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A tiny backbone with a companion that is a copy of it."""
    write_tiny_backbone(tmp_path / "tiny.onnx")
    write_companion(tmp_path / "tiny.onnx", tmp_path / "tiny.onnx")
    return tmp_path / "tiny.onnx"


@pytest.fixture
def card(model: Path) -> BackboneCard:
    return write_tiny_backbone(model.with_name("again.onnx"))


@pytest.fixture(autouse=True)
def _any_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    """How fast a companion is on this computer does not decide the tests."""
    monkeypatch.setattr(eight_bit, "GAIN", 0.0)


def write_companion(model: Path, like: Path) -> None:
    """Make a copy of `like` the companion of `model`."""
    network = onnx.load(str(like))
    onnx.helper.set_model_props(network, {SOURCE_KEY: file_hash(model)})
    eight_bit_path(model).write_bytes(network.SerializeToString())


def is_companion(model: Path, card: BackboneCard) -> bool:
    return SOURCE_KEY in open_on_cpu(model, card).get_modelmeta().custom_metadata_map


def test_a_companion_that_agrees_is_used(model: Path, card: BackboneCard) -> None:
    """It has the backbone's name before its ending, and a session runs it."""
    assert eight_bit_path(model).name == "tiny.int8.onnx"
    assert is_companion(model, card)
    assert BackboneSession(model, card, CPU_CHOICE).embed(trial_images(SIDE, 3)).shape == (3, WIDTH)


def test_no_companion_is_needed(model: Path, card: BackboneCard) -> None:
    """Without one the backbone itself is opened."""
    eight_bit_path(model).unlink()
    assert not is_companion(model, card)


def test_a_companion_of_another_file_is_passed_over(model: Path, card: BackboneCard) -> None:
    """The backbone was replaced and the companion was left behind."""
    write_tiny_backbone(model, seed=1)
    assert not is_companion(model, card)


def test_a_companion_that_says_something_else_is_passed_over(model: Path, card: BackboneCard) -> None:
    """As on CPUs whose eight-bit products overflow."""
    write_tiny_backbone(model.with_name("other.onnx"), seed=1)
    write_companion(model, model.with_name("other.onnx"))
    assert not is_companion(model, card)


def test_a_companion_that_is_no_faster_is_passed_over(
    model: Path, card: BackboneCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The backbone itself is exact, so something must be won."""
    monkeypatch.setattr(eight_bit, "GAIN", float("inf"))
    assert not is_companion(model, card)


@pytest.mark.parametrize("content", [b"", b"no network"])
def test_a_broken_companion_is_passed_over(model: Path, card: BackboneCard, content: bytes) -> None:
    """It costs speed, not the run."""
    eight_bit_path(model).write_bytes(content)
    assert not is_companion(model, card)


def test_a_companion_of_another_shape_is_passed_over(model: Path, card: BackboneCard) -> None:
    """One channel in instead of three."""
    write_tiny_backbone(model.with_name("gray.onnx"), channels=1)
    write_companion(model, model.with_name("gray.onnx"))
    assert not is_companion(model, card)


def test_trial_images_have_structure() -> None:
    """The whole range of values, neighbours alike, and the same each time."""
    images = trial_images(32, 2)
    assert images.dtype == np.uint8
    assert (images.shape, int(images.min()), int(images.max())) == ((2, 32, 32, 3), 0, 255)
    assert np.abs(np.diff(images.astype(int), axis=1)).mean() < 40
    assert np.array_equal(images, trial_images(32, 2))


def test_cosines_by_hand() -> None:
    """Rows at 0 and 90 degrees, one of 3-4-5, and one that holds no numbers."""
    first = np.array([[1.0, 0.0], [1.0, 0.0], [3.0, 4.0], [np.nan, 1.0]])
    second = np.array([[2.0, 0.0], [0.0, 5.0], [5.0, 0.0], [1.0, 1.0]])
    assert cosines(first, second).tolist() == pytest.approx([1, 0, 0.6, 0])


def test_nothing_is_left_of_the_copy(model: Path, card: BackboneCard, tmp_path: Path) -> None:
    """Opening writes nothing beside the files."""
    shutil.copytree(tmp_path, tmp_path / "before")
    names = {path.name for path in (tmp_path / "before").iterdir()}
    open_on_cpu(model, card)
    assert {path.name for path in tmp_path.iterdir()} - {"before"} == names
