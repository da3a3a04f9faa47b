"""Excluded classes in the project file: set, undone, and overridden by labels."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine.errors import InputError, UnknownClassError
from engine.project import Project
from engine.project.clock import time_text
from engine.project.records import FileChange
from tests.support.projects import bird_project, dump

GULL = 2


@pytest.fixture
def birds(tmp_path: Path) -> Project:
    """Four images without labels."""
    project, gull, ids = bird_project(tmp_path, 4)
    assert (gull, ids) == (GULL, (1, 2, 3, 4))
    return project


def test_images_left_out_of_a_group_are_excluded_in_the_same_step(birds: Project) -> None:
    before = dump(birds)
    change = birds.labels.set([1, 2], GULL, left_out=[3])
    assert (change.labelled, change.excluded, birds.exclusions.pairs()) == (
        (1, 2),
        (3,),
        [(3, GULL)],
    )
    assert change.action.code == "labelled"
    birds.history.undo()
    assert dump(birds) == before
    birds.history.redo()
    path = birds.path
    birds.close()
    with Project.open(path) as project:
        assert (project.exclusions.pairs(), project.check()) == ([(3, GULL)], [])


def test_a_class_can_be_excluded_alone(birds: Project) -> None:
    change = birds.exclusions.add([3, 4], GULL, who="Ada")
    assert (change.text, change.excluded) == ("Excluded Gull for 2 images", (3, 4))
    (third, _fourth) = birds.exclusions.all()
    assert (third.image_id, third.class_id, third.who) == (3, GULL, "Ada")
    with pytest.raises(UnknownClassError):
        birds.exclusions.add([3], 77)
    with pytest.raises(InputError):
        birds.exclusions.add([77], GULL)


def test_a_label_removes_the_exclusion_that_it_contradicts(birds: Project) -> None:
    birds.exclusions.add([3], GULL)
    birds.exclusions.add([3], 1)
    assert birds.labels.set([3], GULL).excluded == (3,)
    assert birds.exclusions.pairs() == [(3, 1)]
    birds.history.undo()
    assert birds.exclusions.pairs() == [(3, 1), (3, GULL)]


def test_removed_images_take_their_exclusions_along(birds: Project) -> None:
    birds.exclusions.add([3, 4], GULL)
    birds.images.remove([3])
    assert birds.exclusions.pairs() == [(4, GULL)]
    birds.history.undo()
    assert (birds.exclusions.pairs(), birds.check()) == ([(3, GULL), (4, GULL)], [])


def test_another_picture_in_the_file_is_not_excluded(birds: Project) -> None:
    birds.exclusions.add([3, 4], GULL)
    later = time_text(datetime.now(UTC) + timedelta(hours=1))
    birds.file_changes.record([FileChange(3, 5, 7, b"\x01", later)])
    assert birds.exclusions.pairs() == [(4, GULL)]
