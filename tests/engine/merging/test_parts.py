"""Merging copies with boxes: each gets the other's boxes with labels."""

from pathlib import Path

import pytest

from engine.files import FoundFile
from engine.graph.codes import EMPTY, NOTHING_THERE, UNKNOWN
from engine.merging.merge import merge
from engine.merging.merge_plan import Preference, Verdict
from engine.merging.settled import settle
from engine.project import Project
from engine.project.records import BoxOrigin, NewItem
from tests.support.copies import copied
from tests.support.images import write_jpeg
from tests.support.projects import found_files, new_project

CONTENT = b"c" * 16
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


def test_labels_of_boxes_wait_for_classes_that_cannot_come(ours: Project, tmp_path: Path) -> None:
    """The class was removed here: the label of the new box is listed."""
    _, badger = ours.classes.add("Badger")
    theirs = copied(ours, tmp_path / "copy")
    ours.classes.remove([badger])
    theirs.images.add_parts(2, [SECOND], [badger])
    theirs.close()
    done = merge(ours, theirs.path)
    assert (done.images_added, done.labelled) == (1, 0)
    assert [(each.theirs, each.labels) for each in done.plan.waiting] == [("Badger", 1)]


def test_empty_and_none_of_the_classes_are_two_answers(ours: Project, tmp_path: Path) -> None:
    theirs = copied(ours, tmp_path / "copy")
    ours.labels.set([1, 2], UNKNOWN)
    theirs.labels.set([1, 2], EMPTY)
    theirs.close()
    conflicts = merge(ours, theirs.path).conflicts
    assert [(each.image_id, each.ours.code, each.theirs.path) for each in conflicts] == [
        (1, UNKNOWN, NOTHING_THERE),
        (2, UNKNOWN, NOTHING_THERE),
    ]
    settle(ours, conflicts[0], Verdict.THEIRS)
    assert str(ours.history.undo_action) == "Settled a conflict as empty"
    assert [each.image_id for each in merge(ours, theirs.path).conflicts] == [2]
    merge(ours, theirs.path, prefer=Preference.THEIRS)
    assert [ours.labels.by_image()[each].code for each in (1, 2)] == [EMPTY, EMPTY]
    assert merge(ours, theirs.path).conflicts == ()


def test_boxes_on_a_copy_of_a_photo_come_in(ours: Project, tmp_path: Path) -> None:
    """Boxes of a duplicate of the photo in the other copy are merged."""
    theirs = copied(ours, tmp_path / "copy")
    (copy_id,) = theirs.images.add(found_files(tmp_path / "again", 1)).images_added
    boxes = theirs.images.add_parts(copy_id, [FIRST, SECOND], [1, 1]).images_added
    ours.images.record_scan((each, CONTENT, None) for each in (1, 4))
    theirs.images.record_scan((each, CONTENT, None) for each in (1, 4, copy_id, *boxes))
    theirs.close()
    done = merge(ours, theirs.path)
    assert (done.images_added, done.labelled, done.plan.missing) == (1, 2, ())
    labelled = {ours.images.record(each).part for each in ours.labels.by_image()}
    assert labelled == {FIRST, SECOND}
    assert not merge(ours, theirs.path).plan.has_news


def test_a_box_that_was_removed_here_is_listed_as_missing(ours: Project, tmp_path: Path) -> None:
    theirs = copied(ours, tmp_path / "copy")
    theirs.labels.set([4], 1)
    ours.images.remove([4])
    theirs.close()
    done = merge(ours, theirs.path)
    assert (done.images_added, done.labelled) == (0, 0)
    assert [(each.image_id, each.part) for each in done.plan.missing] == [(4, FIRST)]


def test_a_box_of_a_photo_that_comes_in_keeps_what_a_detector_found(
    ours: Project, tmp_path: Path
) -> None:
    theirs = copied(ours, tmp_path / "copy")
    photo = theirs.path.parent / "new.jpg"
    write_jpeg(photo)
    file = FoundFile.at(photo)
    assert file is not None
    theirs.images.add([file, NewItem(file, SECOND, "animal", 0.75)])
    theirs.close()
    done = merge(ours, theirs.path, adds_images=True)
    assert done.images_added == 2
    assert list(ours.images.detections().values()) == [BoxOrigin("animal", 0.75)]
