"""Differences between a backup and the project, counted by hand."""

from pathlib import Path

from engine.project import Project
from engine.project.backups.contents import Changes, changes_between, contents_of_backup
from tests.support.backups import labelled_birds
from tests.support.projects import found_files


def changes_since(project: Project, backup: Path) -> Changes:
    return changes_between(contents_of_backup(backup), project.contents())


def test_every_kind_of_change_is_counted(tmp_path: Path) -> None:
    """Added, changed and removed labels, classes and images, and the number of actions."""
    project, gull, image_ids = labelled_birds(tmp_path, 6)
    with project:
        backup = project.backups.take().path
        assert changes_since(project, backup).is_empty
        project.labels.set(image_ids[1:2], gull)
        project.labels.set(image_ids[2:3], gull - 1)
        project.labels.remove(image_ids[:1])
        project.classes.rename(gull, "Kittiwake")
        project.classes.add("Owl")
        project.images.add(found_files(tmp_path / "more", 2))
        project.images.remove(image_ids[5:])
        changes = changes_since(project, backup)
        assert project.contents() == project.backups.contents()
    assert (changes.labels_added, changes.labels_changed, changes.labels_removed) == (1, 1, 1)
    assert (changes.classes_added, changes.classes_changed, changes.classes_removed) == (1, 1, 0)
    assert (changes.images_added, changes.images_removed) == (2, 1)
    assert (changes.steps, changes.steps_undone) == (7, 0)
    assert changes.texts[0] == "Removed 1 image"
    assert changes.texts[-1] == "Labelled 1 image as Gull"


def test_what_is_undone_does_not_count(tmp_path: Path) -> None:
    """Neither an undone action nor the undo of an action that the backup has."""
    project, gull, image_ids = labelled_birds(tmp_path)
    with project:
        backup = project.backups.take().path
        project.labels.set(image_ids[1:2], gull)
        project.history.undo()
        assert changes_since(project, backup).is_empty
        project.history.undo()
        changes = changes_since(project, backup)
        assert (changes.steps, changes.steps_undone, changes.labels_removed) == (0, 1, 1)
        project.labels.set(image_ids[3:4], gull)
        changes = changes_since(project, backup)
        assert (changes.steps, changes.steps_undone) == (1, 1), (
            "another action got the place of the undone one"
        )
