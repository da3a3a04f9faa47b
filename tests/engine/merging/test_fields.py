"""Merging copies of a project with fields: each gets missing values of the other."""

from pathlib import Path

import pytest

from engine.field_renaming import Renaming, renamed_fields
from engine.image_fields import CAMERA_TRAP, FieldKind, ImageField
from engine.merging.merge import merge
from engine.merging.planning import plan_merge
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


def rename(project: Project, *renamings: Renaming) -> None:
    project.fields.define(renamed_fields(project.fields.defined, renamings), renamings)


@pytest.mark.parametrize("who_renames", ["ours", "theirs", "both"])
def test_a_field_that_was_renamed_is_the_same_field(
    ours: Project, tmp_path: Path, who_renames: str
) -> None:
    """Its name and choices stay as here.

    An equal value is no conflict.
    """
    ours.fields.set([1], "sex", "female")
    theirs = copied(ours, tmp_path / "copy")
    if who_renames != "theirs":
        rename(ours, Renaming("sex", "Geschlecht"), Renaming("sex", "weiblich", "female"))
    if who_renames != "ours":
        rename(theirs, Renaming("sex", "sexe"), Renaming("sex", "femelle", "female"))
    here, there = ours.fields.defined[0], theirs.fields.defined[0]
    theirs.fields.set([2], there.name, there.choices[0])
    theirs.fields.set([3], there.name, "male")
    theirs.close()
    done = merge(ours, theirs.path)
    assert ours.fields.defined == (here,)
    assert done.plan.fields.kept == 0
    female = here.choices[0]
    own = {image_id: values[here.name] for image_id, values in ours.fields.values().items()}
    assert own == {1: female, 2: female, 3: "male"}
    assert ours.check() == []


def test_a_new_field_with_the_former_name_of_another_is_one_of_its_own(
    ours: Project, tmp_path: Path
) -> None:
    theirs = copied(ours, tmp_path / "copy")
    rename(theirs, Renaming("sex", "dress"))
    dress = theirs.fields.defined[0]
    theirs.fields.define([dress, SEX])
    theirs.fields.set([2], "dress", "male")
    theirs.fields.set([2], "sex", "female")
    theirs.close()
    merge(ours, theirs.path)
    assert ours.fields.values()[2] == {"sex": "female", "dress": "male"}
    assert [each.name for each in ours.fields.defined] == ["sex", "dress"]
