"""Imported labels match class and photo, or are listed as problems."""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from engine.collection.importing.import_labels import import_labels, plan_labels
from engine.collection.importing.match_images import FileContents
from engine.errors import GraphError
from engine.exporting.export import ExportChoice, Which, export_images
from engine.graph.limits import DEEPEST_LEVEL
from engine.images.read_file import content_hash
from engine.interchange.labelled_images.formats import FORMATS
from engine.project import Project
from tests.support.command_line import done
from tests.support.deep_graphs import add_deep, chain
from tests.support.labelled_images import draw, make_project

READ = [name for name, one in FORMATS.items() if one.is_read]
ODD = os.fsdecode(b"m\xf6we.png")


def made(
    folder: Path,
    classes: Sequence[tuple[str, str]],
    *,
    names: Sequence[str] = (),
    embedded: bool = True,
) -> Project:
    """A project with classes and one image for each, in folders of its own."""
    project = make_project(folder)
    for name, source_id in classes:
        _, class_id = project.classes.add(name)
        project.classes.set_attributes([class_id], source_id=source_id)
    files = [
        draw(folder / "DCIM" / name, 17 * place + len(folder.name))
        for place, name in enumerate(names)
    ]
    project.images.add(files)
    if embedded:
        project.images.record_scan(
            (each.image_id, content_hash(project.images.resolve(each).read_bytes()), None)
            for each in project.images.records()
        )
    return project


def labelled(project: Project) -> dict[str, str | None]:
    """Path of the class by name of the image."""
    return {
        Path(project.images.record(each.image_id).path).name: None
        if each.class_id is None
        else project.classes.graph.path_text(each.class_id)
        for each in project.labels.by_image().values()
    }


def exported(project: Project, out: Path, name: str) -> Path:
    target = out / f"{name}{FORMATS[name].suffix}"
    export_images(project, {}, ExportChoice(name, target, Which.VERIFIED))
    return target


@pytest.fixture
def twins(tmp_path: Path) -> Iterator[tuple[Project, Project]]:
    """Two projects with the same class names, other ids, and the same photos."""
    names = "a.png", "b.png", "c.png"
    first = made(tmp_path / "one", [("Apple", "1"), ("Pear", "2"), ("Plum", "3")], names=names)
    second = made(tmp_path / "two", [("Plum", "1"), ("Apple", "2"), ("Pear", "3")], names=names)
    for image, class_id in zip(
        list(first.images.records()), first.classes.graph.classes(), strict=True
    ):
        first.labels.set([image.image_id], class_id, who="ada")
    yield first, second
    first.close()
    second.close()


def test_ids_of_another_list_put_no_label_elsewhere(
    twins: tuple[Project, Project], tmp_path: Path
) -> None:
    """Ids of another list do not match: each is listed with what name and id mean here."""
    first, second = twins
    source = exported(first, tmp_path, "csv")
    result = import_labels(second, source, adds_classes=True)
    assert (result.labelled, result.classes_added, labelled(second)) == (0, 0, {})
    readings = [
        (each.written, each.source_id, each.by_name, each.by_id)
        for each in result.plan.class_conflicts
    ]
    assert readings == [
        ("Apple", "1", ("Apple",), ("Plum",)),
        ("Pear", "2", ("Pear",), ("Apple",)),
        ("Plum", "3", ("Plum",), ("Pear",)),
    ]


def test_the_command_lists_both_readings(
    twins: tuple[Project, Project], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = twins
    source = exported(first, tmp_path, "csv")
    second.close()
    text = done(capsys, "import-labels", second.path, source).out
    assert 'DCIM/a.png: "Apple" is Apple here, id "1" is Plum' in text
    fields = json.loads(done(capsys, "import-labels", second.path, source, "--json").out)
    assert [each["by_id"] for each in fields["class_conflicts"]] == [["Plum"], ["Apple"], ["Pear"]]


@pytest.mark.parametrize("name", READ)
def test_an_id_that_is_another_classs_name_does_not_matter(tmp_path: Path, name: str) -> None:
    """A project's own labels can be imported, although the id of "Apple" is "Pear"."""
    project = made(
        tmp_path / "one", [("Apple", "Pear"), ("Pear", "Apple")], names=("a.png", "b.png")
    )
    for image, class_id in zip(
        list(project.images.records()), project.classes.graph.classes(), strict=True
    ):
        project.labels.set([image.image_id], class_id, who="ada")
    before = labelled(project)
    source = exported(project, tmp_path, name)
    project.labels.remove([each.image_id for each in project.images.records()])
    import_labels(project, source)
    assert labelled(project) == before
    project.close()


@pytest.mark.parametrize("name", [each for each in READ if not FORMATS[each].has_images])
@pytest.mark.parametrize("embedded", [True, False])
def test_another_photo_of_the_same_name_gets_no_label(
    tmp_path: Path, name: str, embedded: bool
) -> None:
    """DCIM/a.png with another content is listed, whether embedded or not."""
    first = made(tmp_path / "one", [("Apple", "")], names=("a.png",))
    second = made(tmp_path / "another", [("Apple", "")], names=("a.png",), embedded=embedded)
    first.labels.set([each.image_id for each in first.images.records()], 1, who="ada")
    source = exported(first, tmp_path, name)
    (tmp_path / "one" / "DCIM" / "a.png").unlink()
    result = import_labels(second, source)
    assert labelled(second) == {}
    assert [(each.ours, each.reason) for each in result.plan.content_conflicts] == [
        ("DCIM/a.png", "other content")
    ]
    first.close()
    second.close()


def test_an_image_that_cannot_be_read_is_listed(tmp_path: Path) -> None:
    """Without embedding and file its content is unknown."""
    first = made(tmp_path / "one", [("Apple", "")], names=("a.png",))
    second = made(tmp_path / "two", [("Apple", "")], names=("a.png",), embedded=False)
    first.labels.set([1], 1, who="ada")
    source = exported(first, tmp_path, "csv")
    assert len(plan_labels(second, source).labels) == 1
    (tmp_path / "two" / "DCIM" / "a.png").unlink()
    plan = plan_labels(second, source)
    assert plan.labels == ()
    assert [each.reason.split(":")[0] for each in plan.content_conflicts] == ["it cannot be read"]
    first.close()
    second.close()


def test_files_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The import reuses what the plan has read."""
    first = made(tmp_path / "one", [("Apple", "")], names=("a.png",))
    second = made(tmp_path / "two", [("Apple", "")], names=("a.png",), embedded=False)
    first.labels.set([1], 1, who="ada")
    source = exported(first, tmp_path, "csv")
    contents = FileContents()
    plan_labels(second, source, contents=contents)
    monkeypatch.setattr(
        "engine.collection.importing.match_images.photo_hashes",
        lambda _file: pytest.fail("read again"),
    )
    assert import_labels(second, source, contents=contents).labelled == 1
    first.close()
    second.close()


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("embedded", [True, False])
def test_odd_names_and_namesakes_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, embedded: bool
) -> None:
    """Undecodable file names, two classes of one name, and a relative source path."""
    project = made(
        tmp_path / "one",
        [("Bird", ""), ("Tool", "")],
        names=(ODD, "b.png", "c.png"),
        embedded=embedded,
    )
    cranes = [project.classes.add("Crane", (parent,))[1] for parent in (1, 2)]
    for image, class_id in zip(list(project.images.records()), (*cranes, cranes[0]), strict=True):
        project.labels.set([image.image_id], class_id, who="ada")
    before = labelled(project)
    source = exported(project, tmp_path, name)
    project.labels.remove([each.image_id for each in project.images.records()])
    monkeypatch.chdir(source.parent)
    result = import_labels(project, Path(source.name))
    assert labelled(project) == before, result.plan
    project.close()


@pytest.mark.slow
def test_classes_that_cannot_be_are_problems_of_their_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Too long paths and invalid names are problems of their rows; other rows are imported."""
    project = made(tmp_path / "one", [("Apple", "")], names=("a.png", "b.png", "c.png", "d.png"))
    source = tmp_path / "labels.csv"
    deep, deepest = (
        "/".join(f"level {each}" for each in range(count)) for count in (5_000, DEEPEST_LEVEL + 1)
    )
    paths = {"a.png": deep, "b.png": "Fruit/" + "x" * 300, "c.png": "Apple", "d.png": deepest}
    rows = [f"{image},{path}" for image, path in paths.items()]
    source.write_text("\n".join(["image,class", *rows]), encoding="utf-8")
    plan = plan_labels(project, source)
    found = import_labels(project, source, adds_classes=True)
    for problems in (plan.problems, found.plan.problems):
        assert [problem.split(": ")[0] for problem in problems] == ["a.png", "b.png"]
        assert "expected at most 500 classes above it, found 4,999" in problems[0]
        assert "too long" in problems[1]
    assert [len(names) for names in plan.new_classes] == [DEEPEST_LEVEL + 1]
    assert (found.labelled, found.classes_added, len(project.classes.graph)) == (
        2,
        DEEPEST_LEVEL + 1,
        DEEPEST_LEVEL + 2,
    )
    project.close()
    output = done(capsys, "import-labels", project.path, source, "--add-classes").out
    assert "found 4,999" in output


def test_classes_that_do_not_fit_here_are_refused(tmp_path: Path) -> None:
    """A path that would exceed the maximum depth below a deep class: nothing is imported."""
    project = make_project(tmp_path / "one")
    ids = add_deep(project, dict(chain()) | {"Fruit": []})
    fruit = project.classes.add("Apple", [ids["Fruit"]])[1]
    project.classes.link(ids["level 498"], [fruit])
    source = tmp_path / "labels.csv"
    source.write_text("image,class\na.png,Fruit/Apple/Gala/Red", encoding="utf-8")
    before = len(project.classes.graph)
    with pytest.raises(GraphError, match='found "Red" on level 501'):
        import_labels(project, source, adds_classes=True)
    assert len(project.classes.graph) == before
    project.close()
