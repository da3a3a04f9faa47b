"""Settings of classes and of the project: keys, limits of predictions, the locked class list."""

from functools import partial
from pathlib import Path

import pytest

from engine.errors import InputError
from engine.graph.category_graph import CategoryGraph
from engine.graph.class_attributes import ClassAttributes
from engine.project import ClassPolicy, Project
from tests.support.projects import dump, new_project


@pytest.fixture
def birds(tmp_path: Path) -> Project:
    """Bird above Gull and Auk."""
    project = new_project(tmp_path)
    _, bird = project.classes.add("Bird")
    for name in ("Gull", "Auk"):
        project.classes.add(name, [bird])
    return project


def test_a_key_belongs_to_one_class(birds: Project) -> None:
    """Assigned to another class it leaves the first, in one undoable step, also after a restart."""
    gull, auk = (birds.classes.graph.find(name) for name in ("Gull", "Auk"))
    birds.classes.set_key(gull, 3)
    assert str(birds.history.undo_action) == "Gave Gull the key 3"
    change = birds.classes.set_key(auk, 3)
    assert {edit.class_id for edit in change.graph_edits} == {gull, auk}  # type: ignore[union-attr]
    assert (birds.classes.graph.key_of(gull), birds.classes.graph.key_of(auk)) == (0, 3)
    path = birds.path
    birds.close()
    with Project.open(path) as again:
        again.history.undo()
        assert (again.classes.graph.class_of_key(3), again.check()) == (gull, [])
        again.classes.set_key(gull, 0)
        assert (again.classes.graph.class_of_key(3), str(again.history.undo_action)) == (
            None,
            "Removed the key of Gull",
        )


def test_a_key_is_a_digit(birds: Project) -> None:
    before = dump(birds)
    with pytest.raises(InputError, match="not a key for a class"):
        birds.classes.set_key(1, 10)
    assert dump(birds) == before


def test_a_pasted_class_brings_no_key_that_is_taken(birds: Project) -> None:
    """The original keeps its key."""
    gull = birds.classes.graph.find("Gull")
    birds.classes.set_key(gull, 1)
    _, (pasted,) = birds.classes.paste(birds.classes.copied([gull]), None)
    assert (birds.classes.graph.class_of_key(1), birds.classes.graph.key_of(pasted)) == (gull, 0)


def _with_the_key_2(class_id: int, graph: CategoryGraph) -> None:
    graph.set_attributes(class_id, ClassAttributes(label_key=2))


def test_of_two_classes_with_one_key_the_older_has_it(birds: Project) -> None:
    """In a file made by hand one key may have two classes: the older one counts."""
    for name in ("Auk", "Gull"):
        class_id = birds.classes.graph.find(name)
        birds.classes.edit(partial(_with_the_key_2, class_id))
    graph = birds.classes.graph
    assert (graph.class_of_key(2), graph.key_of(graph.find("Auk"))) == (graph.find("Gull"), 0)


def test_predictions_begin_at_a_class_by_an_undoable_step(birds: Project) -> None:
    """Independent of threshold and deepest class."""
    gull = birds.classes.graph.find("Gull")
    birds.policies.set(gull, ClassPolicy(0.9, is_deepest=True, is_broadest=True))
    change = birds.policies.set(gull, ClassPolicy(0.9, is_deepest=True))
    assert (str(change.action), change.policies) == ("Allowed predictions above Gull", (gull,))
    birds.history.undo()
    assert birds.policies.by_class() == {gull: ClassPolicy(0.9, is_deepest=True, is_broadest=True)}
    assert birds.check() == []


def test_the_broadest_level_is_the_projects(birds: Project) -> None:
    assert birds.policies.broadest_level == 0
    change = birds.policies.set_broadest_level(1)
    assert str(change.action) == "Limited predictions to level 2 and below"
    assert birds.policies.broadest_level == 1
    birds.history.undo()
    assert birds.policies.broadest_level == 0
    with pytest.raises(InputError, match="not a level"):
        birds.policies.set_broadest_level(-1)


def test_a_class_list_is_locked_and_unlocked(birds: Project) -> None:
    """Both are undoable."""
    birds.policies.lock(is_on=True)
    assert (birds.policies.is_locked, str(birds.history.undo_action)) == (
        True,
        "Locked the class list",
    )
    assert str(birds.policies.lock(is_on=False).action) == "Unlocked the class list"
    birds.history.undo()
    assert birds.policies.is_locked
