"""Fields of images in the project file: defined, set, undone, merged, checked."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine.errors import InputError, ProjectDamagedError
from engine.field_renaming import Renaming, renamed_fields
from engine.image_fields import CAMERA_TRAP, FieldKind, ImageField
from engine.project import FieldValue, Project
from engine.project.clock import time_text
from engine.project.records import FileChange
from tests.support.projects import bird_project, dump

SEX, STAGE, BEHAVIOUR = CAMERA_TRAP
WHEN = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.fixture
def birds(tmp_path: Path) -> Project:
    """Four images, and the fields of camera traps."""
    project, _gull, _ids = bird_project(tmp_path, 4)
    project.fields.define(CAMERA_TRAP)
    return project


def test_a_value_is_set_for_all_images_in_one_step(birds: Project) -> None:
    before = dump(birds)
    change = birds.fields.set([1, 3], "Life Stage", "ADULT", who="Ada")
    assert (change.text, change.field_values) == ("Set life stage of 2 images to adult", (1, 3))
    assert birds.fields.values() == {1: {"life stage": "adult"}, 3: {"life stage": "adult"}}
    assert [(each.image_id, each.who) for each in birds.fields.all()] == [(1, "Ada"), (3, "Ada")]
    undone = birds.history.undo()
    assert undone is not None
    assert (undone.field_values, dump(birds)) == ((3, 1), before)
    birds.history.redo()
    path = birds.path
    birds.close()
    with Project.open(path) as project:
        assert (list(project.fields.values()), project.fields.defined, project.check()) == (
            [1, 3],
            CAMERA_TRAP,
            [],
        )


def test_a_value_is_replaced_and_removed(birds: Project) -> None:
    birds.fields.set([1, 2], "count", "12")
    assert birds.fields.set([1, 2, 3], "count", "12").field_values == (3,)
    birds.fields.set([1], "count", "3")
    assert birds.fields.set([1, 2], "count", None).text == "Removed count of 2 images"
    assert birds.fields.values() == {3: {"count": "12"}}
    assert birds.fields.set([1], "count", None).is_empty


@pytest.mark.parametrize(("name", "value"), [("count", "0"), ("sex", "x"), ("antlers", "yes")])
def test_what_does_not_fit_is_refused(birds: Project, name: str, value: str) -> None:
    before = dump(birds)
    with pytest.raises(InputError):
        birds.fields.set([1], name, value)
    assert dump(birds) == before
    with pytest.raises(InputError):
        birds.fields.set([77], "count", "1")


def test_a_field_that_is_gone_takes_its_values_along(birds: Project) -> None:
    birds.fields.set([1, 2], "sex", "male")
    birds.fields.set([1], "behaviour", "resting")
    birds.fields.set([4], "count", "4")
    narrower = ImageField("behaviour", FieldKind.CHOICE, ("moving",))
    change = birds.fields.define([STAGE, narrower])
    assert change.text == "Changed the fields of images (3 values removed)"
    assert (change.field_values, change.settings) == ((1, 2), ("fields",))
    assert (birds.fields.values(), birds.fields.defined) == ({4: {"count": "4"}}, (STAGE, narrower))
    assert birds.check() == []
    birds.history.undo()
    assert birds.fields.values()[1] == {"sex": "male", "behaviour": "resting"}
    assert birds.check() == []


def renamed(project: Project, *renamings: Renaming) -> str:
    """The description of the step."""
    return project.fields.define(renamed_fields(project.fields.defined, renamings), renamings).text


def test_values_follow_a_field_to_its_new_name(birds: Project) -> None:
    birds.fields.set([1, 3], "sex", "male", who="Ada")
    signed = birds.fields.all()
    before = dump(birds)
    assert renamed(birds, Renaming("sex", "Geschlecht")) == "Renamed the field sex to Geschlecht"
    assert birds.fields.all() == [each._replace(field="Geschlecht") for each in signed]
    assert [each.name for each in birds.fields.defined] == ["Geschlecht", "life stage", "behaviour"]
    assert birds.check() == []
    birds.history.undo()
    assert dump(birds) == before
    birds.history.redo()
    path = birds.path
    birds.close()
    with Project.open(path) as project:
        assert project.fields.field("geschlecht").former_names == ("sex",)
        assert (
            renamed(project, Renaming("Geschlecht", "Sex")) == "Renamed the field Geschlecht to Sex"
        )
        assert project.fields.field("sex").former_names == ("Geschlecht",)
        assert project.fields.values() == {1: {"Sex": "male"}, 3: {"Sex": "male"}}


def test_values_follow_a_choice_to_its_new_name(birds: Project) -> None:
    birds.fields.set([1], "sex", "male", who="Ada")
    birds.fields.set([2], "sex", "female", who="Ada")
    signed = birds.fields.all()
    assert renamed(birds, Renaming("sex", "cock", "male")) == "Renamed male of sex to cock"
    assert birds.fields.all() == [signed[0]._replace(value="cock"), signed[1]]
    assert birds.fields.field("sex").choices == ("female", "cock", "unknown")
    assert birds.check() == []
    birds.history.undo()
    assert birds.fields.all() == signed


def test_two_fields_change_their_names(birds: Project) -> None:
    birds.fields.set([1, 2], "sex", "male")
    birds.fields.set([2], "life stage", "adult")
    swapped = Renaming("sex", "life stage"), Renaming("life stage", "sex")
    assert renamed(birds, *swapped) == "Changed the fields of images"
    assert birds.fields.values() == {
        1: {"life stage": "male"},
        2: {"life stage": "male", "sex": "adult"},
    }
    assert birds.check() == []


def test_a_field_takes_the_name_of_one_that_is_removed(birds: Project) -> None:
    """It does not get the values of the removed field."""
    birds.fields.set([1], "sex", "unknown")
    birds.fields.set([2], "life stage", "unknown")
    renaming = Renaming("life stage", "sex")
    change = birds.fields.define(renamed_fields([STAGE], [renaming]), [renaming])
    assert change.text == "Changed the fields of images (1 value removed)"
    assert birds.fields.values() == {2: {"sex": "unknown"}}


def test_other_capitals_lose_no_value(birds: Project) -> None:
    birds.fields.set([1], "sex", "male")
    birds.fields.define([ImageField("Sex", FieldKind.CHOICE, ("Female", "Male"))])
    assert birds.fields.values() == {1: {"Sex": "Male"}}


@pytest.mark.parametrize("name", ["Life stage", "count", "date", "7", ""])
def test_names_that_are_taken_are_refused(birds: Project, name: str) -> None:
    birds.fields.set([1], "sex", "male")
    before = dump(birds)
    with pytest.raises(InputError):
        renamed(birds, Renaming("sex", name))
    assert dump(birds) == before


def test_removed_images_take_their_values_along(birds: Project) -> None:
    birds.fields.set([1, 2], "count", "2")
    change = birds.images.remove([1])
    assert (change.field_values, birds.fields.values()) == ((), {2: {"count": "2"}})
    birds.history.undo()
    assert birds.fields.values().keys() == {1, 2}


def test_values_of_a_replaced_picture_do_not_count(birds: Project) -> None:
    birds.fields.set([1, 2], "count", "2")
    later = time_text(datetime.now(UTC) + timedelta(hours=1))
    birds.file_changes.record([FileChange(1, 5, 5, b"x", later)])
    assert birds.fields.values() == {2: {"count": "2"}}
    assert birds.fields.set([1], "count", "2").field_values == (1,)
    assert birds.fields.values().keys() == {1, 2}


def test_missing_values_are_taken_over_with_their_fields(birds: Project) -> None:
    birds.fields.define([STAGE])
    birds.fields.set([1], "life stage", "adult")
    theirs = [
        FieldValue(1, "Life stage", "juvenile", "Eve", WHEN),
        FieldValue(2, "lifeStage", "pup", "Eve", WHEN),
        FieldValue(3, "sex", "female", "Eve", WHEN),
        FieldValue(4, "odd", "x", "Eve", WHEN),
    ]
    change = birds.fields.add_missing(
        theirs, [ImageField("lifestage", FieldKind.CHOICE, ("Adult", "pup")), SEX]
    )
    assert (change.field_values, change.action.code) == ((2, 3), "field_values_added")
    assert birds.fields.values() == {
        1: {"life stage": "adult"},
        2: {"life stage": "pup"},
        3: {"sex": "female"},
    }
    assert birds.fields.defined == (
        ImageField("life stage", FieldKind.CHOICE, (*STAGE.choices, "pup")),
        SEX,
    )
    assert birds.fields.all()[1].when == WHEN
    assert birds.check() == []
    birds.history.undo()
    assert list(birds.fields.defined) == [STAGE]


def test_values_that_no_field_takes_are_reported(birds: Project) -> None:
    birds.fields.set([1], "sex", "male")
    with birds.history.one_step() as step:
        step.connection.write("UPDATE field_value SET value = 'odd'")
    assert "the field 'sex' does not take 'odd'" in birds.check()
    assert birds.fields.values() == {1: {"sex": "odd"}}


def test_a_damaged_list_of_fields_is_reported(birds: Project) -> None:
    birds.policies.set_setting("fields", [{"name": "sex"}])
    assert any("the setting fields is of the wrong kind" in each for each in birds.check())
    with pytest.raises(ProjectDamagedError, match="fields"):
        birds.fields.field("sex")
