"""The last common step of two copies, and what each had of the other's labels and notes."""

from pathlib import Path

from engine.project import Project
from engine.project.fork import Fork
from tests.support.copies import copied, stranger, two_copies
from tests.support.projects import found_files


def fork(ours: Project, theirs: Project) -> Fork:
    """Compare two copies."""
    found = ours.history.fork_with(theirs.history)
    assert found is not None
    return found


def test_what_each_made_since(tmp_path: Path) -> None:
    """Classes and images of equal ids differ; undone steps do not count."""
    ada, ben = two_copies(tmp_path)
    ada.classes.add("Tern")
    ben.classes.add("Heron")
    ben.images.add(found_files(tmp_path / "ben" / "more", 1, start=700))
    ada.classes.add("Owl")
    ada.history.undo()
    found = fork(ada, ben)
    assert found.ours.classes_made == found.theirs.classes_made == frozenset({3})
    assert not found.ours.images_added
    assert found.theirs.images_added == frozenset({13})
    assert found.is_same_image(3, 3)
    assert not found.is_same_image(13, 13)
    assert not found.is_same_image(3, 4)


def test_a_step_that_one_took_back_parts_them(tmp_path: Path) -> None:
    """It belongs to the other copy only."""
    ada, ben = two_copies(tmp_path)
    ada.history.undo()
    assert set(fork(ada, ben).theirs.labels) == {1, 2}
    assert fork(ada, ben).ours.labels == {}


def test_who_knew_what(tmp_path: Path) -> None:
    """Labels from before the fork are known to both, corrected ones too.

    New ones are not.
    """
    ada, ben = two_copies(tmp_path)
    old = ben.labels.of(1)
    ada.labels.set([1], 1, who="ada")
    ben.labels.set([3], 1, who="ben")
    new, corrected = ben.labels.of(3), ada.labels.of(1)
    assert old is not None
    assert new is not None
    assert corrected is not None
    found = fork(ada, ben)
    assert found.was_here(1, 1, old)
    assert found.ours.knew(1, old)
    assert not found.was_here(3, 3, new)
    assert not found.was_there(1, 1, corrected)


def test_notes_are_known_as_labels_are(tmp_path: Path) -> None:
    """A flag removed here was known here."""
    ada, _ben = two_copies(tmp_path)
    ada.notes.set_flagged([3], True)
    later = copied(ada, tmp_path / "later")
    ada.notes.set_flagged([3], False)
    note = later.notes.of(3)
    assert note is not None
    assert fork(ada, later).was_here(3, 3, note)


def test_other_projects_have_no_fork(tmp_path: Path) -> None:
    """Although they have the same photos."""
    ada, _ben = two_copies(tmp_path)
    assert ada.history.fork_with(stranger(tmp_path / "cleo").history) is None
