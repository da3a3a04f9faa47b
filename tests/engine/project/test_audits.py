"""Audits in the project file: undo, enlarging, changes of images and classes."""

from pathlib import Path

import pytest

from engine.errors import InputError
from engine.project import Audit, AuditItem, Project
from tests.support.projects import bird_project, dump

IMAGES = 4
ITEMS = tuple(
    AuditItem(
        image_id,
        place,
        class_id=2,
        score=0.9,
        safe_class_id=1,
        safe_score=0.95,
        stratum=0,
        stratum_size=IMAGES,
    )
    for place, image_id in enumerate((3, 1, 4, 2))
)


@pytest.fixture
def birds(tmp_path: Path) -> Project:
    """Four sampled images, two of them labelled."""
    project, _gull, _ids = bird_project(tmp_path, IMAGES)
    project.audits.add(ITEMS, 2, population=IMAGES)
    return project


def only(project: Project) -> Audit:
    (audit,) = project.audits.all()
    return audit


def test_an_audit_is_kept_in_the_file_in_its_random_order(birds: Project) -> None:
    """Safe classes and scores of the time of sampling stay, whatever changes."""
    path, before = birds.path, only(birds)
    birds.close()
    with Project.open(path) as project:
        assert (only(project), only(project).items, project.check()) == (before, list(ITEMS), [])
        assert [item.image_id for item in only(project).asked] == [3, 1]
        assert (only(project).population, only(project).is_stratified) == (IMAGES, False)


def test_drawing_and_growing_are_one_step_each_that_can_be_undone(birds: Project) -> None:
    change = birds.audits.grow(only(birds).audit_id, 3)
    assert (change.text, change.audits) == ("Drew 1 image more to check at random", (1,))
    assert [item.image_id for item in only(birds).asked] == [3, 1, 4]
    birds.history.undo()
    assert only(birds).size == 2
    undone = birds.history.undo()
    assert undone is not None
    assert (undone.audits, birds.audits.all()) == ((1,), ())
    birds.history.redo()
    assert (only(birds).items, birds.check()) == (list(ITEMS), [])


def test_an_audit_never_shrinks_and_must_be_there(birds: Project) -> None:
    assert birds.audits.grow(1, 1).is_empty
    with pytest.raises(InputError, match="no such audit"):
        birds.audits.grow(7, 50)


def test_removed_images_leave_the_audit_and_come_back_with_undo(birds: Project) -> None:
    birds.images.remove([3, 2])
    assert [item.image_id for item in only(birds).items] == [1, 4]
    assert [item.image_id for item in only(birds).asked] == [1]
    birds.history.undo()
    assert (only(birds).items, birds.check()) == (list(ITEMS), [])


def test_claims_follow_the_heir_of_a_class_as_labels_do(birds: Project) -> None:
    """A merged class becomes its target; a removed one its parent."""
    _, tern = birds.classes.add("Tern", [1])
    before = dump(birds)
    birds.classes.merge([2], tern)
    assert {(item.class_id, item.safe_class_id) for item in only(birds).items} == {(tern, 1)}
    birds.history.undo()
    assert dump(birds) == before
    birds.classes.remove([2])
    assert {item.class_id for item in only(birds).items} == {1}
    birds.classes.remove([1, tern])
    assert {item.class_id for item in only(birds).items} == {1}
    assert birds.check() == []
