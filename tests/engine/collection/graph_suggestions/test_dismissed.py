"""Dismissed suggestions are stored in the project and can be restored."""

from pathlib import Path

import pytest

from engine.collection.graph_suggestions.pairs import Mixed, Similarity, Twins
from engine.collection.graph_suggestions.parents import Stray
from engine.collection.graph_suggestions.suggestion import (
    DISMISSED_SETTING,
    PossibleParents,
    UnderlabelledClass,
    bring_back,
    dismiss,
    dismissal,
    dismissed_keys,
)
from engine.collection.new_project import new_project
from engine.everyday.classifier import ScoredClass
from engine.graph.shown_language import AS_IN_PROJECT, show_names_in
from engine.project import Project
from tests.support.projects import named


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Of an empty project."""
    new_project(tmp_path / "birds.protoleaf").close()
    return tmp_path / "birds.protoleaf"


def test_it_is_kept_in_the_project(path: Path) -> None:
    """It survives a restart, can be undone and is stored once."""
    with Project.open(path) as project:
        assert dismissed_keys(project) == ()
        change = dismiss(project, ["place 3"], named("Dismissed the suggestion about Gull"))
        assert (change.text, change.settings) == (
            "Dismissed the suggestion about Gull",
            (DISMISSED_SETTING,),
        )
        dismiss(project, ["twins 1 2", "place 3"], named("Dismissed two"))
    with Project.open(path) as project:
        assert dismissed_keys(project) == ("place 3", "twins 1 2")
        project.history.undo()
        assert dismissed_keys(project) == ("place 3",)
        bring_back(project)
        assert dismissed_keys(project) == ()
        project.history.undo()
        assert dismissed_keys(project) == ("place 3",)


def test_the_history_has_the_names_in_the_project(path: Path) -> None:
    """The history uses the class names of the project; a removed class has its number."""
    alike = Similarity(0.5, 0.5, 4, 8)
    show_names_in("de")
    try:
        with Project.open(path) as project:
            bird, gull = (project.classes.add(name)[1] for name in ("Bird", "Gull"))
            project.classes.set_attributes([gull], synonyms=("Möwe@de",))
            graph, parents = project.classes.graph, (ScoredClass(bird, 0.6),)
            texts = [
                str(dismissal(PossibleParents(gull, parents), graph)),
                str(dismissal(Twins(gull, bird, alike), graph)),
                str(dismissal(Mixed(gull, (), alike), graph)),
                str(dismissal(Stray(gull, bird, bird, 0.7, 0.1), graph)),
                str(dismissal(UnderlabelledClass(77, 1, (), 9), graph)),
            ]
    finally:
        show_names_in(AS_IN_PROJECT)
    assert texts == [
        "Dismissed a suggestion: Gull may belong under Bird",
        "Dismissed a suggestion: Gull and Bird look like one class",
        "Dismissed a suggestion: Gull looks like two classes",
        "Dismissed a suggestion: Gull may belong under Bird instead of Bird",
        "Dismissed a suggestion: 3 more examples of 77 would help about 9 images",
    ]


def test_a_setting_of_another_shape_is_no_reason_to_fail(path: Path) -> None:
    """Unknown fields in the stored setting, as of a newer version, are ignored."""
    with Project.open(path) as project:
        project.policies.set_setting(DISMISSED_SETTING, {"keys": ["place 3"]})
        assert dismissed_keys(project) == ()
        project.policies.set_setting(DISMISSED_SETTING, ["place 3", 4])
        assert dismissed_keys(project) == ("place 3",)
