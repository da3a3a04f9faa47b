"""Saved searches of a project."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.collection.search.saved import (
    LONGEST_NAME,
    MOST_SAVED,
    remove_search,
    rename_search,
    save_search,
    saved_searches,
)
from engine.errors import InputError
from engine.project import Project
from tests.support.projects import new_project


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    opened = new_project(tmp_path)
    yield opened
    opened.close()


def test_searches_are_saved_renamed_removed_and_each_is_undone(project: Project) -> None:
    """Sorted by name ignoring case; each change is one undoable step with a description."""
    save_search(project, "night", "date:2024 night OR dusk")
    change = save_search(project, "Foxes", " class:Fox ")
    assert change.text == "Saved the search Foxes"
    assert list(saved_searches(project).items()) == [
        ("Foxes", "class:Fox"),
        ("night", "date:2024 night OR dusk"),
    ]
    rename_search(project, "night", "After  dark")
    assert list(saved_searches(project)) == ["After dark", "Foxes"]
    remove_search(project, "Foxes")
    assert list(saved_searches(project)) == ["After dark"]
    project.history.undo()
    assert list(saved_searches(project)) == ["After dark", "Foxes"]
    project.history.undo()
    assert list(saved_searches(project)) == ["Foxes", "night"]


@pytest.mark.parametrize("name", ["", "  ", "FOXES", "x" * (LONGEST_NAME + 1)])
def test_a_name_is_refused_that_is_taken_or_none(project: Project, name: str) -> None:
    save_search(project, "Foxes", "fox")
    with pytest.raises(InputError):
        save_search(project, name, "hare")
    assert saved_searches(project) == {"Foxes": "fox"}


def test_a_search_that_is_not_understood_is_not_saved(project: Project) -> None:
    with pytest.raises(InputError, match="colour"):
        save_search(project, "Red", "colour:red")


def test_there_are_not_endlessly_many(project: Project) -> None:
    for number in range(MOST_SAVED):
        save_search(project, f"search {number}", "fox")
    with pytest.raises(InputError, match="at most 50"):
        save_search(project, "one more", "fox")


def test_unknown_names_are_errors(project: Project) -> None:
    with pytest.raises(InputError, match="no saved search"):
        rename_search(project, "Foxes", "Wolves")
    with pytest.raises(InputError, match="no saved search"):
        remove_search(project, "Foxes")
