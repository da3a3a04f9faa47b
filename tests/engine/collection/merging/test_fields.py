"""Copies of a project whose fields were filled in: each gets what it lacks of the other's values."""

from pathlib import Path

import pytest

from engine.collection.merging.merge import merge
from engine.collection.merging.planning import plan_merge
from engine.image_fields import CAMERA_TRAP, FieldKind, ImageField
from engine.project import Project
from tests.support.copies import copied
from tests.support.projects import found_files, new_project

SEX, STAGE, _BEHAVIOUR = CAMERA_TRAP


@pytest.fixture
def ours(tmp_path: Path) -> Project:
    """Three photos; the first has a count."""
    project = new_project(tmp_path)
    project.images.add(found_files(tmp_path, 3))
    project.fields.define([SEX])
    project.fields.set([1], "count", "2")
    return project


def test_what_we_lack_comes_in_and_ours_stays(ours: Project, tmp_path: Path) -> None:
    theirs = copied(ours, tmp_path / "copy")
    theirs.fields.define([SEX, STAGE, ImageField("antlers", FieldKind.YES_NO)])
    theirs.fields.set([1], "count", "5")
    theirs.fields.set([2], "life stage", "adult", who="Eve")
    theirs.fields.set([2], "sex", "female", who="Eve")
    ours.fields.set([2], "sex", "male")
    theirs.close()
    done = merge(ours, theirs.path)
    assert ours.fields.values() == {1: {"count": "2"}, 2: {"life stage": "adult", "sex": "male"}}
    assert ours.fields.defined == (SEX, STAGE)
    assert (done.plan.fields.kept, done.change.field_values) == (2, (2,))
    assert "1 value" in done.change.text
    assert ours.check() == []
    ours.history.undo()
    assert list(ours.fields.defined) == [SEX]
    assert ours.fields.values() == {1: {"count": "2"}, 2: {"sex": "male"}}


def test_what_was_removed_here_does_not_come_back(ours: Project, tmp_path: Path) -> None:
    theirs = copied(ours, tmp_path / "copy")
    ours.fields.set([1], "count", None)
    theirs.fields.set([1], "sex", "male")
    with Project.open(theirs.path, for_writing=False) as other:
        plan = plan_merge(ours, other)
    assert [(each.field, each.value) for each in plan.fields.values] == [("sex", "male")]
    theirs.close()


def test_a_field_of_another_kind_stays_as_it_is_here(ours: Project, tmp_path: Path) -> None:
    theirs = copied(ours, tmp_path / "copy")
    theirs.fields.define([ImageField("Sex", FieldKind.YES_NO)])
    theirs.fields.set([1, 2], "sex", "yes")
    theirs.close()
    done = merge(ours, theirs.path)
    assert (done.plan.fields.kept, done.plan.fields.values, ours.fields.defined) == (2, (), (SEX,))
