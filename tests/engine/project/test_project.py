"""Creating, opening, closing and sharing a project file."""

import os
from pathlib import Path

import pytest

from engine.errors import (
    ProjectExistsError,
    ProjectLockedError,
    ProjectMissingError,
    ProjectReadOnlyError,
    StorageError,
)
from engine.project import Project
from engine.project.schema import SCHEMA_VERSION
from tests.support.projects import bird_project, dump, found_files, new_project, shape


def test_what_was_done_is_there_after_reopening(tmp_path: Path) -> None:
    """Everything is read from the file."""
    project, gull, images = bird_project(tmp_path)
    project.labels.set(images[:2], gull)
    look, graph = dump(project), shape(project.classes.graph)
    project.close()
    with Project.open(tmp_path / "birds.protoleaf") as reopened:
        assert dump(reopened) == look
        assert shape(reopened.classes.graph) == graph
        assert reopened.labels.counts() == {gull: 2}
        assert reopened.check() == []


def test_a_new_project_has_its_first_model(tmp_path: Path) -> None:
    """The model of its creation is in use."""
    with new_project(tmp_path) as project:
        assert (project.models.current.backbone_name, project.models.current.backbone_hash) == (
            "tiny",
            "00ff",
        )
        assert project.history.undo_action is None
        assert project.schema_version == SCHEMA_VERSION


def test_a_closed_project_is_one_file(tmp_path: Path) -> None:
    """A copy of the closed file is a complete project."""
    project, gull, images = bird_project(tmp_path)
    project.labels.set(images, gull)
    look = dump(project)
    project.close()
    assert [path.name for path in tmp_path.iterdir()] == ["birds.protoleaf"]
    (tmp_path / "elsewhere").mkdir()
    copy = tmp_path / "elsewhere" / "copy"
    copy.write_bytes((tmp_path / "birds.protoleaf").read_bytes())
    with Project.open(copy) as opened:
        assert dump(opened) == look


def test_nothing_is_overwritten_by_creating(tmp_path: Path) -> None:
    """Creating refuses an existing file and leaves file and folder unchanged."""
    path = tmp_path / "holiday.protoleaf"
    path.write_text("my notes")
    with pytest.raises(ProjectExistsError, match="already there"):
        new_project(tmp_path, path.name)
    assert path.read_text() == "my notes"
    assert list(tmp_path.iterdir()) == [path]


def test_leftovers_of_a_deleted_project_are_not_taken_over(tmp_path: Path) -> None:
    """Creating refuses to start with a write-ahead log, which would be applied to the new file."""
    (tmp_path / "birds.protoleaf-wal").write_bytes(b"old")
    with pytest.raises(ProjectExistsError, match="earlier project"):
        new_project(tmp_path)


def test_creating_needs_a_folder(tmp_path: Path) -> None:
    """The message names the folder."""
    with pytest.raises(StorageError, match="no such folder"):
        new_project(tmp_path / "nowhere")


def test_a_missing_project_is_not_created_by_opening(tmp_path: Path) -> None:
    """It raises without creating a file."""
    for for_writing in (True, False):
        with pytest.raises(ProjectMissingError, match="no project file"):
            Project.open(tmp_path / "birds.protoleaf", for_writing=for_writing)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name",
    ["鸟类.protoleaf", "طيور", "🐦 50% #1?.protoleaf", "d'été & Möwen", "x" * 236, "鸟" * 78],
)
def test_project_names_in_any_script(tmp_path: Path, name: str) -> None:
    """Any name that the file system accepts is kept."""
    with new_project(tmp_path, name) as project:
        project.classes.add("Gull")
    with Project.open(tmp_path / name) as project:
        assert len(project.classes.graph) == 1
    with Project.open(tmp_path / name, for_writing=False) as project:
        assert len(project.classes.graph) == 1


def test_a_name_too_long_for_the_companions_is_refused(tmp_path: Path) -> None:
    """A name that leaves no room for the journal's suffix is refused."""
    with pytest.raises(StorageError, match="too long"):
        new_project(tmp_path, "x" * 250)
    assert list(tmp_path.iterdir()) == []


def test_one_writer_and_any_readers(tmp_path: Path) -> None:
    """A second writer is refused; a reader sees the state at its opening.

    After closing, another may write.
    """
    project, gull, images = bird_project(tmp_path)
    with pytest.raises(ProjectLockedError, match="for reading only"):
        Project.open(project.path)
    project.labels.set(images[:3], gull)
    with Project.open(project.path, for_writing=False) as reader:
        project.labels.set(images, gull)
        assert len(reader.labels.by_image()) == 3, "a reader sees one moment, and holds nobody up"
        with pytest.raises(ProjectReadOnlyError):
            reader.labels.set(images, None)
    project.close()
    Project.open(project.path).close()


def test_a_failed_opening_gives_the_lock_back(tmp_path: Path) -> None:
    """The same process may try again."""
    project, _, _ = bird_project(tmp_path)
    project.close()
    path = project.path
    good = path.read_bytes()
    path.write_bytes(good[:5000])
    with pytest.raises(Exception, match="damaged"):
        Project.open(path)
    path.write_bytes(good)
    Project.open(path).close()


def test_closing_twice_is_fine(tmp_path: Path) -> None:
    """The second close does nothing."""
    project = new_project(tmp_path)
    project.close()
    project.close()
    with Project.open(project.path) as again:
        assert again.is_writable


def test_a_link_to_a_project_is_the_same_project(tmp_path: Path) -> None:
    """A project opened through a link has the lock and images of the file."""
    (tmp_path / "real").mkdir()
    project = new_project(tmp_path / "real")
    image = found_files(tmp_path / "real", 1)[0]
    project.images.add([image])
    link = tmp_path / "link.protoleaf"
    link.symlink_to(project.path)
    with pytest.raises(ProjectLockedError):
        Project.open(link)
    project.close()
    with Project.open(link) as linked:
        assert linked.images.resolve(linked.images.records()[0]) == image.path


def test_a_folder_moves_with_its_images(tmp_path: Path) -> None:
    """Images below the project's folder are found after moving it.

    Others at their old paths.
    """
    home = tmp_path / "home"
    home.mkdir()
    project = new_project(home)
    inside, outside = found_files(home / "photos", 1)[0], found_files(tmp_path / "stick", 1)[0]
    project.images.add([inside, outside])
    assert project.images.records()[0].path == "photos/season 0/IMG_000000.jpg"
    project.close()
    moved = home.rename(tmp_path / "moved")
    with Project.open(moved / "birds.protoleaf") as reopened:
        first, second = map(reopened.images.resolve, reopened.images.records())
        assert first == moved / "photos" / "season 0" / "IMG_000000.jpg"
        assert second == outside.path


def test_opening_over_a_linked_folder_knows_the_same_images(tmp_path: Path) -> None:
    """Paths through a link to the project's folder are the same images."""
    (tmp_path / "real").mkdir()
    (tmp_path / "alias").symlink_to(tmp_path / "real")
    with new_project(tmp_path / "alias") as project:
        project.images.add(found_files(tmp_path / "real", 2))
        assert project.images.add(found_files(tmp_path / "alias", 2)).is_empty


def test_nothing_is_loaded_before_it_is_asked_for(tmp_path: Path) -> None:
    """Opening loads neither graph nor images."""
    project, _, _ = bird_project(tmp_path)
    project.close()
    with Project.open(project.path) as reopened:
        assert reopened._store.loaded_graph is None  # noqa: SLF001


@pytest.mark.skipif(os.name != "posix", reason="file names are bytes on POSIX only")
def test_image_names_in_any_script_and_in_none(tmp_path: Path) -> None:
    """Names of 255 bytes, in any script or invalid Unicode, are stored exactly."""
    from engine.files import FoundFile

    names = [
        "鸟" * 85,
        "نورس.jpg",
        "🐦🏽.png",
        "a\\b.jpg",
        "line\nbreak.jpg",
        os.fsdecode(b"caf\xe9.jpg"),
        "%41?.jpg",
    ]
    files = [FoundFile(tmp_path / "photos" / name, 1, 1) for name in names]
    with new_project(tmp_path) as project:
        project.images.add(files)
        project.history.undo()
        project.history.redo()
        assert [project.images.resolve(record) for record in project.images.records()] == [
            file.path for file in files
        ]
        assert list(project.images.table().paths) == [f"photos/{name}" for name in names]
        assert [project.images.find(file.path) for file in files] == list(
            project.images.table().ids
        )
        assert project.images.add(files).is_empty
        assert project.check() == []
