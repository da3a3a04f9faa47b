"""Undo and redo are exact, also after a restart."""

from contextlib import suppress
from pathlib import Path

import pytest

from engine.errors import DuplicateNameError, InputError
from engine.graph.category_graph import CategoryGraph
from engine.project import Project
from tests.support.projects import (
    bird_project,
    connection_of,
    dump,
    found_files,
    named,
    new_project,
    shape,
)
from tests.support.storyteller import Storyteller

ACTIONS_IN_A_STORY = 60


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_any_story_goes_back_and_forth(tmp_path: Path, seed: int) -> None:
    """Any actions can be undone to the first state and redone to the last, step by step."""
    project = new_project(tmp_path)
    teller = Storyteller(project, seed)
    for _ in range(ACTIONS_IN_A_STORY):
        teller.tell()
    assert len(teller.looks) > 10
    assert project.check() == []
    project.close()
    with Project.open(tmp_path / "birds.protoleaf") as reopened:
        teller.project = reopened
        assert shape(reopened.classes.graph) == shape(teller.mirror)
        for _ in range(len(teller.looks)):
            teller.step_back()
        assert teller.place == 0
        assert reopened.check() == []
    with Project.open(tmp_path / "birds.protoleaf") as reopened:
        teller.project = reopened
        for _ in range(len(teller.looks)):
            teller.step_forward()
        assert dump(reopened) == teller.looks[-1]
        assert reopened.check() == []


def test_undo_tells_what_it_would_take_back(tmp_path: Path) -> None:
    """The texts of undo and redo follow the position in the history."""
    project, gull, images = bird_project(tmp_path)
    project.labels.set(images[:2], gull)
    assert str(project.history.undo_action) == "Labelled 2 images as Gull"
    assert project.history.redo_action is None
    project.history.undo()
    assert (str(project.history.undo_action), str(project.history.redo_action)) == (
        "Added 4 images",
        "Labelled 2 images as Gull",
    )
    project.close()


def test_a_new_action_forgets_what_was_undone(tmp_path: Path) -> None:
    """A new action clears the redo history."""
    project, gull, images = bird_project(tmp_path)
    project.labels.set(images, gull)
    project.history.undo()
    project.labels.set(images[:1], None)
    assert project.history.redo_action is None
    assert project.history.redo() is None
    project.close()


def test_an_action_that_changes_nothing_is_no_step(tmp_path: Path) -> None:
    """Labelling again with the same class is no step and keeps the redo history."""
    project, gull, images = bird_project(tmp_path)
    project.labels.set(images[:1], gull)
    project.labels.set(images[1:], gull)
    project.history.undo()
    steps = len(project.history.steps())
    change = project.labels.set(images[:1], gull)
    assert change.is_empty
    assert len(project.history.steps()) == steps
    assert str(project.history.redo_action) == "Labelled 3 images as Gull"
    project.close()


def test_ids_are_never_used_again(tmp_path: Path) -> None:
    """Ids of undone or removed classes and images are not reused, also after a restart."""
    project, _, images = bird_project(tmp_path)
    _, tern = project.classes.add("Tern")
    project.history.undo()
    project.images.remove(images)
    project.close()
    with Project.open(tmp_path / "birds.protoleaf") as reopened:
        _, skua = reopened.classes.add("Skua")
        added = reopened.images.add(found_files(tmp_path, 1, start=50)).images_added
        assert skua > tern
        assert min(added) > max(images)


def test_one_step_is_undone_at_once(tmp_path: Path) -> None:
    """Actions grouped by one_step are one entry of the history and one change."""
    project, gull, images = bird_project(tmp_path)
    before = dump(project)
    with project.history.one_step(named("New class with shots")) as step:
        _, tern = project.classes.add("Tern", [gull])
        project.labels.set(images[:2], tern)
        project.labels.set(images[2:], gull)
    assert step.change.labelled == tuple(images)
    assert len(step.change.graph_edits) == 2
    assert str(project.history.undo_action) == "New class with shots"
    undone = project.history.undo()
    assert undone is not None
    assert set(undone.labelled) == set(images)
    assert dump(project) == before
    project.close()


def test_a_failing_group_leaves_nothing_behind(tmp_path: Path) -> None:
    """If one action of a group fails, all are rolled back, in the file and in memory."""
    project, gull, images = bird_project(tmp_path)
    before, graph_before = dump(project), shape(project.classes.graph)

    def group() -> None:
        with project.history.one_step(named("Group")):
            project.labels.set(images, gull)
            project.classes.add("Tern")
            project.classes.add("Tern")

    with pytest.raises(DuplicateNameError):
        group()
    assert dump(project) == before
    assert shape(project.classes.graph) == graph_before
    assert str(project.history.undo_action) == "Added 4 images"
    project.close()


def test_a_failure_that_is_caught_takes_back_only_itself(tmp_path: Path) -> None:
    """An import that fails inside a group is rolled back alone."""
    project, _, _ = bird_project(tmp_path)

    def merge(graph: CategoryGraph) -> None:
        graph.add_class("Half")
        graph.add_class("Half")

    with project.history.one_step(named("Group")) as step:
        project.classes.add("First")
        with pytest.raises(DuplicateNameError):
            project.classes.edit(merge, named("Import"))
        project.classes.add("Last")
    names = [project.classes.graph.name(class_id) for class_id in project.classes.graph.roots()]
    assert names == ["Bird", "First", "Last"]
    assert len(step.change.graph_edits) == 2
    mirror = shape(project.classes.graph)
    project.close()
    with Project.open(tmp_path / "birds.protoleaf") as reopened:
        assert shape(reopened.classes.graph) == mirror


def test_history_names_each_step(tmp_path: Path) -> None:
    """Text, person and whether it was undone, latest first."""
    project, gull, images = bird_project(tmp_path)
    with project.history.one_step(named("By Grace"), who="grace"):
        project.labels.set(images, gull)
    project.history.undo()
    latest = project.history.steps(limit=2)
    assert [(step.text, step.is_undone) for step in latest] == [
        ("By Grace", True),
        ("Added 4 images", False),
    ]
    assert latest[0].who == "grace"
    assert latest[0].when.tzinfo is not None
    project.close()


def test_undoing_an_import_and_redoing_it_finds_the_facts_again(tmp_path: Path) -> None:
    """Image facts outlive undo and redo of adding the images."""
    project, _, images = bird_project(tmp_path)
    project.images.record_scan([(images[0], b"\x01\x02", None), (images[1], None, "cut off")])
    project.history.undo()
    assert project.images.records() == []
    project.history.redo()
    assert [record.content_hash for record in project.images.records()] == [
        "0102",
        None,
        None,
        None,
    ]
    assert project.images.record(images[1]).failure == "cut off"
    project.close()


@pytest.mark.slow
def test_big_steps_span_chunks_in_order(tmp_path: Path) -> None:
    """A step of more rows than a chunk is undone and redone completely, and is compressed."""
    project = new_project(tmp_path)
    project.images.add(found_files(Path("/photos"), 12_001))
    chunks = connection_of(project).rows("SELECT length(row_changes) FROM journal_chunk")
    assert len(chunks) == 3
    assert sum(length for (length,) in chunks) < 12_001 * 40
    last = dump(project)
    project.history.undo()
    assert project.images.count == 0
    project.history.redo()
    assert dump(project) == last
    project.close()


@pytest.mark.parametrize("is_loaded", [True, False])
def test_an_inner_step_that_fails_leaves_the_graph_as_the_file_has_it(
    tmp_path: Path, is_loaded: bool
) -> None:
    """Whether the graph was loaded before or not, with one or two nested steps.

    The outer step continues and can be undone.
    """
    new_project(tmp_path).close()
    with Project.open(tmp_path / "birds.protoleaf") as project:
        before = (
            sorted(map(project.classes.graph.name, project.classes.graph.classes()))
            if is_loaded
            else []
        )
        with project.history.one_step():
            with suppress(InputError), project.history.one_step():
                taken_back = project.classes.add("taken back")[1]
                with project.history.one_step():
                    project.classes.add("deeper", [taken_back])
                    project.classes.rename(taken_back, "renamed")
                raise InputError("something else fails")
            project.classes.add("stays")
            with suppress(InputError), project.history.one_step():
                project.classes.add("taken back, too")
                raise InputError("something else fails")
        names = sorted(map(project.classes.graph.name, project.classes.graph.classes()))
        assert names == [*before, "stays"]
    with Project.open(project.path) as again:
        assert sorted(map(again.classes.graph.name, again.classes.graph.classes())) == names
        again.history.undo()
        assert sorted(map(again.classes.graph.name, again.classes.graph.classes())) == before
        assert again.check() == []
