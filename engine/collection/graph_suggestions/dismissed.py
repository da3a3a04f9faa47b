"""Suggestions that a person does not want to see again: kept in the project, and brought back by undo."""

from collections.abc import Collection
from typing import Final

from engine.project import Action, Change, Project
from engine.project.actions import action

DISMISSED_SETTING: Final = "dismissed_graph_suggestions"
MOST_KEPT: Final = 5_000
"""The oldest ones go first: a setting has room for so many."""


def dismissed_keys(project: Project) -> tuple[str, ...]:
    """Keys of the dismissed suggestions, oldest first."""
    stored = project.policies.setting(DISMISSED_SETTING, [])
    return tuple(key for key in stored if isinstance(key, str)) if isinstance(stored, list) else ()


def dismiss(project: Project, keys: Collection[str], called: Action) -> Change:
    """Never show suggestions again.

    Args:
        keys: of the suggestions.
        called: the action.
    """
    known = dismissed_keys(project)
    kept = [*known, *(key for key in keys if key not in known)][-MOST_KEPT:]
    with project.history.one_step(called) as step:
        project.policies.set_setting(DISMISSED_SETTING, kept)
    return step.change


def bring_back(project: Project) -> Change:
    """Show all dismissed suggestions again."""
    with project.history.one_step(action("suggestions_shown")) as step:
        project.policies.set_setting(DISMISSED_SETTING, None)
    return step.change
