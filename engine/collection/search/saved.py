"""Saved searches of a project; each change can be undone."""

from collections.abc import Mapping

from engine.collection.search.query import parse_query
from engine.errors import InputError
from engine.project import Change, Project
from engine.project.actions import Action, action
from engine.search_folding import folded

SAVED_SETTING = "saved_searches"
MOST_SAVED = 50  # of a project. Chosen: results of each are counted after every label
LONGEST_NAME = 80  # characters


def saved_searches(project: Project) -> Mapping[str, str]:
    """Queries by name, sorted by name."""
    stored: Mapping[str, str] = project.policies.setting(SAVED_SETTING, {})
    return {name: stored[name] for name in sorted(stored, key=folded)}


def save_search(project: Project, name: str, query: str) -> Change:
    """Save a query under a name.

    Raises:
        InputError: the name is taken or invalid, there are too many, or syntax error.
    """
    parse_query(query, project.fields.defined)
    saved = dict(saved_searches(project))
    if len(saved) >= MOST_SAVED:
        raise InputError(
            "no more searches can be saved", expected="at most {most}", most=MOST_SAVED
        )
    free = _free_name(name, saved)
    return _store(project, saved | {free: query.strip()}, action("search_saved", search=free))


def rename_search(project: Project, name: str, new_name: str) -> Change:
    """Rename a saved search.

    Raises:
        InputError: no search has this name, or the new one is taken or invalid.
    """
    saved = dict(saved_searches(project))
    query = _removed(saved, name)
    free = _free_name(new_name, saved)
    return _store(project, saved | {free: query}, action("search_renamed", search=name, name=free))


def remove_search(project: Project, name: str) -> Change:
    """Remove a saved search.

    Raises:
        InputError: no search has this name.
    """
    saved = dict(saved_searches(project))
    _removed(saved, name)
    return _store(project, saved, action("search_removed", search=name))


def _removed(saved: dict[str, str], name: str) -> str:
    if name not in saved:
        raise InputError('there is no saved search "{name}"', name=name)
    return saved.pop(name)


def _free_name(name: str, saved: Mapping[str, str]) -> str:
    bare = " ".join(name.split())
    if not bare or len(bare) > LONGEST_NAME:
        raise InputError(
            "the name of a search has at least 1 and at most {most} characters", most=LONGEST_NAME
        )
    if folded(bare) in map(folded, saved):
        raise InputError(
            'a search is saved as "{name}" already', remedy="choose another name", name=bare
        )
    return bare


def _store(project: Project, saved: Mapping[str, str], what: Action) -> Change:
    return project.policies.set_setting(SAVED_SETTING, dict(saved), what)
