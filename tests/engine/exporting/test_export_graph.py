"""Exporting the category graph in formats of other programs, and importing it."""

import json
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

from engine.collection.importing.import_graph import import_graph
from engine.errors import InputError, StorageError, TakenError, UsageError
from engine.exporting import export_graph as export_module
from engine.exporting.export_graph import GRAPH_FORMATS, export_graph, format_of
from engine.graph.class_attributes import ClassAttributes
from engine.graph_drawing.svg import DARK, LIGHT
from engine.project import Project
from tests.support.projects import new_project

COMES_BACK = [name for name, each in GRAPH_FORMATS.items() if each.comes_back]
HARD_NAME = 'and/or "海鸥" <&> \\ |'


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Two parents, equal names, names and notes with special characters, ids and colours."""
    with new_project(tmp_path) as made:
        bird = made.classes.add("Bird")[1]
        sea = made.classes.add("Sea, and coast")[1]
        gull = made.classes.add("Gull", (bird, sea))[1]
        other = made.classes.add("Other", (bird,))[1]
        made.classes.add("Other", (sea,))
        hard = made.classes.add(HARD_NAME, (gull,))[1]
        formula = made.classes.add("=1+1", (gull,))[1]
        made.classes.set_attributes(
            [gull],
            source_id="https://birds.example/gull",
            synonyms=("Larus", "a | b", "back\\slash"),
        )
        made.classes.set_attributes([other], source_id="n 07")
        made.classes.set_attributes(
            [gull], note='Two lines,\n"quoted"; and more.', colour="#a0b1c2"
        )
        made.classes.set_attributes([hard], note="=note")
        made.classes.set_attributes([formula], colour="#000000")
        yield made


def facts_of_classes(project: Project) -> set[tuple[str, str, str, ClassAttributes]]:
    """All attributes of each class, at each of its paths."""
    graph = project.classes.graph
    return {
        (path_text, graph.name(each), str(graph.level(each)), graph.attributes(each))
        for each in graph.classes()
        for path_text in ("/".join(map(graph.name, path)) for path in graph.paths(each))
    }


@pytest.mark.parametrize("name", COMES_BACK)
def test_what_comes_back_is_the_same(name: str, project: Project, tmp_path: Path) -> None:
    """Classes, edges, ids, synonyms, notes and colours.

    Importing into the same project changes nothing.
    """
    out = tmp_path / f"classes{GRAPH_FORMATS[name].suffix}"
    assert export_graph(project, out).format_name == name
    (tmp_path / "again").mkdir()
    with new_project(tmp_path / "again") as again:
        done = import_graph(again, out)
        assert (done.classes_added, done.edges_added, done.notes_added) == (7, 6, 3)
        assert facts_of_classes(again) == facts_of_classes(project)
        assert str(again.history.undo_action) == f"Imported 7 classes from {out.name}"
        again.history.undo()
        assert (len(again.classes.graph), dict(again.classes.graph.all_attributes())) == (0, {})
    before = facts_of_classes(project)
    done = import_graph(project, out)
    assert (done.classes_added, done.edges_added, done.aliases_added, done.notes_added) == (
        0,
        0,
        0,
        0,
    )
    assert facts_of_classes(project) == before


def test_notes_alone_are_news(project: Project, tmp_path: Path) -> None:
    """Existing notes stay, missing ones are added, and the step says so."""
    export_graph(project, tmp_path / "classes.json")
    gull = project.classes.graph.find("Gull")
    project.classes.set_attributes([gull], note="My own.", colour="")
    project.classes.set_attributes([project.classes.graph.find("=1+1")], note="", colour="")
    done = import_graph(project, tmp_path / "classes.json")
    assert (done.notes_added, done.change.text) == (
        2,
        "Imported notes of 2 classes from classes.json",
    )
    assert (
        project.classes.graph.attributes(gull).note,
        project.classes.graph.attributes(gull).colour,
    ) == (
        "My own.",
        "#a0b1c2",
    )


def test_drawings(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DOT and SVG have every name.

    A large graph is collapsed at its deepest levels.
    """
    export_graph(project, tmp_path / "classes.dot")
    assert "-> " in (tmp_path / "classes.dot").read_text(encoding="utf-8")
    export_graph(project, tmp_path / "light.svg")
    export_graph(project, tmp_path / "dark.svg", is_dark=True)
    light, dark = (
        (tmp_path / f"{name}.svg").read_text(encoding="utf-8") for name in ("light", "dark")
    )
    titles = [each.text for each in fromstring(light).iter("{http://www.w3.org/2000/svg}title")]  # noqa: S314 (ours)
    assert sorted(filter(None, titles)) == sorted(
        project.classes.graph.name(each) for each in project.classes.graph.classes()
    )
    assert LIGHT.ground in light
    assert DARK.ground in dark
    monkeypatch.setattr(export_module, "MOST_DRAWN", 5)
    export_graph(project, tmp_path / "closed.svg")
    assert "2 classes" in (tmp_path / "closed.svg").read_text(encoding="utf-8")


def test_what_cannot_be_written(project: Project, tmp_path: Path) -> None:
    """Unknown formats, a missing folder, no classes, and the project itself."""
    with pytest.raises(
        UsageError,
        match=r'suffix of "classes.xyz" is not that of a graph format: expected .json, .*svg',
    ):
        format_of(tmp_path / "classes.xyz")
    with pytest.raises(UsageError, match='no graph format "owl"'):
        export_graph(project, tmp_path / "classes.json", "owl")
    with pytest.raises(StorageError, match="cannot be written"):
        export_graph(project, tmp_path / "none" / "classes.json")
    with pytest.raises(InputError, match="would overwrite the project"):
        export_graph(project, project.path, "json")
    (tmp_path / "empty").mkdir()
    with (
        new_project(tmp_path / "empty") as empty,
        pytest.raises(InputError, match="no classes to export"),
    ):
        export_graph(empty, tmp_path / "classes.json")
    assert not list(tmp_path.glob("classes.*"))


def test_the_suffix_says_the_format_and_a_word_overrules_it(
    project: Project, tmp_path: Path
) -> None:
    """An export replaces an earlier one in its format; another file on request."""
    out = tmp_path / "CLASSES.TTL"
    out.write_text("old", encoding="utf-8")
    with pytest.raises(TakenError, match="another file"):
        export_graph(project, out)
    assert export_graph(project, out, is_overwriting=True).format_name == "skos"
    assert export_graph(project, out).format_name == "skos"
    export_graph(project, out, "json", is_overwriting=True)
    assert len(json.loads(out.read_text(encoding="utf-8"))["classes"]) == len(project.classes.graph)
