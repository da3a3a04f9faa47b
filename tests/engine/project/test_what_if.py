"""What-if edits: the file is unchanged until they are kept as one step, or dropped."""

from pathlib import Path

import pytest

from engine.errors import InputError, ProjectReadOnlyError, StorageError
from engine.project import Project
from tests.support.projects import (
    bird_project,
    connection_of,
    dump,
    found_files,
    named,
    new_project,
    shape,
    trained_model,
)
from tests.support.storyteller import Storyteller

ACTIONS_BEFORE, ACTIONS_SUPPOSED = 20, 30


def lived_in(folder: Path, seed: int) -> Project:
    """A project with some history."""
    project = new_project(folder)
    teller = Storyteller(project, seed)
    for _ in range(ACTIONS_BEFORE):
        teller.tell()
    return project


def supposed(project: Project, seed: int) -> Storyteller:
    """Start a trial and edit much; the file must not change."""
    before = project.path.read_bytes()
    project.what_if.begin()
    teller = Storyteller(project, seed)
    for _ in range(ACTIONS_SUPPOSED):
        teller.tell()
    assert teller.place > 0
    assert project.path.read_bytes() == before
    return teller


@pytest.mark.parametrize("seed", range(6))
def test_what_is_kept_is_one_step(tmp_path: Path, seed: int) -> None:
    """The file then has all edits.

    One undo reverts all, also after a restart.
    """
    project = lived_in(tmp_path, seed)
    before, before_shape = dump(project), shape(project.classes.graph)
    teller = supposed(project, seed + 100)
    project.what_if.keep(named("Tried this and that out"))
    assert dump(project) == teller.looks[teller.place]
    assert str(project.history.undo_action) == "Tried this and that out"
    project.history.undo()
    assert (dump(project), shape(project.classes.graph)) == (before, before_shape)
    assert project.check() == []
    project.close()
    with Project.open(project.path) as reopened:
        reopened.history.redo()
        assert dump(reopened) == teller.looks[teller.place]
        assert shape(reopened.classes.graph) == shape(teller.mirror)
        assert reopened.check() == []


@pytest.mark.parametrize("seed", range(6))
def test_what_is_dropped_leaves_nothing(tmp_path: Path, seed: int) -> None:
    """Rows, graph and history are restored, and listeners get the reverse changes."""
    project = lived_in(tmp_path, seed)
    before, history = dump(project), project.history.steps()
    teller = supposed(project, seed + 100)
    teller.follow(project.what_if.discard())
    assert dump(project) == before
    assert project.history.steps() == history
    assert not project.what_if.is_on
    project.history.undo()
    project.history.redo()
    assert dump(project) == before
    project.close()


def test_undo_ends_where_it_was_begun(tmp_path: Path) -> None:
    """Earlier steps are not undone within a trial."""
    project, gull, images = bird_project(tmp_path)
    project.what_if.begin()
    assert project.history.undo() is None
    project.labels.set(images, gull)
    project.history.undo()
    assert project.history.undo_action is None
    assert str(project.history.redo_action) == "Labelled 4 images as Gull"
    assert project.what_if.discard().is_empty
    assert str(project.history.undo_action) == "Added 4 images"
    project.close()


def test_what_machines_find_out_is_true_all_the_same(tmp_path: Path) -> None:
    """Facts and trained models are stored at once.

    Facts of images added in the trial when it is kept.
    """
    project, _gull, images = bird_project(tmp_path)
    project.what_if.begin()
    project.images.record_scan([(images[0], "ab", None)])
    version = project.models.add_trained(trained_model())
    (added,) = project.images.add(found_files(tmp_path, 1, start=50)).images_added
    project.images.record_scan([(added, "cd", None)])
    assert project.models.version(version.version_id).name == version.name
    project.what_if.keep(named("Tried out"))
    assert [project.images.record(image_id).content_hash for image_id in (images[0], added)] == [
        "ab",
        "cd",
    ]
    project.what_if.begin()
    project.images.record_scan([(images[1], "ef", None)])
    project.what_if.discard()
    assert project.images.record(images[1]).content_hash == "ef"
    assert project.models.version(version.version_id).name == version.name
    project.close()


@pytest.mark.slow
def test_a_full_disk_loses_nothing_that_was_tried_out(tmp_path: Path) -> None:
    """Keeping it raises without a change; later it works."""
    project, _gull, _images = bird_project(tmp_path)
    before, connection = dump(project), connection_of(project)
    connection.value(f"PRAGMA max_page_count = {connection.value('PRAGMA page_count') + 2}")
    project.what_if.begin()
    project.images.add(found_files(tmp_path, 5000, start=100))
    tried = dump(project)
    with pytest.raises(StorageError, match="disk is full"):
        project.what_if.keep(named("Tried out"))
    assert project.what_if.is_on
    assert dump(project) == tried
    connection.value("PRAGMA max_page_count = 1000000")
    project.what_if.keep(named("Tried out"))
    assert dump(project) == tried
    project.history.undo()
    assert dump(project) == before
    project.close()


def test_it_begins_and_ends_once(tmp_path: Path) -> None:
    """Not nested, not in a read-only project; the project may be closed within it."""
    project, gull, _images = bird_project(tmp_path)
    for end in (project.what_if.discard, lambda: project.what_if.keep(named("Tried out"))):
        with pytest.raises(InputError, match="no what-if is open"):
            end()
    project.what_if.begin()
    with pytest.raises(InputError, match="already"):
        project.what_if.begin()
    project.classes.rename(gull, "Tern")
    project.close()
    with Project.open(project.path, for_writing=False) as reopened:
        assert reopened.classes.graph.name(gull) == "Gull"
        reopened.what_if.begin()
        reopened.classes.rename(gull, "Tern")
        with pytest.raises(ProjectReadOnlyError):
            reopened.what_if.keep(named("Tried it out"))
        reopened.what_if.discard()
        assert reopened.classes.graph.name(gull) == "Gull"
