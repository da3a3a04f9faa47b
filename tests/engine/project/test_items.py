"""Parts of files: boxes, pages, further things; labels of empty images."""

from pathlib import Path

import pytest

from engine.errors import InputError
from engine.file_parts import part_content
from engine.files import FoundFile
from engine.graph.codes import EMPTY, UNKNOWN
from engine.project import Project
from engine.project.records import NewItem
from tests.support.projects import change_file, dump, found_files, new_project

FIRST, SECOND = "xywh=percent:10,10,20,20", "xywh=percent:50,50,25,25"
FILE_HASH = b"h" * 16


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Three photos; the first has two boxes, images 4 and 5."""
    project = new_project(tmp_path)
    project.classes.add("Fox")
    project.images.add(found_files(tmp_path, 3))
    project.images.add_parts(1, [FIRST, SECOND], [1, None])
    return project


def test_boxes_are_images_of_the_same_file(project: Project) -> None:
    table = project.images.table()
    assert list(table.ids) == [1, 2, 3, 4, 5]
    assert list(table.parts) == ["", "", "", FIRST, SECOND]
    assert table.paths[0] == table.paths[3] == table.paths[4]
    assert project.images.parts_of(project.images.resolve(project.images.record(1))) == {
        1: "",
        4: FIRST,
        5: SECOND,
    }
    assert project.labels.by_image().keys() == {4}
    assert project.images.record(4).part == FIRST
    assert project.check() == []


def test_a_table_of_some_is_as_the_whole(project: Project) -> None:
    whole, some = project.images.table(), project.images.table([1, 2, 3, 4, 5])
    assert list(whole.parts) == list(some.parts)
    assert list(whole.contents()) == list(some.contents())


def test_contents_are_of_the_parts_and_hashes_of_the_file(project: Project) -> None:
    project.images.record_scan([(1, FILE_HASH, None), (4, FILE_HASH, None)])
    table = project.images.table()
    assert (table.content_hashes[0], table.content_hashes[3]) == (FILE_HASH, FILE_HASH)
    assert (table.contents()[0], table.contents()[3]) == (FILE_HASH, part_content(FILE_HASH, FIRST))


def test_the_same_box_is_added_once(project: Project) -> None:
    assert project.images.add_parts(1, [FIRST]).images_added == ()
    assert project.images.add_parts(1, ["thing=2"]).images_added == (6,)


def test_images_of_a_file_follow_one_another(project: Project) -> None:
    assert [each.image_id for each in project.images.each_content()] == [1, 4, 5, 2, 3]
    assert len(list(project.images.each_file())) == 3


def test_a_moved_box_keeps_its_label_and_its_way_back(project: Project) -> None:
    before = dump(project)
    moved = "xywh=percent:11,10,20,20"
    change = project.images.change_part(4, moved)
    assert (change.images_moved, project.images.record(4).part) == ((4,), moved)
    assert project.labels.by_image()[4].class_id == 1
    project.history.undo()
    assert dump(project) == before
    project.history.redo()
    assert (project.images.record(4).part, project.check()) == (moved, [])


def test_a_box_cannot_become_another_one(project: Project) -> None:
    with pytest.raises(InputError, match="same box already"):
        project.images.change_part(4, SECOND)
    with pytest.raises(InputError, match="names no part"):
        project.images.change_part(4, "xywh=1,2,3,4")


def test_boxes_go_with_their_photo_and_come_back(project: Project) -> None:
    before = dump(project)
    assert project.images.remove([1]).images_removed == (1, 4, 5)
    assert project.check() == []
    project.history.undo()
    assert dump(project) == before


def test_boxes_of_one_page_go_with_it(project: Project) -> None:
    file = FoundFile(project.path.parent / "plates.pdf", 5, 6)
    parts = ["page=1", "page=2", f"page=1&{FIRST}", "page=11"]
    pages = project.images.add([NewItem(file, part) for part in parts]).images_added
    assert project.images.remove([pages[0]]).images_removed == (pages[0], pages[2])


def test_pages_and_frames_stay_when_the_file_as_a_whole_goes(project: Project) -> None:
    """Only parts without pixels of their own are removed with it."""
    file = FoundFile(project.path.parent / "fox.gif", 5, 6)
    parts = ["", "t=0", "t=2", FIRST, "thing=2", f"t=2&{FIRST}"]
    ids = project.images.add([NewItem(file, part) for part in parts]).images_added
    assert set(project.images.remove([ids[0]]).images_removed) == {ids[0], ids[3], ids[4]}


def test_all_images_of_a_moved_file_move(project: Project) -> None:
    file = FoundFile(project.path.parent / "elsewhere" / "a.jpg", 7, 8)
    assert project.images.relink([(1, file)]).images_moved == (1, 4, 5)
    table = project.images.table()
    assert {table.paths[place] for place in (0, 3, 4)} == {"elsewhere/a.jpg"}
    assert list(table.parts)[3:] == [FIRST, SECOND]


def test_a_file_moves_for_one_of_its_images(project: Project) -> None:
    file = FoundFile(project.path.parent / "b.jpg", 7, 8)
    assert project.images.relink([(5, file), (4, file)]).images_moved == (1, 4, 5)


def test_detections_keep_category_and_score(project: Project) -> None:
    file = found_files(project.path.parent, 1)[0]
    item = NewItem(file, "xywh=percent:1,1,5,5", category="animal", detection_score=0.75)
    (image_id,) = project.images.add([item]).images_added
    assert project.images.detections() == {image_id: ("animal", 0.75)}


def test_an_empty_image_is_labelled_without_a_class(project: Project) -> None:
    project.labels.set([2], EMPTY)
    project.labels.set([3], None)
    codes = dict(zip(project.labels.table().image_ids, project.labels.table().codes, strict=True))
    assert codes == {2: EMPTY, 3: UNKNOWN, 4: 1}
    label = project.labels.of(2)
    assert label is not None
    assert (label.is_empty, label.class_id, label.code) == (True, None, EMPTY)
    assert project.labels.set([2], EMPTY).is_empty
    assert project.labels.set([2], None).action.arguments["relabelled"] == 1
    project.history.undo()
    assert project.labels.by_image()[2].is_empty
    project.labels.set([2], 1)
    assert not project.labels.by_image()[2].is_empty
    assert project.check() == []


def test_a_part_that_is_none_is_found(project: Project) -> None:
    project.close()
    change_file(project.path, "UPDATE image SET part = 'page=zero' WHERE image_id = 4")
    assert any("page=zero" in fault for fault in Project.faults_of(project.path))
