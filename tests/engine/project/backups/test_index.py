"""The backup index: projects by path; it tolerates any damage."""

import json
import os
from pathlib import Path

import pytest

from engine.config import BACKUPS_VARIABLE, backups_folder
from engine.project import Project
from engine.project.backups import index
from engine.project.backups.index import (
    note_backup,
    note_list,
    note_opening,
    read_index,
    shown_list,
)
from tests.support.backups import labelled_birds

ONE, OTHER = "0f" * 16, "1e" * 16


def files() -> list[Path]:
    return sorted((backups_folder() / "index").iterdir())


def test_opening_and_backing_up_are_remembered(tmp_path: Path) -> None:
    project, *_ = labelled_birds(tmp_path)
    with project:
        made, project_id = project.backups.take(), project.backups.project_id
    record = read_index().record_of(project.path)
    assert record is not None
    assert (record.project_id, record.file_number) == (project_id, project.path.stat().st_ino)
    assert read_index().taken_of(made.path) == project.path


def test_a_path_is_that_of_the_project_that_was_seen_there_last(tmp_path: Path) -> None:
    """Backups of the earlier project at the path stay known."""
    path, backup = tmp_path / "birds.protoleaf", tmp_path / "birds 0f0f0f0f" / "one.protoleaf"
    backup.parent.mkdir()
    backup.touch()
    note_opening(path, ONE, 1)
    note_backup(path, ONE, backup)
    note_opening(path, OTHER, 2)
    record = read_index().record_of(path)
    assert record is not None
    assert (record.project_id, record.file_number) == (OTHER, 2)
    assert read_index().taken_of(backup) == path


def test_backups_that_are_gone_are_forgotten(tmp_path: Path) -> None:
    folder = tmp_path / "birds 0f0f0f0f"
    folder.mkdir()
    for name in ("one", "two"):
        (folder / name).touch()
        note_backup(tmp_path / "birds.protoleaf", ONE, folder / name)
    (folder / "one").unlink()
    (folder / "three").touch()
    note_backup(tmp_path / "birds.protoleaf", ONE, folder / "three")
    assert [record.taken for record in read_index().records] == [
        ("birds 0f0f0f0f/two", "birds 0f0f0f0f/three")
    ]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"3",
        b"[" * 100_000,
        b'{"path": 3}',
        b'{"path": "/x", "project_id": "zz"}',
        b"\0" * 500,
    ],
)
def test_damage_is_passed_over_and_mended(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "birds.protoleaf"
    note_opening(path, ONE, 1)
    (file,) = files()
    file.write_bytes(content)
    assert read_index().records == ()
    note_opening(path, OTHER, 1)
    assert read_index().project_ids == {OTHER}


def test_a_record_of_another_path_is_not_believed(tmp_path: Path) -> None:
    """A record renamed by a sync program or written by hand is ignored."""
    note_opening(tmp_path / "birds.protoleaf", ONE, 1)
    (file,) = files()
    values = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(values | {"path": "/elsewhere/birds.protoleaf"}), encoding="utf-8")
    assert read_index().records == ()


def test_an_index_that_cannot_be_written_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "taken").touch()
    monkeypatch.setenv(BACKUPS_VARIABLE, str(tmp_path / "taken"))
    project, *_ = labelled_birds(tmp_path)
    project.close()
    with Project.open(project.path, for_writing=False) as opened:
        assert len(opened.labels.by_image()) == 2
    assert read_index().records == ()
    note_list(project.path, [project.path])
    assert shown_list(project.path) is None


@pytest.mark.skipif(os.name != "posix", reason="names that are no text")
def test_names_that_are_no_text_are_kept(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"b\xffrds.protoleaf")
    note_opening(path, ONE, 1)
    assert [record.path for record in read_index().records] == [path]


def test_looking_into_a_backup_is_no_opening_of_a_project(tmp_path: Path) -> None:
    project, *_ = labelled_birds(tmp_path)
    with project:
        made = project.backups.take()
    Project.open(made.path, for_writing=False).close()
    assert [record.path for record in read_index().records] == [project.path]


def test_passing_projects_are_forgotten_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "_MOST_RECORDS", 3)
    (tmp_path / "there").touch()
    for name in ("there", "gone 1", "gone 2", "new"):
        note_opening(tmp_path / name, ONE, 1)
    assert {record.path.name for record in read_index().records} == {"there", "new"}
