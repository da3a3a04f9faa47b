"""Permitted output paths: through links, hard links and other spellings."""

import os
from pathlib import Path

import pytest

from engine.collection.outputs import PREDICTIONS, check_file, kind_of_file
from engine.errors import InputError, TakenError
from engine.exporting.export import ExportChoice, Which, export_images
from engine.project import Project
from engine.project.images import ProjectImages
from tests.support.labelled_images import Labelled

posix_only = pytest.mark.skipif(os.name != "posix", reason="links and pipes of POSIX")


def photo_of(music: Labelled) -> Path:
    return music.project.images.resolve(music.project.images.record(music.images["piano.png"]))


def aliases(real: Path, folder: Path) -> dict[str, Path]:
    """Other names of the same file."""
    (folder / "alias").symlink_to(real.parent)
    link, chain, hard = (folder / name for name in ("latest.csv", "chain.csv", "hard.csv"))
    link.symlink_to(real)
    chain.symlink_to(link)
    os.link(real, hard)
    return {
        "itself": real,
        "link": link,
        "link of a link": chain,
        "aliased folder": folder / "alias" / real.name,
        "dots": real.parent / ".." / real.parent.name / real.name,
        "hard link": hard,
    }


@posix_only
@pytest.mark.parametrize("is_overwriting", [False, True])
def test_images_and_the_project_are_never_replaced(
    music: Labelled, tmp_path: Path, is_overwriting: bool
) -> None:
    """By any name and any command."""
    for number, real in enumerate((photo_of(music), music.project.path)):
        before = real.read_bytes()
        folder = tmp_path / str(number)
        folder.mkdir()
        for how, out in aliases(real, folder).items():
            choice = ExportChoice("csv", out, Which.VERIFIED, is_overwriting=is_overwriting)
            with pytest.raises(InputError, match="would overwrite"):
                export_images(music.project, {}, choice)
            assert real.read_bytes() == before, how


@posix_only
def test_a_photo_that_changed_and_has_another_name_is_found(
    music: Labelled, tmp_path: Path
) -> None:
    """A photo behind a link that changed its size and name is recognised."""
    photo = photo_of(music)
    store = tmp_path / "store.bin"
    photo.rename(store)
    photo.symlink_to(store)
    store.write_bytes(store.read_bytes() + b"more")
    with pytest.raises(InputError):
        check_file(store, "csv", project=music.project)
    with pytest.raises(InputError, match="an image of the project"):
        check_file(store, "csv", project=music.project, is_overwriting=True)


def test_the_place_of_a_missing_image_stays_free(music: Labelled) -> None:
    photo = photo_of(music)
    photo.unlink()
    with pytest.raises(InputError, match="an image of the project"):
        check_file(photo, "csv", project=music.project, is_overwriting=True)


def test_a_folder_cannot_be_called_as_a_part_of_a_project(music: Labelled, tmp_path: Path) -> None:
    """A folder in place of the journal would make the project read-only."""
    out = tmp_path / "other.protoleaf-journal"
    with pytest.raises(InputError, match="would overwrite"):
        export_images(music.project, {}, ExportChoice("folders", out, Which.VERIFIED))
    assert not out.exists()


@posix_only
@pytest.mark.parametrize("name", ["csv", "parquet", "darwin-core"])
def test_a_device_takes_every_format(music: Labelled, tmp_path: Path, name: str) -> None:
    """Writing to a device works in every format, also archives, which usually seek."""
    link = tmp_path / "null"
    link.symlink_to(os.devnull)
    export_images(music.project, {}, ExportChoice(name, link, Which.VERIFIED))
    assert link.is_symlink()


@pytest.mark.parametrize("side", ["-wal", "-shm", "-journal"])
def test_names_that_belong_to_a_project_are_refused(
    music: Labelled, tmp_path: Path, side: str
) -> None:
    """Names of SQLite's files of any project, existing or not."""
    for project in (music.project.path, tmp_path / "other.protoleaf"):
        with pytest.raises(InputError, match="would overwrite"):
            check_file(
                project.with_name(project.name + side),
                "csv",
                project=music.project,
                is_overwriting=True,
            )


def test_other_projects_and_backups_are_never_replaced(music: Labelled, tmp_path: Path) -> None:
    """They are recognised by content, whatever their names."""
    other = tmp_path / "other.protoleaf"
    Project.create(other, backbone_name="leafnet", backbone_hash="00" * 32).close()
    for out in (other, other.rename(tmp_path / "renamed.csv")):
        out.touch()
        with pytest.raises(InputError, match="a project"):
            check_file(out, "csv", project=music.project, is_overwriting=True)


def test_caches_and_backups_are_never_replaced(
    music: Labelled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROTOLEAF_CACHE", str(tmp_path / "cache"))
    kept = tmp_path / "cache" / "embeddings" / "one.sqlite"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"kept")
    with pytest.raises(InputError, match="a backup or a cache"):
        check_file(kept, "csv", project=music.project, is_overwriting=True)


def test_another_file_is_replaced_only_where_that_is_asked_for(
    music: Labelled, tmp_path: Path
) -> None:
    """The error names the file and how to replace it."""
    out = tmp_path / "theirs.csv"
    out.write_bytes(b"\xff\xd8\xff picture")
    with pytest.raises(TakenError, match=r"a JPEG picture.*--overwrite"):
        export_images(music.project, {}, ExportChoice("csv", out, Which.VERIFIED))
    assert out.read_bytes().startswith(b"\xff\xd8\xff")
    export_images(music.project, {}, ExportChoice("csv", out, Which.VERIFIED, is_overwriting=True))
    assert out.read_bytes().startswith(b"image,class,")


@posix_only
def test_a_link_to_an_earlier_export_is_replaced_itself(music: Labelled, tmp_path: Path) -> None:
    """The link is replaced and its target is unchanged."""
    earlier, latest = tmp_path / "monday.csv", tmp_path / "latest.csv"
    export_images(music.project, {}, ExportChoice("csv", earlier, Which.VERIFIED))
    before = earlier.read_bytes()
    latest.symlink_to(earlier)
    export_images(music.project, {}, ExportChoice("csv", latest, Which.VERIFIED))
    assert not latest.is_symlink()
    assert earlier.read_bytes() == before


@posix_only
def test_a_target_that_is_not_there_costs_no_look_at_the_images(
    music: Labelled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For a new path the identities of a million images are not compared."""

    def never(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(ProjectImages, "alike", never)
    monkeypatch.setattr(ProjectImages, "each_file", never)
    check_file(tmp_path / "new.csv", PREDICTIONS, project=music.project)


@posix_only
def test_a_sidecar_that_is_a_link_is_not_written_through(music: Labelled, tmp_path: Path) -> None:
    """The link is replaced, keeping the target's keywords and leaving the target unchanged."""
    photo = photo_of(music)
    export_images(music.project, {}, ExportChoice("xmp", photo.parent, Which.VERIFIED))
    sidecar = photo.with_name(f"{photo.name}.xmp")
    store = sidecar.rename(tmp_path / "store.xmp")
    theirs = store.read_bytes().replace(b"Piano", b"Pianos")
    store.write_bytes(theirs)
    sidecar.symlink_to(store)
    export_images(music.project, {}, ExportChoice("xmp", photo.parent, Which.VERIFIED))
    assert store.read_bytes() == theirs
    assert not sidecar.is_symlink()
    assert b"Piano<" in sidecar.read_bytes()


def test_what_came_in_between_is_not_replaced(music: Labelled, tmp_path: Path) -> None:
    """A long export checks its target again before replacing it."""
    out = tmp_path / "out.csv"

    def somebody_else(_: object) -> None:
        out.write_bytes(b"theirs")

    with pytest.raises(TakenError):
        export_images(
            music.project, {}, ExportChoice("csv", out, Which.VERIFIED), on_progress=somebody_else
        )
    assert out.read_bytes() == b"theirs"


@posix_only
def test_what_a_file_is_called(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere")
    assert kind_of_file(link) == "a link to nothing"
    assert kind_of_file(tmp_path) == "not a file"
    with pytest.raises(TakenError, match="a link to nothing"):
        check_file(link, "csv")
    with pytest.raises(InputError, match="one file"):
        check_file(tmp_path, "csv")
