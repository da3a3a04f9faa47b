"""Source ids and synonyms of classes: stored, reported, undone."""

from pathlib import Path

import pytest

from engine.errors import UnknownClassError
from engine.graph.category_graph import CategoryGraph
from engine.graph.class_attributes import NO_ATTRIBUTES, ClassAttributes
from engine.graph.edits import AttributesChanged, ClassAdded, ClassRemoved, ClassRenamed
from engine.project import Project
from tests.support.projects import bird_project, dump, named

LARUS = ClassAttributes("n02041246", ("Larus", "sea bird"))
NAMED, UNNAMED = NO_ATTRIBUTES.differences(LARUS), LARUS.differences(NO_ATTRIBUTES)
TERN = ClassAttributes("n02043333", ("Sterna",))


def _gulls(folder: Path) -> tuple[Project, int, int]:
    """Gull with aliases added later, Tern with aliases from the start, by one import."""
    project, gull, _ = bird_project(folder)
    added: list[int] = []

    def merge(graph: CategoryGraph) -> None:
        graph.set_attributes(gull, LARUS)
        added.append(graph.add_class("Tern", graph.parents(gull), attributes=TERN))

    change = project.classes.edit(merge, named("Import gulls"))
    (tern,) = added
    assert change.graph_edits[0] == ClassAdded(tern, "Tern", TERN)
    assert change.graph_edits[-1] == AttributesChanged(
        gull, NO_ATTRIBUTES.differences(LARUS), LARUS.differences(NO_ATTRIBUTES)
    )
    return project, gull, tern


def test_they_are_there_after_reopening(tmp_path: Path) -> None:
    """Imported aliases are stored in the file."""
    project, gull, tern = _gulls(tmp_path)
    project.close()
    with Project.open(project.path, for_writing=False) as reopened:
        assert (
            reopened.classes.graph.attributes(gull),
            reopened.classes.graph.attributes(tern),
        ) == (LARUS, TERN)
        assert reopened.check() == []


def test_undo_of_an_import_takes_the_ids_back(tmp_path: Path) -> None:
    """They are not found after undo and found after redo, also after a restart."""
    project, gull, tern = _gulls(tmp_path)
    with_them = dump(project)
    undone = project.history.undo()
    assert undone is not None
    assert undone.graph_edits[0] == AttributesChanged(
        gull, LARUS.differences(NO_ATTRIBUTES), NO_ATTRIBUTES.differences(LARUS)
    )
    assert undone.graph_edits[-1] == ClassRemoved(tern, "Tern", TERN)
    with pytest.raises(UnknownClassError):
        project.classes.graph.find("n02041246")
    assert project.check() == []
    project.close()
    with Project.open(project.path) as reopened:
        assert reopened.classes.graph.attributes(gull) == NO_ATTRIBUTES
        reopened.history.redo()
        assert dump(reopened) == with_them
        assert reopened.classes.graph.find("Sterna") == tern
        assert reopened.check() == []


def test_a_new_name_leaves_them(tmp_path: Path) -> None:
    """Renaming does not change aliases."""
    project, gull, _ = _gulls(tmp_path)
    with project:
        change = project.classes.rename(gull, "Mew")
        assert change.graph_edits == (ClassRenamed(gull, "Mew", "Gull"),)
    with Project.open(project.path) as reopened:
        assert reopened.classes.graph.attributes(gull) == LARUS


def test_a_removed_class_takes_them_along(tmp_path: Path) -> None:
    """They are removed and restored with the class."""
    project, gull, _ = _gulls(tmp_path)
    with project:
        before = dump(project)
        project.classes.remove([gull])
        with pytest.raises(UnknownClassError):
            project.classes.graph.find("Larus")
        assert project.check() == []
        undone = project.history.undo()
        assert undone is not None
        assert undone.graph_edits[0] == ClassAdded(gull, "Gull", LARUS)
        assert project.classes.graph.find("Larus") == gull
        assert dump(project) == before
