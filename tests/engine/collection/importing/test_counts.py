"""Counts, sex and other observations are exported to Camtrap DP and imported as fields."""

from pathlib import Path

import pytest

from engine.collection.importing.import_images import import_images
from engine.collection.importing.import_labels import import_labels
from engine.exporting.export import ExportChoice, Which, export_images
from engine.field_renaming import Renaming, renamed_fields
from engine.image_fields import CAMERA_TRAP
from engine.project import Project
from tests.support.images import write_jpeg
from tests.support.projects import new_project


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(2):
        write_jpeg(folder / f"{number}.jpg", width=320, height=180, seed=number)
    return folder


def project_of(photos: Path, name: str) -> Project:
    """Two photos, the first labelled as a fox."""
    project = new_project(photos.parent, name)
    import_images(project, [photos])
    project.classes.add("Fox")
    project.labels.set([project.images.table().ids[0]], project.classes.graph.find("Fox"))
    return project


def test_values_come_back(photos: Path, tmp_path: Path) -> None:
    project = project_of(photos, "trap.protoleaf")
    fox = project.images.table().ids[0]
    project.fields.define(CAMERA_TRAP)
    for field, value in (("count", "3"), ("sex", "female"), ("life stage", "adult")):
        project.fields.set([fox], field, value)
    package = tmp_path / "package"
    export_images(project, {}, ExportChoice("camtrap-dp", package, Which.VERIFIED))
    assert "3,adult,female" in (package / "observations.csv").read_text(encoding="utf-8")
    other = project_of(photos, "other.protoleaf")
    import_labels(other, package)
    assert list(other.fields.values().values()) == [
        {"count": "3", "sex": "female", "life stage": "adult"}
    ]
    assert {field.name for field in other.fields.defined} == {"sex", "life stage"}
    other.history.undo()
    assert other.fields.values() == {}


def test_renamed_fields_leave_and_come_back_by_their_terms(photos: Path, tmp_path: Path) -> None:
    project = project_of(photos, "trap.protoleaf")
    fox = project.images.table().ids[0]
    new_names = (
        Renaming("sex", "Geschlecht"),
        Renaming("sex", "weiblich", "female"),
        Renaming("life stage", "Alter"),
    )
    project.fields.define(CAMERA_TRAP)
    project.fields.define(renamed_fields(CAMERA_TRAP, new_names), new_names)
    for field, value in (("Geschlecht", "weiblich"), ("Alter", "adult")):
        project.fields.set([fox], field, value)
    values = project.fields.values()
    package = tmp_path / "package"
    export_images(project, {}, ExportChoice("camtrap-dp", package, Which.VERIFIED))
    assert ",adult,female" in (package / "observations.csv").read_text(encoding="utf-8")
    for field in ("Geschlecht", "Alter"):
        project.fields.set([fox], field, None)
    import_labels(project, package)
    assert project.fields.values() == values
    assert [field.name for field in project.fields.defined] == ["Geschlecht", "Alter", "behaviour"]


def test_values_of_images_here_stay(photos: Path, tmp_path: Path) -> None:
    project = project_of(photos, "trap.protoleaf")
    project.fields.set([project.images.table().ids[0]], "count", "3")
    export_images(project, {}, ExportChoice("camtrap-dp", tmp_path / "package", Which.VERIFIED))
    project.fields.set([project.images.table().ids[0]], "count", "5")
    import_labels(project, tmp_path / "package")
    assert project.fields.values() == {project.images.table().ids[0]: {"count": "5"}}
