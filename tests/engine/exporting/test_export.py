"""Exports are atomic, overwrite nothing, and list what was left out."""

from codecs import BOM_UTF8
from pathlib import Path

import pytest

from engine.errors import Cancelled, InputError, StorageError, UsageError
from engine.events import CancelToken, Progress
from engine.exporting.export import ExportChoice, Which, export_images
from engine.files import FoundFile
from engine.interchange.labelled_images import csv_table
from engine.interchange.labelled_images.class_folders import FolderOptions
from engine.interchange.labelled_images.formats import FORMATS
from engine.new_file import DRAFT_SUFFIX
from engine.new_folder import Placing
from tests.support.labelled_images import ORGAN, Labelled

WRITTEN = [name for name, one in FORMATS.items() if not one.writes_into]


def place(one: str, folder: Path) -> Path:
    return folder / f"out{FORMATS[one].suffix}"


@pytest.mark.parametrize(
    ("which", "images"), [(Which.VERIFIED, 4), (Which.SURE, 6), (Which.ALL, 8)]
)
def test_chosen_images(music: Labelled, tmp_path: Path, which: Which, images: int) -> None:
    done = export_images(
        music.project, music.answers, ExportChoice("csv", tmp_path / "out.csv", which)
    )
    assert done.images == images
    assert (tmp_path / "out.csv").read_text(encoding="utf-8").count("\n") == images + 1


@pytest.mark.parametrize("name", WRITTEN)
def test_a_stopped_export_leaves_nothing(music: Labelled, tmp_path: Path, name: str) -> None:
    """Neither a partial file or folder nor its draft."""
    target = tmp_path / "target"
    target.mkdir()
    token = CancelToken()

    def stop_half_way(progress: Progress) -> None:
        if progress.done:
            token.cancel()

    choice = ExportChoice(name, place(name, target), Which.ALL)
    with pytest.raises(Cancelled):
        export_images(music.project, music.answers, choice, on_progress=stop_half_way, cancel=token)
    assert list(target.iterdir()) == []


@pytest.mark.parametrize("name", WRITTEN)
def test_nothing_is_written_over(music: Labelled, tmp_path: Path, name: str) -> None:
    """A folder with files is refused; a file is replaced atomically.

    The project never is.
    """
    out = place(name, tmp_path)
    if FORMATS[name].write_folder is not None:
        out.mkdir()
        (out / "mine.txt").write_text("mine")
        with pytest.raises(InputError, match="already"):
            export_images(music.project, music.answers, ExportChoice(name, out))
        assert [path.name for path in out.iterdir()] == ["mine.txt"]
    else:
        for taken in (
            music.project.path,
            music.project.images.resolve(music.project.images.records()[0]),
        ):
            before = taken.read_bytes()
            with pytest.raises(InputError, match="overwrite"):
                export_images(music.project, music.answers, ExportChoice(name, taken))
            assert taken.read_bytes() == before


def test_places_that_cannot_be(music: Labelled, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no format"):
        export_images(music.project, {}, ExportChoice("odd", tmp_path / "out"))
    with pytest.raises(StorageError, match="no such folder"):
        export_images(music.project, {}, ExportChoice("folders", tmp_path / "missing" / "out"))
    with pytest.raises(StorageError):
        export_images(music.project, {}, ExportChoice("csv", tmp_path / "missing" / "out.csv"))


@pytest.mark.parametrize("how", Placing)
def test_class_folders(music: Labelled, tmp_path: Path, how: Placing) -> None:
    """Nested like the classes, a class with several parents once, with portable names."""
    out = tmp_path / "out"
    done = export_images(
        music.project, music.answers, ExportChoice("folders", out, Which.ALL, FolderOptions(how))
    )
    assert done.images == 5
    assert done.left_out == {"no class": 3}
    found = {path.relative_to(out).as_posix() for path in out.rglob("*.png")}
    assert found == {
        "Keyboard/Piano/piano.png",
        "Keyboard/Organ/organ.png",
        "Wind/Flute/flute.png",
        "Wind/coarse.png",
        "Trio_ A_B_/=odd, _name_ ü.png",
    }
    source = music.project.images.resolve(music.project.images.record(music.images["piano.png"]))
    piano = out / "Keyboard/Piano/piano.png"
    assert piano.read_bytes() == source.read_bytes()
    assert piano.is_symlink() == (how is Placing.SYMBOLIC_LINK)
    assert piano.samefile(source) == (how is not Placing.COPY)
    classes = (out / "classes.csv").read_text(encoding="utf-8")
    assert f"Keyboard/Organ,{ORGAN},Keyboard/Organ,,Wind/Organ" in classes


def test_flat_class_folders(music: Labelled, tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = FolderOptions(is_flat=True, has_coarse=True)
    export_images(music.project, music.answers, ExportChoice("folders", out, folder=options))
    assert {path.name for path in out.iterdir() if path.is_dir()} == {
        "Piano",
        "Organ",
        "Flute",
        "Wind",
        "Trio_ A_B_",
    }


@pytest.mark.parametrize(("name", "below"), [("folders", "."), ("yolo", "train"), ("yolo", "val")])
def test_no_class_lies_beside_its_own_leaves(
    music: Labelled, tmp_path: Path, name: str, below: str
) -> None:
    """Training tools would take Wind for another class next to Flute.

    The table has the labels of its images.
    """
    out = tmp_path / "out"
    done = export_images(
        music.project, music.answers, ExportChoice(name, out, folder=FolderOptions(is_flat=True))
    )
    assert (done.images, done.left_out) == (4, {"no class": 1, "of a broader class": 1})
    folders = {path.name for path in (out / below).iterdir() if path.is_dir()}
    assert folders == {"Piano", "Organ", "Flute", "Trio_ A_B_"}
    assert ",Wind," in (out / "images.csv").read_text(encoding="utf-8")


def test_a_table_for_excel(music: Labelled, tmp_path: Path) -> None:
    """Its byte-order mark is not in the first column's name, and the next export replaces it."""
    out = tmp_path / "out.csv"
    choice = ExportChoice("csv", out, Which.VERIFIED, has_byte_order_mark=True)
    written = export_images(music.project, music.answers, choice)
    assert out.read_bytes().startswith(BOM_UTF8 + b"image,")
    assert len(csv_table.read(out).labels) == written.images
    export_images(music.project, music.answers, choice)
    lines = tmp_path / "out.jsonl"
    export_images(
        music.project, music.answers, ExportChoice("jsonl", lines, has_byte_order_mark=True)
    )
    assert lines.read_bytes().startswith(b"{")


def test_a_lost_image_is_a_failure(music: Labelled, tmp_path: Path) -> None:
    """Others are exported."""
    lost = music.project.images.resolve(music.project.images.record(music.images["piano.png"]))
    lost.unlink()
    done = export_images(music.project, music.answers, ExportChoice("folders", tmp_path / "out"))
    assert [failure.path for failure in done.failures] == [lost]
    assert done.images == 4
    assert not (tmp_path / "out/Keyboard/Piano/piano.png").exists()


def test_two_images_of_one_name(music: Labelled, tmp_path: Path) -> None:
    """Both are exported, also where names differ in case only."""
    first = music.project.images.resolve(music.project.images.record(music.images["piano.png"]))
    other = first.parent.parent / "elsewhere" / "PIANO.png"
    other.parent.mkdir()
    other.write_bytes(first.read_bytes())
    found = FoundFile.at(other)
    assert found is not None
    music.project.images.add_labelled([found], [music.ids["Piano"]])
    export_images(music.project, {}, ExportChoice("folders", tmp_path / "out", Which.VERIFIED))
    assert {path.name for path in (tmp_path / "out/Keyboard/Piano").iterdir()} == {
        "piano.png",
        "PIANO (2).png",
    }


def test_a_draft_of_a_killed_export_goes(music: Labelled, tmp_path: Path) -> None:
    """The next export to the same place removes it."""
    (tmp_path / f".0123{DRAFT_SUFFIX}").touch()
    export_images(music.project, {}, ExportChoice("csv", tmp_path / "out.csv", Which.VERIFIED))
    assert not list(tmp_path.glob(f".*{DRAFT_SUFFIX}"))
