"""Journal and tables must agree: different, missing and extra rows are found.

In little memory.
"""

import tracemalloc
from contextlib import closing
from pathlib import Path

import pytest

from engine.errors import Cancelled
from engine.events import CancelToken, Progress
from engine.files import FoundFile
from engine.project import ClassPolicy, Project
from engine.project.connection import Connection
from engine.project.row_history import history_faults
from tests.support.projects import bird_project, change_file, found_files, new_project

IMAGES = 20_000
BYTES_AN_IMAGE = 150  # as plain rows some 600


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A project with a row in every journaled table, several changed more than once."""
    project, gull, images = bird_project(tmp_path, 40)
    with closing(project):
        project.labels.set(images[:20], gull)
        project.labels.set(images[5:10], None)
        project.images.remove(images[30:])
        project.notes.set_stars(images[:3], 4)
        project.policies.set(gull, ClassPolicy(0.75))
        project.history.undo()
        project.history.redo()
        project.labels.set(images[11:12], None)
        project.history.undo()
    return project.path


def faults(path: Path) -> list[str]:
    with closing(Connection(path, str(path))) as connection:
        return history_faults(connection)


CHANGES = {
    "a time that differs in its last bit": "UPDATE image SET modified_ns = modified_ns + 1 WHERE "
    "image_id = 20",
    "a path": "UPDATE image SET path = path || 'x' WHERE image_id = 20",
    "a class": "UPDATE label SET class_id = NULL WHERE image_id = 1",
    "a row that is gone": "DELETE FROM label WHERE image_id = 2",
    "a row that was removed": (
        "INSERT INTO image VALUES (35, 'photos/back.jpg', 1, 2, '', '', NULL)"
    ),
    "a row that nobody made": (
        "INSERT INTO label SELECT 25, class_id, who, labelled_at, source, is_empty FROM label "
        "LIMIT 1"
    ),
    "stars": "UPDATE image_note SET stars = 3 WHERE image_id = 3",
    "a bar": "UPDATE class_policy SET bar = 0.5",
    "an edge": "DELETE FROM edge",
    "a setting": "INSERT INTO setting VALUES ('setting', '\"ppn\"')",
}


@pytest.mark.parametrize("what", CHANGES)
def test_any_row_that_differs_is_named(path: Path, what: str) -> None:
    """No fault if unchanged; one fault for one changed row."""
    assert faults(path) == []
    change_file(path, CHANGES[what])
    assert len(faults(path)) == 1


@pytest.mark.parametrize(
    ("recorded", "statement"),
    [
        (-2, "UPDATE image SET modified_ns = -1"),
        (0, "UPDATE image SET modified_ns = 2305843009213693951"),
    ],
)
def test_numbers_that_python_hashes_alike_are_distinguished(
    tmp_path: Path, recorded: int, statement: str
) -> None:
    """In Python -1 and -2 have equal hashes, as have 0 and 2^61 - 1."""
    assert (hash(-1), hash(0)) == (hash(-2), hash(2**61 - 1))
    with closing(new_project(tmp_path)) as project:
        project.images.add([FoundFile(Path("/photos/a.jpg"), 1, recorded)])
    assert faults(project.path) == []
    change_file(project.path, statement)
    assert len(faults(project.path)) == 1


@pytest.mark.slow
def test_memory_is_a_fraction_of_the_rows(tmp_path: Path) -> None:
    """Two numbers per image, so that millions can be checked."""
    project = new_project(tmp_path)
    project.images.add(found_files(Path("/photos"), IMAGES))
    project.close()
    faults(project.path)
    tracemalloc.start()
    try:
        assert faults(project.path) == []
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    chunk_bytes = 5_000_000  # of the journal, decoded in sequence
    assert peak_bytes < chunk_bytes + IMAGES * BYTES_AN_IMAGE


@pytest.mark.slow
def test_a_killed_project_of_many_images_opens(tmp_path: Path) -> None:
    """Without a seal everything is checked."""
    project = new_project(tmp_path)
    project.images.add(found_files(Path("/photos"), 12_000))
    project.close()
    change_file(project.path, "UPDATE file_state SET digest = NULL")
    with Project.open(project.path) as opened:
        assert opened.images.count == 12_000
    change_file(project.path, "UPDATE file_state SET digest = NULL")
    change_file(project.path, "UPDATE image SET size_bytes = size_bytes + 1 WHERE image_id > 100")
    assert (
        Project.faults_of(project.path)[-1] == "and 11895 more rows that do not fit their history"
    )


def test_a_check_reports_how_far_it_is_and_can_be_stopped(path: Path) -> None:
    """Each part of the history counts.

    Cancelling leaves the file unchanged.
    """
    seen: list[Progress] = []
    found = Project.checked(path, on_progress=seen.append)
    assert (found.faults, found.classes, found.images, found.labels) == ([], 2, 30, 20)
    assert seen[-1].done == seen[-1].total > 5
    before, cancel = path.read_bytes(), CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        Project.checked(path, cancel=cancel)
    assert path.read_bytes() == before
