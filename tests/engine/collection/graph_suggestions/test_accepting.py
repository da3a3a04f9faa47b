"""Accepting a suggestion is one undoable step."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.collection.graph_suggestions.pairs import Mixed, Similarity, Twins
from engine.collection.graph_suggestions.parents import Stray
from engine.collection.graph_suggestions.suggestion import UnderlabelledClass, accept
from engine.collection.new_project import new_project
from engine.errors import InputError
from engine.files import FoundFile
from engine.project import Project

ALIKE = Similarity(between=0.4, within=0.4, confused=5, count=10)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Bird (1) with Gull (2) and Mew (3), Plant (4); images 1 to 4 are gulls."""
    with new_project(tmp_path / "birds.protoleaf") as made:
        bird = made.classes.add("Bird")[1]
        gull = made.classes.add("Gull", [bird])[1]
        made.classes.add("Mew", [bird])
        made.classes.add("Plant")
        files = [FoundFile(tmp_path / f"{number}.jpg", 0, 0) for number in range(4)]
        made.images.add_labelled(files, [gull] * len(files))
        yield made


def test_twins_are_merged(project: Project) -> None:
    """The smaller class is merged into the other; undo restores it."""
    change = accept(project, Twins(3, 2, ALIKE))
    assert 3 not in project.classes.graph
    assert "Mew" in change.text
    project.history.undo()
    assert project.classes.graph.name(3) == "Mew"


def test_a_stray_is_moved(project: Project) -> None:
    """The class moves from one parent to the other."""
    accept(project, Stray(3, 1, 4, 0.9, 0.1))
    assert project.classes.graph.parents(3) == (4,)


def test_a_mixed_class_is_split(project: Project) -> None:
    """Each half becomes a child class; an image relabelled in the meantime keeps its label."""
    project.labels.set([4], 4)
    change = accept(project, Mixed(2, ((1, 2), (3, 4)), ALIKE))
    first, second = project.classes.graph.children(2)
    assert [project.classes.graph.name(each) for each in (first, second)] == ["Gull 1", "Gull 2"]
    assert {i: label.class_id for i, label in project.labels.by_image().items()} == {
        1: first,
        2: first,
        3: second,
        4: 4,
    }
    assert change.text == str(project.history.undo_action)
    project.history.undo()
    assert project.classes.graph.children(2) == ()
    assert {project.labels.by_image()[i].class_id for i in (1, 2, 3)} == {2}


def test_names_that_are_taken_are_passed_over(project: Project) -> None:
    """Splitting again below the same class skips names in use."""
    project.classes.add("Gull 1", [2])
    accept(project, Mixed(2, ((1, 2), (3, 4)), ALIKE))
    assert [project.classes.graph.name(each) for each in project.classes.graph.children(2)] == [
        "Gull 1",
        "Gull 2",
        "Gull 3",
    ]


def test_nobody_but_a_person_labels(project: Project) -> None:
    """An underlabelled class needs shots, so its suggestion has no action."""
    with pytest.raises(InputError, match="only a person"):
        accept(project, UnderlabelledClass(2, 4, (), 9))
