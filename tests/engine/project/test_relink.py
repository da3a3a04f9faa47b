"""Relinking images is one action: undone, redone, persistent."""

from pathlib import Path

from engine.files import FoundFile
from engine.project import Project
from tests.support.projects import bird_project, dump, found_files


def new_places(folder: Path, count: int) -> list[FoundFile]:
    """New paths of images."""
    return [
        FoundFile(folder / "moved" / f"{number}.jpg", 500 + number, number)
        for number in range(count)
    ]


def test_images_keep_all_but_their_place(tmp_path: Path) -> None:
    """Ids, labels, facts and predictions stay; the change lists only the images."""
    project, gull, ids = bird_project(tmp_path)
    with project:
        project.labels.set(ids[:2], gull, who="ada")
        project.images.record_scan([(image_id, bytes([image_id]) * 16, None) for image_id in ids])
        labels, hashes = project.labels.by_image(), project.images.table().content_hashes
        change = project.images.relink(list(zip(ids, new_places(tmp_path, 4), strict=True)))
        assert change.text == "Found 4 moved images again"
        assert change.images_moved == tuple(ids)
        assert (change.images_added, change.images_removed, change.labelled) == ((), (), ())
        assert [record.path for record in project.images.records()] == [
            f"moved/{number}.jpg" for number in range(4)
        ]
        assert [record.size_bytes for record in project.images.records()] == [500, 501, 502, 503]
        assert project.labels.by_image() == labels
        assert list(project.images.table().content_hashes) == list(hashes)


def test_undo_and_redo_after_a_restart(tmp_path: Path) -> None:
    """One step each; both list the moved images."""
    project, _, ids = bird_project(tmp_path)
    with project:
        before = dump(project)
        project.images.relink(list(zip(ids, new_places(tmp_path, 4), strict=True)))
        after = dump(project)
    with Project.open(project.path) as again:
        assert str(again.history.undo_action) == "Found 4 moved images again"
        undone = again.history.undo()
        assert undone is not None
        assert (undone.images_moved, undone.images_added) == (tuple(reversed(ids)), ())
        assert dump(again) == before
    with Project.open(project.path) as again:
        again.history.redo()
        assert dump(again) == after
        assert again.check() == []


def test_one_image_is_one_image(tmp_path: Path) -> None:
    """The singular is used in the text."""
    project, _, ids = bird_project(tmp_path)
    with project:
        assert (
            project.images.relink([(ids[0], new_places(tmp_path, 1)[0])]).text
            == "Found 1 moved image again"
        )


def test_nothing_to_move_is_no_step(tmp_path: Path) -> None:
    """Removed images and paths in use by others are skipped."""
    project, gull, ids = bird_project(tmp_path)
    with project:
        project.labels.set([ids[1]], gull)
        project.images.remove([ids[3]])
        undo_text = str(project.history.undo_action)
        held = found_files(tmp_path / "photos", 4)[1]
        change = project.images.relink(
            [(ids[0], held), (ids[3], new_places(tmp_path, 1)[0])], strangers=[ids[1]]
        )
        assert change.is_empty
        assert str(project.history.undo_action) == undo_text


def test_two_images_never_get_one_file(tmp_path: Path) -> None:
    """The first keeps it; the second is not moved."""
    project, _, ids = bird_project(tmp_path)
    with project:
        place = new_places(tmp_path, 1)[0]
        assert project.images.relink([(ids[0], place), (ids[1], place)]).images_moved == (ids[0],)


def test_a_stranger_leaves_and_comes_back_with_undo(tmp_path: Path) -> None:
    """An image added for the new file is removed in the same step and restored by undo."""
    project, _, ids = bird_project(tmp_path)
    with project:
        place = new_places(tmp_path, 1)[0]
        (stranger,) = project.images.add([place]).images_added
        before = dump(project)
        change = project.images.relink([(ids[0], place)], strangers=[stranger])
        assert (change.images_moved, change.images_removed) == ((ids[0],), (stranger,))
        project.history.undo()
        assert dump(project) == before
        project.history.redo()
        assert project.images.find(place.path) == ids[0]


def test_facts_keep_the_content_of_what_cannot_be_read(tmp_path: Path) -> None:
    """Hashes of files on an unreachable share stay."""
    project, _, ids = bird_project(tmp_path)
    with project:
        project.images.record_scan([(ids[0], b"a" * 16, None)])
        project.images.record_scan([(ids[0], None, "the file is not there")])
        record = project.images.record(ids[0])
        assert (record.content_hash, record.failure) == (b"a".hex() * 16, "the file is not there")
