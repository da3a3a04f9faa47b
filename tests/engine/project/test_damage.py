"""Damaged files and other files are refused with a clear message and not changed."""

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from engine.errors import ProjectDamagedError, ProjectError, ProjectTooNewError, ProtoleafError
from engine.project import Project
from tests.support.projects import bird_project, change_file, connection_of, found_files


def _closed_project(folder: Path) -> Path:
    project, gull, images = bird_project(folder, image_count=600)
    project.labels.set(images, gull)
    project.close()
    return project.path


def _replace_by_another_database(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes (text)")


SPOILED: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("child,parent\nGull,Bird\n" * 50),
    "zeros": lambda path: path.write_bytes(bytes(8192)),
    "only the first bytes": lambda path: path.write_bytes(path.read_bytes()[:60]),
    "cut in the first page": lambda path: path.write_bytes(path.read_bytes()[:2000]),
    "cut in half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "first page overwritten": lambda path: path.write_bytes(
        path.read_bytes()[:100] + bytes(4000) + path.read_bytes()[4100:]
    ),
    "another program's database": _replace_by_another_database,
}


@pytest.mark.parametrize("for_writing", [True, False])
@pytest.mark.parametrize("how", SPOILED)
def test_what_is_no_project_is_refused_and_left_alone(
    tmp_path: Path, how: str, *, for_writing: bool
) -> None:
    """Raises ProjectDamagedError with the path; the file is unchanged, without files next to it."""
    path = _closed_project(tmp_path)
    SPOILED[how](path)
    before = path.read_bytes()
    with pytest.raises(ProjectDamagedError) as caught:
        Project.open(path, for_writing=for_writing)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "an earlier copy of the file" in caught.value.remedy
    assert path.read_bytes() == before
    assert {each.name for each in tmp_path.iterdir()} == {"birds.protoleaf"}


def test_a_folder_is_no_project(tmp_path: Path) -> None:
    """The message says that it is a folder."""
    with pytest.raises(ProjectDamagedError, match="folder"):
        Project.open(tmp_path)


@pytest.mark.parametrize("for_writing", [True, False])
def test_a_newer_project_is_refused_and_left_alone(tmp_path: Path, *, for_writing: bool) -> None:
    """A file of a later version is not opened, also for reading; the message says what to do."""
    path = _closed_project(tmp_path)
    change_file(path, "PRAGMA user_version = 99", "PRAGMA journal_mode = DELETE")
    before = path.read_bytes()
    with pytest.raises(ProjectTooNewError, match=r"99.*Update Protoleaf"):
        Project.open(path, for_writing=for_writing)
    assert path.read_bytes() == before


def test_a_missing_table_is_damage(tmp_path: Path) -> None:
    """A file without one of its tables is not opened."""
    path = _closed_project(tmp_path)
    change_file(path, "DROP TABLE prediction")
    with pytest.raises(ProjectDamagedError, match="prediction"):
        Project.open(path)


@pytest.mark.parametrize("seed", range(24))
def test_random_rot_never_surprises(tmp_path: Path, seed: int) -> None:
    """With random bytes overwritten every call works or raises an error of ours."""
    path = _closed_project(tmp_path)
    chance = random.Random(seed)
    content = bytearray(path.read_bytes())
    for _ in range(chance.choice([1, 3, 40])):
        start = chance.randrange(100, len(content))
        content[start : start + 16] = chance.randbytes(len(content[start : start + 16]))
    path.write_bytes(content)
    try:
        with Project.open(path) as project:
            assert isinstance(project.check(), list)
            for use in (
                project.images.records,
                project.labels.by_image,
                lambda: project.images.add(found_files(tmp_path, 5, start=900)),
                project.history.undo,
            ):
                _only_our_errors(use)
    except ProjectError as error:
        assert isinstance(error, ProjectDamagedError)  # noqa: PT017


def _only_our_errors(use: Callable[[], object]) -> None:
    try:
        use()
    except ProtoleafError as error:
        assert str(error)  # noqa: PT017 (as above)


def test_check_names_what_is_broken(tmp_path: Path) -> None:
    """Cycles, dangling references, duplicate names, a missing model and an unreadable history."""
    path = _closed_project(tmp_path)
    change_file(
        path,
        "INSERT INTO edge VALUES (2, 1)",
        "INSERT INTO label VALUES (9999, 2, 'ada', '2026-01-02T03:04:05+00:00', 'review', 0)",
        "INSERT INTO class (class_id, name) VALUES (8, 'Crow'), (9, 'Crow')",
        "UPDATE setting SET value = '77' WHERE name = 'model_version'",
        "UPDATE journal_chunk SET row_changes = 'rubbish' WHERE step_id = 1",
    )
    before = path.read_bytes()
    faults = "\n".join(Project.faults_of(path))
    assert path.read_bytes() == before
    for word in ("cycle", "table label", "Crow", "model version", "step 1"):
        assert word in faults


def test_an_unreadable_step_stops_undo_without_harm(tmp_path: Path) -> None:
    """Undo of an unreadable step raises and changes nothing."""
    path = _closed_project(tmp_path)
    with Project.open(path) as project:
        with connection_of(project).transaction():
            connection_of(project).write(
                "UPDATE journal_chunk SET row_changes = x'00' WHERE step_id = 4"
            )
        with pytest.raises(ProjectDamagedError, match="history"):
            project.history.undo()
        assert len(project.labels.by_image()) == 600
