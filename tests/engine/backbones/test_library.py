"""The library of added backbones: whole or not there, never mixed up, never half removed."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import onnxruntime
import pytest

from engine.backbones.library import BackboneLibrary, check_name, usable_name
from engine.backbones.preprocessing import PREPROCESSING_KEY
from engine.collection.models import find_model
from engine.errors import InputError, ModelError, StorageError
from engine.model_card import BackboneCard, card_path, file_hash, read_card
from engine.new_folder import PREFIX
from tests.support.backbones import write_tiny_backbone
from tests.support.full_disk import full_disk_after


@pytest.fixture
def card(tmp_path: Path) -> BackboneCard:
    """Card of the tiny backbone that lies in `source`."""
    return write_tiny_backbone(source(tmp_path))


def source(tmp_path: Path) -> Path:
    """Where the file to add lies."""
    return tmp_path / "source.onnx"


def left(library: BackboneLibrary) -> list[str]:
    """Everything in the library's folder, unfinished things included."""
    return sorted(path.name for path in library.folder.iterdir()) if library.folder.exists() else []


def test_an_added_backbone_is_found(tmp_path: Path, card: BackboneCard) -> None:
    """It is listed, is found by name, has its card, and lives on when the source is gone."""
    library = BackboneLibrary()
    assert library.names() == ()
    added = library.add(source(tmp_path), card)
    source(tmp_path).unlink()
    assert library.names() == ("tiny",)
    assert library.entry("tiny") == added == find_model("tiny")
    assert read_card(added.backbone) == card
    assert not added.is_bundled
    assert not added.has_own_propagation
    assert added.propagation.is_file()


def test_propagation_that_was_trained_for_it(tmp_path: Path, card: BackboneCard) -> None:
    """A propagation file comes along and is used instead of the one for any width."""
    own = tmp_path / "own.onnx"
    own.write_bytes(b"propagation")
    added = BackboneLibrary().add(source(tmp_path), card, propagation=own)
    assert added.has_own_propagation
    assert added.propagation.read_bytes() == b"propagation"


def test_preprocessing_is_part_of_the_file(tmp_path: Path, card: BackboneCard) -> None:
    """The same network with other preprocessing has another hash, and is a sound file."""
    library = BackboneLibrary()
    first = library.add(source(tmp_path), card)
    second = library.add(source(tmp_path), replace(card, name="tiny-bgr", channel_order="bgr"))
    described = library.add(
        source(tmp_path), replace(card, name="described", description="in other words")
    )
    assert first.backbone_hash != second.backbone_hash
    assert first.backbone_hash == described.backbone_hash
    session = onnxruntime.InferenceSession(str(second.backbone), providers=["CPUExecutionProvider"])
    assert (
        '"channel_order": "bgr"' in session.get_modelmeta().custom_metadata_map[PREPROCESSING_KEY]
    )


def test_adding_again(tmp_path: Path, card: BackboneCard) -> None:
    """The same once more changes nothing, from the source or from the library.

    Another under the name is refused.
    """
    library = BackboneLibrary()
    added = library.add(source(tmp_path), card)
    assert library.add(source(tmp_path), card) == added
    assert library.add(added.backbone, card) == added
    assert (
        library.add(source(tmp_path), replace(card, figures={"images_per_s_one_core": 9.0}))
        == added
    )
    with pytest.raises(InputError, match="another backbone has this name"):
        library.add(source(tmp_path), replace(card, description="another one"))
    with pytest.raises(InputError, match="another backbone has this name"):
        library.add(source(tmp_path), replace(card, unit_length=True))
    write_tiny_backbone(source(tmp_path), seed=1)
    with pytest.raises(InputError, match="another backbone has this name"):
        library.add(source(tmp_path), card)
    assert file_hash(added.backbone) == added.backbone_hash
    assert left(library) == ["tiny"]


def test_removing(tmp_path: Path, card: BackboneCard) -> None:
    """A removed backbone is gone with all its files; a bundled or unknown one is refused."""
    library = BackboneLibrary()
    library.add(source(tmp_path), card)
    library.remove("tiny")
    assert left(library) == []
    with pytest.raises(ModelError, match="no such backbone"):
        library.remove("tiny")
    with pytest.raises(InputError, match="bundled"):
        library.remove("leafnet")


def test_a_damaged_one_can_go(tmp_path: Path, card: BackboneCard) -> None:
    """Its card cannot be read any more: nobody can use it, and it can be removed all the same."""
    library = BackboneLibrary()
    added = library.add(source(tmp_path), card)
    card_path(added.backbone).write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="another backbone has this name"):
        library.add(source(tmp_path), card)
    library.remove("tiny")
    assert left(library) == []


def test_a_folder_that_refuses(
    tmp_path: Path, card: BackboneCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be removed is still there, whole, and the message says what to look at."""

    def refuse(_path: Path, _target: Path) -> None:
        raise PermissionError(13, "Permission denied")

    library = BackboneLibrary()
    added = library.add(source(tmp_path), card)
    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(
        StorageError, match=r"cannot be removed: found .*tiny: Permission denied\. Check"
    ):
        library.remove("tiny")
    assert library.entry("tiny") == added


@pytest.mark.parametrize(
    "name", ["", "../up", "a/b", "a b", ".hidden", "con", "NUL.onnx", "x" * 65, "dot.", "leafnet"]
)
def test_names_that_are_refused(tmp_path: Path, card: BackboneCard, name: str) -> None:
    """A name is a folder on every system and no way out of the library.

    A bundled one stays the bundled one.
    """
    library = BackboneLibrary()
    with pytest.raises(InputError, match="name"):
        library.add(source(tmp_path), replace(card, name=name))
    assert left(library) == []
    check_name(usable_name(name))


@pytest.mark.skipif(os.name != "posix", reason="the limit on a file's size is POSIX")
def test_a_full_disk_leaves_nothing(tmp_path: Path, card: BackboneCard) -> None:
    """The disk refuses half-way: the message says where, and no part of the backbone stays."""
    library = BackboneLibrary()
    with full_disk_after(500), pytest.raises(StorageError, match="cannot be saved"):
        library.add(source(tmp_path), card)
    assert (library.names(), left(library)) == ((), [])


def test_a_disk_that_fails_at_the_very_end(
    tmp_path: Path, card: BackboneCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last bytes do not reach the disk: what looked whole is not kept either."""

    def refuse(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    library = BackboneLibrary()
    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(StorageError, match="the disk is full"):
        library.add(source(tmp_path), card)
    assert left(library) == []


def test_a_folder_that_is_no_folder(tmp_path: Path, card: BackboneCard) -> None:
    """A file lies where the library should be."""
    (tmp_path / "file").write_bytes(b"in the way")
    library = BackboneLibrary(tmp_path / "file")
    assert library.names() == ()
    with pytest.raises(StorageError, match="cannot be saved"):
        library.add(source(tmp_path), card)


def test_a_source_that_is_gone(tmp_path: Path, card: BackboneCard) -> None:
    """A missing file is named."""
    with pytest.raises(ModelError, match="not there"):
        BackboneLibrary().add(tmp_path / "gone.onnx", card)


def test_what_a_killed_program_left(tmp_path: Path, card: BackboneCard) -> None:
    """Unfinished folders are never listed, and go with the next backbone that is added."""
    library = BackboneLibrary()
    library.add(source(tmp_path), card)
    killed = library.folder / f"{PREFIX}killed"
    shutil.copytree(library.folder / "tiny", killed / "tiny")
    (killed / ".owner").touch()
    assert library.names() == ("tiny",)
    library.add(source(tmp_path), replace(card, name="other"))
    assert left(library) == ["other", "tiny"]


def test_two_programs_add_the_same(
    tmp_path: Path, card: BackboneCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is faster by a moment.

    The other finds its own backbone there, and another one under the name is refused.
    """
    rename = Path.rename

    def slower(folder: Path, target: Path) -> Path:
        shutil.copytree(folder, target)
        return rename(folder, target)

    library = BackboneLibrary()
    monkeypatch.setattr(Path, "rename", slower)
    assert library.add(source(tmp_path), card).name == "tiny"
    assert left(library) == ["tiny"]


def test_what_a_system_leaves_in_folders(tmp_path: Path, card: BackboneCard) -> None:
    """A file manager's notes beside the backbone do not make it another one."""
    library = BackboneLibrary()
    library.add(source(tmp_path), card)
    (library.folder / "tiny" / ".DS_Store").write_bytes(b"window places")
    assert library.add(source(tmp_path), card) == library.entry("tiny")


def test_half_an_entry_does_not_hold_its_name(tmp_path: Path, card: BackboneCard) -> None:
    """Somebody deleted the card or the network: adding the backbone again puts both in place."""
    library = BackboneLibrary()
    for suffix in (".card.json", ".onnx"):
        library.add(source(tmp_path), card)
        (library.folder / "tiny" / f"tiny{suffix}").unlink()
        assert library.names() == ()
        assert library.add(source(tmp_path), card) == library.entry("tiny")
        assert left(library) == ["tiny"]


def test_a_folder_that_nobody_may_look_into(
    tmp_path: Path, card: BackboneCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that refuses is not listed; the others are."""
    library = BackboneLibrary()
    library.add(source(tmp_path), card)
    library.add(source(tmp_path), replace(card, name="closed"))
    is_file = Path.is_file

    def refusing(path: Path) -> bool:
        if path.parent.name == "closed":
            raise PermissionError(13, "Permission denied", str(path))
        return is_file(path)

    monkeypatch.setattr(Path, "is_file", refusing)
    assert library.names() == ("tiny",)


def test_half_an_entry_is_none(tmp_path: Path, card: BackboneCard) -> None:
    """A folder without its card is not listed and cannot be used."""
    library = BackboneLibrary()
    added = library.add(source(tmp_path), card)
    added.backbone.with_suffix(".card.json").unlink()
    assert library.names() == ()
    with pytest.raises(ModelError, match="no such backbone"):
        find_model("tiny")
