"""Class names in tables match case-insensitively, without duplicate or lost classes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.collection.importing.import_images import import_class_folders
from engine.collection.importing.import_labels import LabelImport, import_labels
from engine.project import Project
from tests.support.command_line import done
from tests.support.labelled_images import draw, make_project


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Animal above Red fox and Hare, Möwe at the top; four images."""
    project = make_project(tmp_path)
    _, animal = project.classes.add("Animal")
    for name in ("Red fox", "Hare"):
        project.classes.add(name, (animal,))
    project.classes.add("Möwe")
    project.images.add(
        [draw(tmp_path / "p" / f"{name}.png", 20 * place) for place, name in enumerate("abcd")]
    )
    with project:
        yield project


def imported(
    project: Project, *classes: str, header: str = "image,class", adds_classes: bool = True
) -> LabelImport:
    """Labels of the images a.png, b.png and so on."""
    lines = [f"p/{name}.png,{text}" for name, text in zip("abcd", classes, strict=False)]
    table = project.path.with_name("labels.csv")
    table.write_text("\n".join((header, *lines)), encoding="utf-8")
    return import_labels(project, table, adds_classes=adds_classes)


def paths(project: Project) -> list[str]:
    labels = project.labels.by_image().values()
    return [
        "" if each.class_id is None else project.classes.graph.path_text(each.class_id)
        for each in labels
    ]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("red FOX", "Animal/Red fox"),
        ("Red_Fox", "Animal/Red fox"),
        ("red  fox", "Animal/Red fox"),
        ("animal/hare", "Animal/Hare"),
        ("MO\u0308WE", "Möwe"),
    ],
)
def test_another_spelling_means_the_class(project: Project, written: str, meant: str) -> None:
    result = imported(project, written)
    assert (paths(project), result.classes_added) == ([meant], 0)
    spelled = result.plan.loosely_spelled
    assert [(each.path, each.labels) for each in spelled.values()] == [(meant, 1)]


def test_its_own_spelling_comes_first_and_an_unclear_one_is_listed(project: Project) -> None:
    project.classes.add("HARE")
    result = imported(project, "HARE", "hare")
    assert paths(project) == ["HARE"]
    assert [set(each.by_name) for each in result.plan.class_conflicts] == [{"Animal/Hare", "HARE"}]


def test_new_classes_are_made_once_however_they_are_spelled(project: Project) -> None:
    """Other spellings create no second class, also below an existing one."""
    result = imported(project, "Sea gull", "sea_gull", "ANIMAL/Lynx", "animal/lynx")
    assert paths(project) == ["Sea gull", "Sea gull", "Animal/Lynx", "Animal/Lynx"]
    assert result.classes_added == 2


def test_our_own_exports_keep_each_spelling(project: Project) -> None:
    """Classes that differ in case only stay two; existing classes are not duplicated."""
    imported(
        project, "Gull,1", "GULL,2", "animal/Lynx,3", "HARE,4", header="image,class,content_hash"
    )
    assert paths(project) == ["Gull", "GULL", "Animal/Lynx", "Animal/Hare"]


@pytest.mark.parametrize("written", ["unknown", "Unknown", "None of the classes"])
def test_a_class_of_that_name_is_meant(project: Project, written: str) -> None:
    project.classes.add(written)
    result = imported(project, written)
    assert (paths(project), result.plan.as_none) == ([written], {})


@pytest.mark.parametrize("written", ["unknown", "Unknown", "none of the classes"])
def test_without_one_it_is_none_of_the_classes_and_listed(project: Project, written: str) -> None:
    result = imported(project, written)
    assert (paths(project), result.plan.as_none, result.classes_added) == ([""], {written: 1}, 0)


def test_our_own_column_tells_none_from_a_class_of_that_name(project: Project) -> None:
    project.classes.add("unknown")
    imported(
        project, "unknown,,true", "unknown,unknown,false", header="image,class,path,is_unknown"
    )
    assert paths(project) == ["", "unknown"]


def test_the_command_says_both(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    imported(project, "unknown", "hare")
    project.history.undo()
    project.close()
    output = done(
        capsys, "import-labels", project.path, project.path.with_name("labels.csv"), "--dry-run"
    ).out
    assert "hare: as Animal/Hare, 1 label" in output
    assert "unknown: 1 label" in output


def test_folders_make_no_twins(project: Project, tmp_path: Path) -> None:
    for folder in ("hare", "animal/red_fox", "Sea gull", "sea gull"):
        draw(
            tmp_path / "in" / folder / f"{len(folder)}{folder[0]}.png",
            7 * len(folder) + ord(folder[0]),
        )
    result = import_class_folders(project, [tmp_path / "in"])
    assert (result.classes_added, result.labelled) == (1, 4)
