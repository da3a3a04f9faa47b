"""Copying classes to another project over the clipboard."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from engine.errors import GraphError, InputError, UnknownClassError
from engine.graph.class_attributes import ClassAttributes
from engine.project import ClassPolicy, Project
from engine.project.branch_text import is_copied_text
from tests.support.graphs import names_of
from tests.support.projects import bird_project, dump, named, new_project

SEEN = ClassAttributes("n1", ("Larus", "Möwe"), note="Seen in May.\nTwice.", colour="#00ff7f")


def _birds(folder: Path) -> tuple[Project, int]:
    """Bird over Gull and Diver, Puffin under both, Gull with all details.

    And the id of Bird.
    """
    project, gull, images = bird_project(folder)
    (bird,) = project.classes.graph.parents(gull)
    _, diver = project.classes.add("Diver", [bird])
    project.classes.add("Puffin", [gull, diver])
    project.classes.edit(
        lambda graph: graph.set_attributes(gull, SEEN), named("Noted what there is")
    )
    project.policies.set(gull, ClassPolicy(0.75, is_deepest=True))
    project.labels.set(images, gull)
    return project, bird


def _paths(project: Project) -> set[str]:
    graph = project.classes.graph
    return {
        "/".join(names_of(graph, path)) for each in graph.classes() for path in graph.paths(each)
    }


def test_a_branch_comes_into_another_project_with_all_that_was_noted_of_it(tmp_path: Path) -> None:
    """Names, edges, aliases, note, colour and threshold, in one step; labels are not copied."""
    project, bird = _birds(tmp_path)
    text = project.classes.copied([bird])
    project.close()
    assert is_copied_text(text)
    with new_project(tmp_path, "other.protoleaf") as other:
        _, animal = other.classes.add("Animal")
        before = dump(other)
        change, tops = other.classes.paste(text, animal)
        assert change.text == "Pasted class Bird and 3 below it into Animal"
        assert names_of(other.classes.graph, tops) == ["Bird"]
        assert _paths(other) == {
            "Animal",
            "Animal/Bird",
            "Animal/Bird/Gull",
            "Animal/Bird/Diver",
            "Animal/Bird/Gull/Puffin",
            "Animal/Bird/Diver/Puffin",
        }
        gull = other.classes.graph.find("Larus")
        assert other.classes.graph.attributes(gull) == replace(SEEN, bar=0.75, is_deepest=True)
        assert other.policies.by_class() == {gull: ClassPolicy(0.75, is_deepest=True)}
        assert (other.labels.by_image(), other.check()) == ({}, [])
        pasted = dump(other)
        other.history.undo()
        assert dump(other) == before
        other.history.redo()
        assert dump(other) == pasted


def test_a_copy_of_a_copy_says_the_same(tmp_path: Path) -> None:
    """Copying a copy loses nothing."""
    project, bird = _birds(tmp_path)
    with project, new_project(tmp_path, "other.protoleaf") as other:
        text = project.classes.copied([bird])
        _, tops = other.classes.paste(text, None)
        assert other.classes.copied(tops) == text


def test_chosen_classes_that_lie_below_one_another_are_copied_once(tmp_path: Path) -> None:
    """A class below another chosen one is not copied twice."""
    project, bird = _birds(tmp_path)
    with project:
        gull, diver = project.classes.graph.find("Gull"), project.classes.graph.find("Diver")
        change, tops = project.classes.paste(project.classes.copied([gull, bird]), None)
        assert (change.text, len(tops)) == ("Pasted class Bird (2) and 3 below it", 1)
        change, tops = project.classes.paste(project.classes.copied([gull, diver]), None)
        assert (change.text, names_of(project.classes.graph, tops)) == (
            "Pasted 2 classes and 1 below them",
            ["Gull", "Diver"],
        )
        assert {"Gull/Puffin", "Diver/Puffin"} < _paths(project)


def test_a_taken_name_gets_a_number(tmp_path: Path) -> None:
    """Among siblings only; a name of maximum length is shortened."""
    project, bird = _birds(tmp_path)
    with project:
        gull = project.classes.graph.find("Gull")
        text = project.classes.copied([gull])
        for expected in ("Gull (2)", "Gull (3)"):
            _, (top,) = project.classes.paste(text, bird)
            assert project.classes.graph.name(top) == expected
            assert names_of(project.classes.graph, project.classes.graph.children(top)) == [
                "Puffin"
            ]
        project.classes.rename(gull, "x" * 255)
        _, (top,) = project.classes.paste(project.classes.copied([gull]), bird)
        assert project.classes.graph.name(top) == "x" * 251 + " (2)"


def test_a_class_can_be_pasted_below_itself(tmp_path: Path) -> None:
    """The text is a snapshot, so there is no cycle."""
    project, bird = _birds(tmp_path)
    with project:
        project.classes.paste(project.classes.copied([bird]), project.classes.graph.find("Gull"))
        assert "Bird/Gull/Bird/Gull/Puffin" in _paths(project)
        assert project.check() == []


def _text(*rows: object, **more: object) -> str:
    return json.dumps({"protoleaf": "classes", "classes": rows, **more})


BROKEN: dict[str, tuple[str, str]] = {
    "nothing": ("", "no copied classes"),
    "a sentence": ("Gull, Tern", "no copied classes"),
    "half of it": (_text({"name": "Gull"})[:-3], "no copied classes"),
    "other JSON": ('{"name": "Gull"}', "no copied classes"),
    "another kind": ('{"protoleaf": "images", "classes": []}', "no copied classes"),
    "brackets": ("[" * 100_000, "no copied classes"),
    "a huge number": (
        '{"protoleaf": "classes", "classes": ' + "9" * 5_000 + "}",
        "no copied classes",
    ),
    "no class": (_text(), "no class to paste"),
    "no object": (_text("Gull"), "class 1 has no name"),
    "no name": (_text({"note": "seen"}), "needs a name"),
    "a number as name": (_text({"name": 7}), "not text"),
    "a control character": (_text({"name": "a\0b"}), "control characters"),
    "itself as parent": (_text({"name": "Gull", "parents": [0]}), "is not listed before"),
    "a later parent": (
        _text({"name": "Gull"}, {"name": "Tern", "parents": [2]}, {"name": "Auk"}),
        "class 2 has",
    ),
    "a negative parent": (
        _text({"name": "Gull"}, {"name": "Tern", "parents": [-1]}),
        "is not listed before",
    ),
    "a parent by name": (
        _text({"name": "Gull"}, {"name": "Tern", "parents": ["Gull"]}),
        "is not listed before",
    ),
    "synonyms in one": (
        _text({"name": "Gull", "synonyms": "Larus"}),
        "an invalid value of synonyms",
    ),
    "a colour by name": (_text({"name": "Gull", "colour": "red"}), "not a colour"),
    "an endless note": (_text({"name": "Gull", "note": "x" * 10_001}), "too long"),
    "a bar above one": (
        _text({"name": "Gull", "bar": 7}),
        "an invalid value of minimum confidence",
    ),
    "a bar that is none": (
        _text({"name": "Gull", "bar": float("nan")}),
        "an invalid value of minimum confidence",
    ),
    "a bar in words": (_text({"name": "Gull", "is_deepest": "yes"}), "an invalid value of level"),
}


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN)
def test_what_nobody_copied_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """Other text on the clipboard raises an error, and nothing is added."""
    project, _ = _birds(tmp_path)
    with project:
        before = dump(project)
        with pytest.raises(InputError, match=message):
            project.classes.paste(text, None)
        assert dump(project) == before


def test_namesakes_in_the_text_get_numbers(tmp_path: Path) -> None:
    """Duplicate names in the text are numbered, not refused."""
    with new_project(tmp_path) as project:
        rows = [
            {"name": "Gull"},
            {"name": "Gull"},
            {"name": "Tern", "parents": [0, 1, 0]},
            {"name": "Tern", "parents": [1]},
        ]
        _, tops = project.classes.paste(_text(*rows), None)
        assert _paths(project) == {
            "Gull",
            "Gull (2)",
            "Gull/Tern",
            "Gull (2)/Tern",
            "Gull (2)/Tern (2)",
        }
        assert len(tops) == 2


def test_there_must_be_a_class_to_copy_and_a_place_to_paste(tmp_path: Path) -> None:
    """Unknown class ids are refused."""
    project, bird = _birds(tmp_path)
    with project:
        text = project.classes.copied([bird])
        with pytest.raises(UnknownClassError):
            project.classes.copied([bird, 999])
        with pytest.raises(UnknownClassError):
            project.classes.paste(text, 999)
        with pytest.raises(GraphError, match="no class"):
            project.classes.copied([])


@pytest.mark.parametrize("text", ["Gull", "", '{"name": "protoleaf"}', '{"classes": []}'])
def test_other_texts_are_known_at_a_glance(text: str) -> None:
    """The check is cheap, since a menu calls it at each opening."""
    assert not is_copied_text(text)
