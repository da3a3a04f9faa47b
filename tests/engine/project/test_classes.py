"""Actions on the category graph, and labels of removed classes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import CycleError, DuplicateNameError, GraphError, InputError, UnknownClassError
from engine.graph.category_graph import CategoryGraph
from engine.graph.class_attributes import ClassAttributes
from engine.graph.edits import ClassAdded, ClassRemoved, ClassRenamed, EdgeAdded, EdgeRemoved
from engine.graph.removal import ChildrenOfRemoved
from engine.project import Change, ClassPolicy, Project, SplitPart
from engine.project.removal_preview import (
    MergePreview,
    RemovalPreview,
    merge_preview,
    removal_preview,
)
from tests.support.projects import bird_project, dump, named, new_project, shape


def test_each_action_tells_its_edits(tmp_path: Path) -> None:
    """The edits of a change update a copy of the graph."""
    with new_project(tmp_path) as project:
        change, bird = project.classes.add(" Bird ")
        assert (change.text, change.graph_edits) == (
            "Added class Bird",
            (ClassAdded(bird, "Bird"),),
        )
        change, gull = project.classes.add("Gull", [bird])
        assert change.graph_edits == (ClassAdded(gull, "Gull"), EdgeAdded(bird, gull))
        change = project.classes.rename(gull, "Tern")
        assert (change.text, change.graph_edits) == (
            "Renamed class Gull to Tern",
            (ClassRenamed(gull, "Tern", "Gull"),),
        )
        change = project.classes.unlink([(bird, gull)])
        assert (change.text, change.graph_edits) == (
            "Unlinked Tern from Bird",
            (EdgeRemoved(bird, gull),),
        )
        change = project.classes.link(bird, [gull])
        assert (change.text, change.graph_edits) == (
            "Added parent Bird to Tern",
            (EdgeAdded(bird, gull),),
        )
        change = project.classes.move([(gull, bird)], None)
        assert (change.text, change.graph_edits) == (
            "Moved class Tern to the top level",
            (EdgeRemoved(bird, gull),),
        )
        change = project.classes.remove([bird])
        assert (change.text, change.graph_edits) == (
            "Removed class Bird",
            (ClassRemoved(bird, "Bird"),),
        )
        undone = project.history.undo()
        assert undone is not None
        assert undone.graph_edits == (ClassAdded(bird, "Bird"),)


def test_refused_edits_make_no_step(tmp_path: Path) -> None:
    """A cycle, a duplicate name or an unknown class leaves file and history unchanged."""
    project, gull, _ = bird_project(tmp_path)
    bird = project.classes.graph.find("Bird")
    before, steps = dump(project), project.history.steps()
    with pytest.raises(CycleError, match="Gull"):
        project.classes.link(gull, [bird])
    with pytest.raises(DuplicateNameError):
        project.classes.add("Gull", [bird])
    with pytest.raises(UnknownClassError):
        project.classes.rename(999, "Tern")
    with pytest.raises(UnknownClassError):
        project.policies.set(999, ClassPolicy(0.5))
    assert dump(project) == before
    assert project.history.steps() == steps
    project.close()


def test_labels_of_a_removed_class_go_to_its_only_parent(tmp_path: Path) -> None:
    """They keep author and time; undo restores them."""
    project, gull, images = bird_project(tmp_path)
    bird = project.classes.graph.find("Bird")
    project.labels.set(images[:3], gull, who="ada")
    before = dump(project)
    change = project.classes.remove([gull])
    assert change.text == "Removed class Gull (3 labels moved to Bird)"
    assert set(change.labelled) == set(images[:3])
    assert project.labels.counts() == {bird: 3}
    label = project.labels.of(images[0])
    assert label is not None
    assert label.who == "ada"
    project.history.undo()
    assert dump(project) == before
    project.close()


@pytest.mark.parametrize("parent_count", [0, 2])
def test_labels_of_a_class_without_one_clear_parent_are_removed(
    tmp_path: Path, parent_count: int
) -> None:
    """Without a parent, or with two, they are removed and counted; undo restores them."""
    project, _, images = bird_project(tmp_path)
    parents = [project.classes.add(f"Parent {number}")[1] for number in range(parent_count)]
    _, tern = project.classes.add("Tern", parents)
    project.labels.set(images[:1], tern)
    before = dump(project)
    assert project.classes.remove([tern]).text == "Removed class Tern (1 label removed)"
    assert project.labels.by_image() == {}
    project.history.undo()
    assert dump(project) == before
    project.close()


def test_several_classes_are_edited_in_one_step(tmp_path: Path) -> None:
    """Each action is one step and one change.

    Undo restores everything, also after a restart.
    """
    project, gull, _ = bird_project(tmp_path)
    (bird,) = project.classes.graph.parents(gull)
    _, tern = project.classes.add("Tern")
    _, diver = project.classes.add("Diver")
    before = dump(project)
    did: list[tuple[Callable[[], Change], str]] = [
        (
            lambda: project.classes.add_parent("Seabird", [bird, tern], None)[0],
            "Added class Seabird above 2 classes",
        ),
        (lambda: project.classes.link(diver, [gull, tern]), "Added parent Diver to 2 classes"),
        (
            lambda: project.classes.unlink([(bird, gull), (diver, tern)]),
            "Unlinked 2 classes from 2 parents",
        ),
        (lambda: project.classes.move([(gull, diver)], bird), "Moved class Gull to Bird"),
        (
            lambda: project.classes.move([(gull, bird), (diver, None)], tern),
            "Moved 2 classes to Tern",
        ),
    ]
    steps = len(project.history.steps())
    for count, (act, text) in enumerate(did, start=1):
        change = act()
        assert (change.text, bool(change.graph_edits)) == (text, True)
        assert len(project.history.steps()) == steps + count
        assert project.check() == []
    project.close()
    with Project.open(project.path) as reopened:
        for _, text in reversed(did):
            assert str(reopened.history.undo_action) == text
            reopened.history.undo()
        assert dump(reopened) == before


def test_a_branch_is_removed_with_its_labels_counted(tmp_path: Path) -> None:
    """Labels go to the only parent.

    Those of a class with two parents are removed; the text counts both.
    """
    project, gull, images = bird_project(tmp_path, 6)
    _, tern = project.classes.add("Tern", project.classes.graph.parents(gull))
    _, young = project.classes.add("Young", [gull, tern])
    _, herring = project.classes.add("Herring Gull", [gull])
    project.labels.set(images[:2], herring, who="ada")
    project.labels.set(images[2:3], gull)
    project.labels.set(images[3:5], young)
    before = dump(project)
    change = project.classes.remove([gull, tern], ChildrenOfRemoved.REMOVED)
    assert (
        change.text
        == "Removed 2 classes and 2 below them (3 labels moved to Bird, 2 labels removed)"
    )
    assert set(change.labelled) == set(images[:5])
    assert [project.classes.graph.name(each) for each in project.classes.graph.classes()] == [
        "Bird"
    ]
    label = project.labels.of(images[0])
    assert label is not None
    assert label.who == "ada"
    assert project.check() == []
    project.history.undo()
    assert dump(project) == before
    change = project.classes.remove([gull], ChildrenOfRemoved.TOP_LEVEL)
    assert change.text == "Removed class Gull (1 label moved to Bird)"
    assert (project.classes.graph.parents(herring), project.classes.graph.parents(young)) == (
        (),
        (tern,),
    )
    project.close()


def test_a_removed_class_takes_its_policy_along(tmp_path: Path) -> None:
    """It is removed and restored with the class."""
    project, gull, _ = bird_project(tmp_path)
    change = project.policies.set(gull, ClassPolicy(bar=0.9, is_deepest=True))
    assert (change.text, change.policies) == ("Changed the minimum confidence of Gull", (gull,))
    project.classes.remove([gull])
    assert project.policies.by_class() == {}
    assert project.check() == []
    project.history.undo()
    assert project.policies.by_class() == {gull: ClassPolicy(bar=0.9, is_deepest=True)}
    project.close()


def test_a_merged_class_gives_all_it_has_to_its_heir(tmp_path: Path) -> None:
    """Labels with author and time, children and parents, in one step; undo restores all."""
    project, gull, images = bird_project(tmp_path)
    _, gulls = project.classes.add("Gulls")
    _, kittiwake = project.classes.add("Kittiwake", [gulls])
    project.labels.set(images[:2], gulls, who="ada")
    project.labels.set(images[2:3], gull)
    project.policies.set(gulls, ClassPolicy(bar=0.9))
    before, steps = dump(project), len(project.history.steps())
    change = project.classes.merge([gulls], gull)
    assert change.text == "Merged Gulls into Gull (2 labels moved)"
    assert (set(change.labelled), project.policies.by_class()) == (set(images[:2]), {})
    assert project.labels.counts() == {gull: 3}
    label = project.labels.of(images[0])
    assert label is not None
    assert label.who == "ada"
    assert project.classes.graph.parents(kittiwake) == (gull,)
    assert gulls not in project.classes.graph
    assert len(project.history.steps()) == steps + 1
    assert project.check() == []
    project.history.undo()
    assert dump(project) == before
    project.close()


def test_several_classes_are_merged_into_one(tmp_path: Path) -> None:
    """One step, with the labels counted.

    The target may be among the chosen classes and gets a note.
    """
    project, gull, images = bird_project(tmp_path)
    _, gulls = project.classes.add("Gulls")
    _, common = project.classes.add("Common", [gulls])
    project.classes.add("Common", [gull])
    project.labels.set(images[:2], gulls, who="ada")
    project.labels.set(images[2:3], common)
    project.labels.set(images[3:], gull)
    project.classes.set_attributes([common], note="grey", colour="#808080")
    project.classes.set_attributes([gulls], note="white")
    before = dump(project)
    expected = merge_preview(
        project.classes.graph, project.labels.counts(), [gulls, gull, common], gull
    )
    change = project.classes.merge([gulls, gull, common], gull)
    assert change.text == "Merged 2 classes into Gull (3 labels moved)"
    assert project.labels.counts() == {gull: 4}
    # The deepest class comes first, with its names and what the others lack.
    assert project.classes.graph.attributes(gull) == ClassAttributes(
        "", ("Common", "Gulls"), "grey", "#808080"
    )
    assert expected == MergePreview(
        classes_before=5,
        classes_after=3,
        edges_after=2,
        labels_before=1,
        labels_after=4,
        children_before=1,
        children_after=1,
    )
    assert (len(project.classes.graph), project.classes.graph.edge_count, project.check()) == (
        3,
        2,
        [],
    )
    project.history.undo()
    assert dump(project) == before
    with pytest.raises(GraphError, match="into itself"):
        project.classes.merge([gull], gull)
    assert dump(project) == before
    project.close()


def test_what_a_removal_would_take_away_is_counted_before(tmp_path: Path) -> None:
    """The preview equals the effect, for each choice about the children."""
    project, gull, images = bird_project(tmp_path, 6)
    (bird,) = project.classes.graph.parents(gull)
    _, tern = project.classes.add("Tern", [bird])
    _, young = project.classes.add("Young", [gull, tern])
    _, herring = project.classes.add("Herring Gull", [gull])
    project.labels.set(images[:2], herring)
    project.labels.set(images[2:3], gull)
    project.labels.set(images[3:5], young)
    labelled = project.labels.counts()
    expected = {
        ChildrenOfRemoved.ADOPTED: RemovalPreview(2, 5, 2, 1, 0, bird),
        ChildrenOfRemoved.TOP_LEVEL: RemovalPreview(2, 5, 2, 1, 0, bird),
        ChildrenOfRemoved.REMOVED: RemovalPreview(4, 5, 0, 3, 2, bird),
    }
    for children, preview in expected.items():
        assert removal_preview(project.classes.graph, labelled, [gull, tern], children) == preview
        classes, labels = len(project.classes.graph), len(project.labels.by_image())
        project.classes.remove([gull, tern], children)
        assert classes - len(project.classes.graph) == preview.classes
        assert labels - len(project.labels.by_image()) == preview.labels_removed
        project.history.undo()
    project.labels.set(images[5:], bird)
    assert removal_preview(
        project.classes.graph, project.labels.counts(), [bird], ChildrenOfRemoved.ADOPTED
    ) == (RemovalPreview(1, 2, 2, 0, 1, None))
    project.close()


@pytest.mark.parametrize("as_children", [True, False])
def test_a_class_is_split(tmp_path: Path, as_children: bool) -> None:
    """Its labelled images get their new classes, others stay.

    It is one step and one change.
    """
    project, gull, images = bird_project(tmp_path, 6)
    (bird,) = project.classes.graph.parents(gull)
    project.labels.set(images[:4], gull, who="ada")
    project.labels.set(images[4:5], bird)
    before, steps = dump(project), len(project.history.steps())
    parts = [
        SplitPart(" Herring ", [*images[:2], images[4], 999]),
        SplitPart("Common", images[2:3]),
        SplitPart("Mew"),
    ]
    change, new_ids = project.classes.split(gull, parts, as_children=as_children)
    assert change.text == "Split 3 classes off Gull (3 labels moved)"
    assert set(change.labelled) == set(images[:3])
    assert [project.classes.graph.name(each) for each in new_ids] == ["Herring", "Common", "Mew"]
    assert {project.classes.graph.parents(each) for each in new_ids} == {
        (gull,) if as_children else (bird,)
    }
    herring, common, _ = new_ids
    assert project.labels.counts() == {bird: 1, gull: 1, herring: 2, common: 1}
    label = project.labels.of(images[0])
    assert label is not None
    assert label.source == "split"
    assert len(project.history.steps()) == steps + 1
    assert project.check() == []
    project.history.undo()
    assert dump(project) == before
    project.close()


def test_a_split_that_cannot_be_changes_nothing(tmp_path: Path) -> None:
    """An image in two parts, a name in use, no parts, an unknown class."""
    project, gull, images = bird_project(tmp_path)
    project.classes.add("Common", [gull])
    project.labels.set(images, gull)
    before = dump(project)
    cases = [
        (gull, [SplitPart("A", images[:2]), SplitPart("B", images[1:])], InputError),
        (gull, [SplitPart("A", images[:2]), SplitPart("Common", images[2:])], DuplicateNameError),
        (gull, [SplitPart("A"), SplitPart("A")], DuplicateNameError),
        (gull, [], GraphError),
        (999, [SplitPart("A")], UnknownClassError),
    ]
    for class_id, parts, kind in cases:
        with pytest.raises(kind):
            project.classes.split(class_id, parts, as_children=True)
        assert dump(project) == before
    project.close()


def test_a_policy_that_says_nothing_is_none(tmp_path: Path) -> None:
    """An inherited policy deletes the row; a threshold above 1 is refused."""
    project, gull, _ = bird_project(tmp_path)
    project.policies.set(gull, ClassPolicy(bar=0))
    assert project.policies.by_class() == {gull: ClassPolicy(bar=0.0)}
    project.policies.set(gull, ClassPolicy())
    assert project.policies.by_class() == {}
    for bar in (-0.1, 1.1, float("nan")):
        with pytest.raises(InputError, match="probability"):
            project.policies.set(gull, ClassPolicy(bar=bar))
    project.close()


def test_an_import_is_one_step(tmp_path: Path) -> None:
    """All classes of an import are added in one action; later imports continue from there."""

    def merge(graph: CategoryGraph) -> None:
        plant = graph.add_class("Plant")
        for number in range(300):
            graph.add_class(f"Fern {number}", [plant])

    project, _, _ = bird_project(tmp_path)
    change = project.classes.edit(merge, named("Import plants"))
    assert len(change.graph_edits) == 601
    look = shape(project.classes.graph)
    project.history.undo()
    assert len(project.classes.graph) == 2
    project.history.redo()
    assert shape(project.classes.graph) == look
    project.close()
    with Project.open(project.path) as reopened:
        assert shape(reopened.classes.graph) == look
        assert reopened.classes.edit(len, named("Nothing")).is_empty


def test_undo_works_before_the_graph_was_ever_loaded(tmp_path: Path) -> None:
    """Undo right after opening needs no graph; one loaded later is right."""
    project, _, _ = bird_project(tmp_path)
    project.classes.rename(2, "Tern")
    project.close()
    with Project.open(project.path) as reopened:
        change = reopened.history.undo()
        assert change is not None
        assert change.graph_edits == (ClassRenamed(2, "Gull", "Tern"),)
        assert reopened.classes.graph.name(2) == "Gull"
