"""What was dismissed stays dismissed, and can be brought back."""

from pathlib import Path

import pytest

from engine.collection.graph_suggestions.suggestion import DISMISSED_SETTING, bring_back, dismiss, dismissed_keys
from engine.collection.new_project import new_project
from engine.project import Project
from tests.support.projects import named


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Of an empty project."""
    new_project(tmp_path / "birds.protoleaf").close()
    return tmp_path / "birds.protoleaf"


def test_it_is_kept_in_the_project(path: Path) -> None:
    """Over a restart; undo brings it back, also after one, and the same twice is kept once."""
    with Project.open(path) as project:
        assert dismissed_keys(project) == ()
        change = dismiss(project, ["place 3"], named("Dismissed the suggestion about Gull"))
        assert (change.text, change.settings) == ("Dismissed the suggestion about Gull", (DISMISSED_SETTING,))
        dismiss(project, ["twins 1 2", "place 3"], named("Dismissed two"))
    with Project.open(path) as project:
        assert dismissed_keys(project) == ("place 3", "twins 1 2")
        project.history.undo()
        assert dismissed_keys(project) == ("place 3",)
        bring_back(project)
        assert dismissed_keys(project) == ()
        project.history.undo()
        assert dismissed_keys(project) == ("place 3",)


def test_a_setting_of_another_shape_is_no_reason_to_fail(path: Path) -> None:
    """A newer version may keep more than keys."""
    with Project.open(path) as project:
        project.policies.set_setting(DISMISSED_SETTING, {"keys": ["place 3"]})
        assert dismissed_keys(project) == ()
        project.policies.set_setting(DISMISSED_SETTING, ["place 3", 4])
        assert dismissed_keys(project) == ("place 3",)
