"""The image table as columns."""

import os
from pathlib import Path

import pytest

from engine.files import FoundFile
from engine.project import Project, image_table
from engine.texts import Message

NAMES = ("a.jpg", "鳥/鴎.jpg", "a,b.jpg", os.fsdecode(b"\xff.jpg"), "it's.jpg", "last.jpg")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Names in several scripts, one of them invalid Unicode."""
    project = Project.create(
        tmp_path / "any.protoleaf",
        backbone_name="b",
        backbone_hash="h",
        backbone_path="",
        propagation_hash="p",
    )
    project.images.add(
        [FoundFile(tmp_path / name, 10 * place, -place) for place, name in enumerate(NAMES)]
    )
    facts = [
        (1, b"\x00" * 16, None),
        (3, bytes(range(16)), "cut, short"),
        (4, None, Message("no {what}", {"what": "way"})),
    ]
    project.images.record_scan(facts)
    project.images.record_scan([(5, b"\x07" * 16, "gone"), (6, None, None)])
    project.images.remove([5])
    return project


@pytest.mark.parametrize("at_once", [1, 2, 5, 100])
def test_columns_are_those_of_the_rows(
    project: Project, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ids, paths, sizes, times, hashes and failures, in batches of any size.

    Removed images are omitted.
    """
    monkeypatch.setattr(image_table, "AT_ONCE", at_once)
    whole, rows = project.images.table(), project.images.table([1, 2, 3, 4, 6])
    assert list(whole.ids) == list(rows.ids) == [1, 2, 3, 4, 6]
    assert list(whole.paths) == list(rows.paths) == [NAMES[place] for place in (0, 1, 2, 3, 5)]
    assert list(whole.sizes_bytes) == list(rows.sizes_bytes)
    assert list(whole.modified_ns) == list(rows.modified_ns)
    assert list(whole.content_hashes) == list(rows.content_hashes)
    assert list(whole.failures) == list(rows.failures) == [None, None, "cut, short", "no way", None]
    project.close()


def test_an_empty_project_has_no_rows(tmp_path: Path) -> None:
    """Without an error."""
    with Project.create(
        tmp_path / "any.protoleaf",
        backbone_name="b",
        backbone_hash="h",
        backbone_path="",
        propagation_hash="p",
    ) as project:
        table = project.images.table()
        assert (len(table.ids), len(table.paths), len(table.failures)) == (0, 0, 0)
