"""`protoleaf fields` and `protoleaf clock`."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from engine.files import FoundFile
from engine.project import ImageDetails, Project
from tests.support.command_line import done, refused
from tests.support.projects import new_project

NOON = datetime.fromisoformat("2024-05-01T12:00:00")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Two photos of one camera in two folders."""
    with new_project(tmp_path) as opened:
        opened.images.add([FoundFile(tmp_path / name, 1, 1) for name in ("a/1.jpg", "b/2.jpg")])
        opened.details.store(
            [ImageDetails(each, 1, taken_at=NOON, camera="Trap") for each in (1, 2)]
        )
        return opened.path


@pytest.mark.slow
def test_fields_are_defined_and_set(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = done(
        capsys, "fields", str(project), "--preset", "camera-trap", "--define", "antlers: yes_no"
    ).out
    assert "sex: female, male, unknown (0 images)" in text
    set_two = "--set", "count=12", "--set", "sex=female", "--search", "name:2"
    assert "Set count of 1 image to 12." in done(capsys, "fields", str(project), *set_two).out
    with Project.open(project) as opened:
        assert opened.fields.values() == {2: {"count": "12", "sex": "female"}}
        assert str(opened.history.undo_action) == "Set 2 fields of 1 image"
    assert "b/2.jpg" in done(capsys, "images", str(project), "--search", "count:>3 sex:female").out
    done(capsys, "fields", str(project), "--define", "Sex: female, hen", "--remove", "antlers")
    answer = json.loads(done(capsys, "fields", str(project), "--json").out)
    assert [(each["name"], each["images"]) for each in answer["fields"]] == [
        ("count", 1),
        ("sex", 1),
        ("life stage", 0),
        ("behaviour", 0),
    ]
    done(capsys, "fields", str(project), "--set", "count=", "--search", "name:2")
    with Project.open(project, for_writing=False) as opened:
        assert (opened.fields.values(), opened.check()) == ({2: {"sex": "female"}}, [])


def test_fields_and_choices_are_renamed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In one step; the preset does not add a second "sex"."""
    done(capsys, "fields", str(project), "--preset", "camera-trap")
    done(capsys, "fields", str(project), "--set", "sex=female", "--search", "name:2")
    text = done(capsys, "fields", str(project), "--rename", "Sex = Geschlecht").out
    assert "Renamed the field sex to Geschlecht." in text
    assert "Geschlecht: female, male, unknown (1 image)" in text
    assert "b/2.jpg" in done(capsys, "images", str(project), "--search", "geschlecht:female").out
    both = (
        "--rename",
        "geschlecht: female = hen",
        "--rename",
        "life stage=age",
        "--preset",
        "camera-trap",
    )
    answer = json.loads(done(capsys, "fields", str(project), *both, "--json").out)
    assert answer["done"] == ["Changed the fields of images"]
    names = ["count", "Geschlecht", "age", "behaviour"]
    assert [each["name"] for each in answer["fields"]] == names
    with Project.open(project) as opened:
        assert (opened.fields.values(), opened.check()) == ({2: {"Geschlecht": "hen"}}, [])
        opened.history.undo()
        assert opened.fields.values() == {2: {"Geschlecht": "female"}}


@pytest.mark.parametrize(
    ("renaming", "reason", "status"),
    [
        ("sex=Life Stage", "occurs twice", 1),
        ("sex=count", 'cannot be called "count"', 1),
        ("sex: male=Female", "not clear", 1),
        ("sex: cock=hen", "not a value of the field", 1),
        ("antlers=horns", 'no field "antlers"', 1),
        ("count=number", "count cannot be renamed", 2),
        ("remark: x=y", "has no choices", 2),
        ("sex", "its new name", 2),
    ],
)
def test_names_that_are_refused(
    project: Path, capsys: pytest.CaptureFixture[str], renaming: str, reason: str, status: int
) -> None:
    done(capsys, "fields", str(project), "--preset", "camera-trap", "--define", "remark: text")
    assert reason in refused(capsys, "fields", str(project), "--rename", renaming, status=status)


def test_fields_that_are_refused(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = "--search", "name:2"
    assert "from 1 to 100,000" in refused(
        capsys, "fields", str(project), "--set", "count=0", *where
    )
    assert (
        "define the field first"
        in refused(capsys, "fields", str(project), "--set", "sex=x", *where).lower()
    )
    assert "go together" in refused(capsys, "fields", str(project), "--set", "count=1", status=2)
    assert "no such preset" in refused(capsys, "fields", str(project), "--preset", "bird", status=2)
    assert "does not define a field" in refused(capsys, "fields", str(project), "--define", "sex")
    assert "cannot be removed" in refused(
        capsys, "fields", str(project), "--remove", "count", status=2
    )


def test_a_clock_is_corrected(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a_folder = "clock", str(project), "--folder", str(project.parent / "a")
    expected = "the time of 1 image: 2024-05-01 12:00:00 becomes 2024-05-01 13:02:00"
    assert (
        f"Would correct {expected}"
        in done(capsys, *a_folder, "--offset", "+1h02m", "--preview").out
    )
    text = done(capsys, *a_folder, "--offset", "+1h02m").out
    assert f"Corrected {expected}" in text
    assert "a: +1h 2m" in text
    assert "2024-05-01 13:02" in done(capsys, "images", str(project), "--search", "folder:a").out
    camera = "clock", str(project), "--camera", "Trap", "--zone", "+02:00", "--json"
    answer = json.loads(done(capsys, *camera).out)
    assert (answer["images"], answer["after"][0]) == (1, "2024-05-01T12:00:00+02:00")
    assert "0 images" not in done(capsys, *a_folder, "--remove").out
    assert "Trap: UTC+02:00" in done(capsys, "clock", str(project)).out


def test_clocks_that_are_refused(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for options in (
        ["--folder", "a"],
        ["--offset", "1h"],
        ["--folder", "a", "--camera", "Trap", "--offset", "1h"],
    ):
        assert "a folder or a camera" in refused(capsys, "clock", str(project), *options, status=2)
    assert "not a clock offset" in refused(
        capsys, "clock", str(project), "--camera", "Trap", "--offset", "late"
    )
    assert "not a time zone" in refused(
        capsys, "clock", str(project), "--camera", "Trap", "--zone", "Berlin"
    )
