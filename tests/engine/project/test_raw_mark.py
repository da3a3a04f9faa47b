"""The mark of a project, found in a damaged file."""

import os
from pathlib import Path

import pytest

from engine.project.file import file_state
from engine.project.file.file_state import marks_in
from tests.support.backups import labelled_birds


@pytest.fixture
def closed(tmp_path: Path) -> tuple[Path, str]:
    """A closed project and its mark."""
    project, *_ = labelled_birds(tmp_path)
    with project:
        return project.path, project.backups.project_id


def test_it_is_found_sealed_and_open(tmp_path: Path) -> None:
    project, *_ = labelled_birds(tmp_path)
    with project:
        (mark,) = marks_in(project.path)
        assert mark.project_id == project.backups.project_id
        (before,) = marks_in(project.path.with_name(project.path.name + "-journal"))
        assert (before.identity, before.generation) == (mark.identity, mark.generation - 1)
    (sealed,) = marks_in(project.path)
    assert sealed == mark.next


def test_neither_header_nor_order_of_the_pages_matter(closed: tuple[Path, str]) -> None:
    path, project_id = closed
    content = path.read_bytes()
    path.write_bytes(bytes(100) + b"moved by some bytes" + content[5000:] + content[100:5000])
    assert {mark.project_id for mark in marks_in(path)} == {project_id}


def test_it_may_lie_across_two_blocks(
    closed: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, project_id = closed
    place = path.read_bytes().index(bytes.fromhex(project_id))
    for ahead in (1, 5, 15):
        monkeypatch.setattr(file_state, "_BLOCK_BYTES", place + ahead)
        assert [mark.project_id for mark in marks_in(path)] == [project_id]


def test_where_there_is_none_none_is_found(tmp_path: Path) -> None:
    (tmp_path / "noise").write_bytes(os.urandom(300_000))
    assert [marks_in(path) for path in (tmp_path / "noise", tmp_path, tmp_path / "nothing")] == [
        [],
        [],
        [],
    ]
