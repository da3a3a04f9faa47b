"""Stars, flags, comments and confirmations: stored, undone, redone."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.errors import InputError
from engine.project import ImageDetails, Note, Project
from engine.project.schema import LONGEST_TEXT
from tests.support.projects import bird_project, change_file, found_files, new_project


def test_notes_are_kept_and_undone(tmp_path: Path) -> None:
    """Each edit is one step with a description; an empty note is deleted."""
    project, _, images = bird_project(tmp_path)
    change = project.notes.set_stars(images[:2], 4, who="ada")
    assert (change.text, change.noted, change.labelled) == (
        "Gave 2 images 4 stars",
        tuple(images[:2]),
        (),
    )
    project.notes.set_comment(images[:1], "  wet wings ", who="ben")
    project.notes.set_flagged(images[1:3], True)
    note = project.notes.of(images[0])
    assert note is not None
    assert (note.stars, note.is_flagged, note.comment, note.who) == (4, False, "wet wings", "ben")
    assert [each.is_flagged for each in project.notes.by_image().values()] == [False, True, True]
    project.notes.set_flagged(images, False)
    assert list(project.notes.by_image()) == list(images[:2])
    project.history.undo()
    assert list(project.notes.by_image()) == list(images[:3])
    project.close()
    with Project.open(tmp_path / "birds.protoleaf") as again:
        assert again.notes.of(images[0]) == note
        assert again.check() == []
        for _ in range(3):
            again.history.undo()
        assert (again.notes.by_image(), str(again.history.redo_action)) == (
            {},
            "Gave 2 images 4 stars",
        )


def test_notes_that_cannot_be(tmp_path: Path) -> None:
    """A refused edit stores nothing; one without a change is no step."""
    project, _, images = bird_project(tmp_path)
    before = project.history.steps()
    with pytest.raises(InputError, match="stars"):
        project.notes.set_stars(images, 6)
    with pytest.raises(InputError, match="too long"):
        project.notes.set_comment(images, "x" * (LONGEST_TEXT + 1))
    with pytest.raises(InputError, match="no such image"):
        project.notes.set_flagged([*images, 99], True)
    assert project.notes.set_stars(images, 0).is_empty
    assert project.notes.set_comment(images, "  ").is_empty
    assert (project.history.steps(), project.notes.by_image()) == (before, {})


def test_notes_of_others_never_replace_ours(tmp_path: Path) -> None:
    """Imported notes keep author and time; an existing note has priority."""
    project, _, images = bird_project(tmp_path)
    project.notes.set_stars(images[:1], 2, who="ada")
    when = datetime(2026, 5, 1, tzinfo=UTC)
    theirs = [Note(image, 5, False, "good", "ben", when) for image in images[:2]]
    change = project.notes.add_missing([*theirs, Note(images[2], 0, False, "", "ben", when)])
    assert (change.text, change.noted) == ("Added notes on 1 image", (images[1],))
    assert (project.notes.by_image()[images[0]].who, project.notes.of(images[1])) == (
        "ada",
        theirs[1],
    )


def test_a_confirmation_counts_while_the_label_stays(tmp_path: Path) -> None:
    """Another or no label is not confirmed; undoing the label restores the confirmation."""
    project, gull, images = bird_project(tmp_path)
    project.labels.set(images[:2], gull)
    project.labels.set(images[2:3], None)
    change = project.labels.confirm(images)
    assert (change.text, change.confirmed) == ("Confirmed 3 labels", tuple(images[:3]))
    assert project.labels.confirmed() == {images[0]: gull, images[1]: gull, images[2]: None}
    project.labels.set(images[:1], None)
    project.labels.remove(images[2:3])
    assert project.labels.confirmed() == {images[1]: gull}
    project.history.undo()
    project.history.undo()
    assert len(project.labels.confirmed()) == 3
    project.history.undo()
    assert (project.labels.confirmed(), project.check()) == ({}, [])


def test_what_leaves_with_an_image_comes_back_with_it(tmp_path: Path) -> None:
    """Removing images removes notes and confirmations in one step.

    Undo restores them, with the details.
    """
    project, gull, images = bird_project(tmp_path)
    project.labels.set(images, gull)
    project.labels.confirm(images)
    project.notes.set_stars(images, 3)
    project.details.store(ImageDetails(image, 1, camera="Reconyx") for image in images)
    change = project.images.remove(images[:3])
    assert (change.noted, change.confirmed, change.images_removed) == ((), (), tuple(images[:3]))
    assert (len(project.notes.by_image()), len(project.labels.confirmed()), project.check()) == (
        1,
        1,
        [],
    )
    assert [each.image_id for each in project.details.each()] == [images[3]]
    project.history.undo()
    assert (len(project.notes.by_image()), len(project.labels.confirmed())) == (4, 4)
    assert [each.camera for each in project.details.each()] == ["Reconyx"] * 4


def test_an_image_with_a_note_is_no_stranger(tmp_path: Path) -> None:
    """A new image is replaced by a moved file only without notes."""
    project, _, images = bird_project(tmp_path)
    (newcomer,) = project.images.add(found_files(tmp_path / "moved", 1)).images_added
    project.notes.set_flagged([newcomer], True)
    moves = [(images[0], found_files(tmp_path / "moved", 1)[0])]
    assert project.images.relink(moves, strangers=[newcomer]).is_empty
    project.notes.set_flagged([newcomer], False)
    assert project.images.relink(moves, strangers=[newcomer]).images_moved == (images[0],)


def test_details_are_facts(tmp_path: Path) -> None:
    """They are read as stored, are no step of the history, and missing ones are listed."""
    project, _, images = bird_project(tmp_path)
    steps = len(project.history.steps())
    whole = ImageDetails(
        images[0],
        7,
        4000,
        3000,
        datetime.fromisoformat("2024-05-01T06:30"),
        "Reconyx HC500",
        -33.5,
        151.25,
        {"lens": "2.8"},
    )
    project.details.store([whole, ImageDetails(images[1], 8), ImageDetails(999, 9)])
    assert (project.details.of(images[0]), project.details.of(images[2])) == (whole, None)
    assert project.details.of_many(images) == {
        images[0]: whole,
        images[1]: ImageDetails(images[1], 8, fields={}),
    }
    assert [image_id for image_id, _ in project.details.missing()] == list(images[2:])
    assert [image_id for image_id, _ in project.details.missing(1)] == [images[2]]
    project.details.store([ImageDetails(images[0], 9, camera="Other")])
    assert [(each.image_id, each.camera) for each in project.details.each()] == [
        (images[0], "Other"),
        (images[1], ""),
    ]
    assert (len(project.history.steps()), project.check()) == (steps, [])


@pytest.mark.parametrize("fields", ["'[]'", "'nothing'", "'[[['", "'{\"a\": 5}'"])
def test_strange_details_are_read_as_none(fields: str, tmp_path: Path) -> None:
    """Invalid details are ignored, since the file can be read again."""
    with new_project(tmp_path) as project:
        (image,) = project.images.add(found_files(tmp_path, 1)).images_added
        project.details.store(
            [ImageDetails(image, 7, taken_at=datetime.fromisoformat("2024-05-01"))]
        )
    taken_at = "'2026-13-40T99:00:00'"
    change_file(
        tmp_path / "birds.protoleaf",
        f"UPDATE image_detail SET fields = {fields}, taken_at = {taken_at}",  # noqa: S608
    )
    with Project.open(tmp_path / "birds.protoleaf") as project:
        details = project.details.of(image)
        assert details is not None
        assert (details.taken_at, set(details.fields) <= {"a"}) == (None, True)
