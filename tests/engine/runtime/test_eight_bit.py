import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

from engine.backbones.model_files import FAST, bundled_path
from engine.errors import ModelError
from engine.model_card import BackboneCard, file_hash, read_card
from engine.runtime import backbone, eight_bit
from engine.runtime.backbone import BackboneSession
from engine.runtime.eight_bit import (
    check_photos,
    companion_of,
    cosines,
    eight_bit_path,
    embedding_identity,
    trial_images,
)
from engine.runtime.providers import CPU_CHOICE
from engine.runtime.sessions import open_session
from tests.support.backbones import SIDE, WIDTH, write_tiny_backbone
from tests.support.companions import cannot_overflow, write_companion


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A tiny backbone with a companion that is a copy of it."""
    write_tiny_backbone(tmp_path / "tiny.onnx")
    write_companion(tmp_path / "tiny.onnx", tmp_path / "tiny.onnx")
    return tmp_path / "tiny.onnx"


@pytest.fixture
def card(model: Path) -> BackboneCard:
    return read_card(model)


def test_the_companion_embeds(model: Path, card: BackboneCard) -> None:
    """It has the backbone's name before its ending, and a session runs it."""
    assert eight_bit_path(model).name == "tiny.int8.onnx"
    assert companion_of(model) == eight_bit_path(model)
    session = BackboneSession(model, card, CPU_CHOICE)
    assert session.is_eight_bit
    assert session.embed(trial_images(SIDE, 3)).shape == (3, WIDTH)


def _remove(model: Path) -> None:
    eight_bit_path(model).unlink()


def _replace_the_backbone(model: Path) -> None:
    write_tiny_backbone(model, seed=1)


def _with_the_note_of_older_programs(model: Path) -> None:
    network = onnx.load(str(model))
    onnx.helper.set_model_props(network, {"made_from_sha256": file_hash(model)})
    eight_bit_path(model).write_bytes(network.SerializeToString())


def _empty(model: Path) -> None:
    eight_bit_path(model).write_bytes(b"")


def _break(model: Path) -> None:
    eight_bit_path(model).write_bytes(b"no network")


def _cut(model: Path) -> None:
    eight_bit_path(model).write_bytes(eight_bit_path(model).read_bytes()[:-20])


@pytest.mark.parametrize(
    "change",
    [_remove, _replace_the_backbone, _with_the_note_of_older_programs, _empty, _break, _cut],
)
def test_what_is_no_companion_is_passed_over(
    change: Callable[[Path], None], model: Path, card: BackboneCard
) -> None:
    """The backbone itself embeds, and its embeddings have its identity.

    The weights of older companions overflow.
    """
    change(model)
    assert companion_of(model) is None
    assert not BackboneSession(model, card, CPU_CHOICE).is_eight_bit
    assert embedding_identity(model, file_hash(model)) == file_hash(model)


def test_the_identity_names_backbone_and_companion(model: Path) -> None:
    """Embeddings of the network, of its companion and of another one have three identities."""
    backbone_hash = file_hash(model)
    found = embedding_identity(model, backbone_hash)
    companion_hash = file_hash(eight_bit_path(model))
    assert found == backbone_hash[:16] + companion_hash[:16]
    network = onnx.load(str(eight_bit_path(model)))
    network.producer_name = "another"
    eight_bit_path(model).write_bytes(network.SerializeToString())
    assert embedding_identity(model, backbone_hash) not in {found, backbone_hash}


@pytest.mark.slow
def test_neither_clock_nor_load_decides_what_embeds(
    model: Path, card: BackboneCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening measures no time: neither module knows a clock.

    And each opening runs the same file.
    """
    assert not {"time", "perf_counter", "thread_time"} & (
        set(vars(eight_bit)) | set(vars(backbone))
    )
    opened: list[Path] = []

    def open_noted(path: Path, *others: object, **options: object) -> object:
        opened.append(path)
        return open_session(path)

    monkeypatch.setattr(backbone, "open_session", open_noted)
    for _ in range(50):
        BackboneSession(model, card, CPU_CHOICE, threads=1)
    assert opened == [eight_bit_path(model)] * 50


def _another(model: Path) -> None:
    write_tiny_backbone(model.with_name("other.onnx"), seed=1)
    write_companion(model, model.with_name("other.onnx"))


def _of_other_shape(model: Path) -> None:
    write_tiny_backbone(model.with_name("gray.onnx"), channels=1)
    write_companion(model, model.with_name("gray.onnx"))


@pytest.mark.parametrize("change", [_another, _of_other_shape])
def test_a_companion_that_does_not_agree_is_refused(
    change: Callable[[Path], None], model: Path, card: BackboneCard
) -> None:
    """Passing it over in silence would mix embeddings: the identity names it already."""
    change(model)
    with pytest.raises(
        ModelError, match=r"does not (agree with it: expected a cosine of 0\.98|fit its card)"
    ):
        BackboneSession(model, card, CPU_CHOICE)


def test_the_shipped_companion_cannot_overflow() -> None:
    """Without VNNI two products are added in sixteen bits.

    None can be too large, whatever the photo.
    """
    companion = companion_of(bundled_path(FAST) or Path())
    assert companion is not None
    assert cannot_overflow(companion)


@pytest.mark.slow
def test_the_shipped_companion_agrees_on_the_sample_s_photos(tmp_path: Path) -> None:
    """On whatever CPU the tests run."""
    model = bundled_path(FAST) or Path()
    card = read_card(model)
    alone = Path(shutil.copy(model, tmp_path))
    plain = BackboneSession(alone, card, CPU_CHOICE)
    photos = check_photos(card, 60)
    found = cosines(BackboneSession(model, card, CPU_CHOICE).embed(photos), plain.embed(photos))
    assert found.mean() >= 0.995
    assert found.min() >= 0.98


def test_check_photos_are_the_sample_s() -> None:
    """Photos, not drawn noise: small differences between neighbours, and the same each time."""
    card = read_card(bundled_path(FAST) or Path())
    photos = check_photos(card)
    assert photos.shape == (2, 96, 96, 3)
    assert photos.dtype == np.uint8
    assert np.array_equal(photos, check_photos(card))


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
    BackboneSession(model, card, CPU_CHOICE)
    assert {path.name for path in tmp_path.iterdir()} - {"before"} == names
