"""Memory per file while thousands are scanned, added and relinked."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.collection.importing.import_images import add_found
from engine.config import CacheFolders
from engine.images.find_images import find_images
from engine.project import images as project_images
from engine.project import step
from engine.relink import find
from engine.relink.find import relink
from engine.relink.seen_files import NumbersByKey
from tests.support.moved_images import numbered, shelf, write_files
from tests.support.projects import new_project

COUNT = 3000
IN_FOLDER = 100


@pytest.fixture
def contents(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """Files of different sizes in several folders, so that all must be read.

    Work is done in small batches.
    """
    monkeypatch.setattr(project_images, "_CHANGED_AT_ONCE", IN_FOLDER)
    monkeypatch.setattr(step, "CHUNK_LENGTH", IN_FOLDER)
    monkeypatch.setattr(find, "_REMEMBERED_AT_ONCE", IN_FOLDER)
    folders = [numbered(f"photos/{folder}", IN_FOLDER) for folder in range(COUNT // IN_FOLDER)]
    return {name: data for each in folders for name, data in each.items()}


def bytes_a_file(work: Callable[[], object]) -> float:
    """Peak memory per file."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / COUNT
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_scanning_and_adding(tmp_path: Path, contents: dict[str, bytes]) -> None:
    """Found files are columns, and rows are made in batches."""
    write_files(tmp_path, contents)
    find_images([tmp_path])  # warm up imports and caches
    assert bytes_a_file(lambda: find_images([tmp_path])) < 200
    found = find_images([tmp_path])
    with new_project(tmp_path) as project:
        assert bytes_a_file(lambda: add_found(project, found)) < 400
        assert project.images.count == COUNT


@pytest.mark.slow
def test_finding_moved_images(tmp_path: Path, contents: dict[str, bytes]) -> None:
    """Neither search, plan nor step makes objects for all images at once."""
    moved = shelf(tmp_path, contents)
    (tmp_path / "photos").rename(tmp_path / "bilder")
    with moved.project as project:
        plan = moved.find()
        assert len(plan.moves) == COUNT
        assert bytes_a_file(moved.find) < 1300
        assert bytes_a_file(lambda: relink(project, plan, CacheFolders(tmp_path / "cache"))) < 600


def test_numbers_by_key() -> None:
    """Keys may repeat; numbers of one key are in order."""
    numbers = NumbersByKey(["b", "a", "b", "c", "b"])
    assert [list(numbers.get(key)) for key in ("a", "b", "nobody")] == [[1], [0, 2, 4], []]
    assert sorted(map(list, numbers.groups())) == [[0, 2, 4], [1], [3]]
    assert list(NumbersByKey().groups()) == []
