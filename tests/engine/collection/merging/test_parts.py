"""Copies of a project in which boxes were drawn: each gets the other's, with their labels."""

from pathlib import Path

import pytest

from engine.collection.merging.merge import merge
from engine.project import Project
from tests.support.copies import copied
from tests.support.projects import found_files, new_project

FIRST, SECOND = "xywh=percent:10,10,20,20", "xywh=percent:50,50,25,25"


@pytest.fixture
def ours(tmp_path: Path) -> Project:
    """Three photos; the first has a box, image 4."""
    project = new_project(tmp_path)
    project.classes.add("Fox")
    project.images.add(found_files(tmp_path, 3))
    project.images.add_parts(1, [FIRST])
    return project


def test_a_box_of_theirs_comes_in_with_its_label(ours: Project, tmp_path: Path) -> None:
    theirs = copied(ours, tmp_path / "copy")
    theirs.images.add_parts(2, [SECOND], [1])
    theirs.labels.set([4], 1)
    theirs.close()
    done = merge(ours, theirs.path)
    assert (done.images_added, done.labelled) == (1, 2)
    table = ours.images.table()
    assert (table.parts[4], table.paths[4]) == (SECOND, table.paths[1])
    assert ours.labels.by_image().keys() == {4, 5}
    assert ours.check() == []
    ours.history.undo()
    assert list(ours.images.table().ids) == [1, 2, 3, 4]


def test_the_same_box_of_both_is_one(ours: Project, tmp_path: Path) -> None:
    theirs = copied(ours, tmp_path / "copy")
    for project in (ours, theirs):
        project.images.add_parts(3, [SECOND])
    theirs.labels.set([5], 1)
    theirs.close()
    done = merge(ours, theirs.path)
    assert (done.images_added, done.labelled) == (0, 1)


def test_a_box_that_was_moved_in_one_copy_is_still_one(ours: Project, tmp_path: Path) -> None:
    theirs = copied(ours, tmp_path / "copy")
    theirs.images.change_part(4, SECOND)
    theirs.labels.set([4], 1)
    theirs.close()
    done = merge(ours, theirs.path)
    assert (done.images_added, done.labelled) == (0, 1)
    assert ours.images.record(4).part == FIRST
