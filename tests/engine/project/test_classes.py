"""Actions on the category graph, and what happens to the labels of a class that goes away."""

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import CycleError, DuplicateNameError, GraphError, InputError, UnknownClassError
from engine.graph.category_graph import CategoryGraph
from engine.graph.edits import ClassAdded, ClassRemoved, ClassRenamed, EdgeAdded, EdgeRemoved
from engine.graph.removal import ChildrenOfRemoved
from engine.project import Change, ClassDetails, ClassPolicy, Project, SplitPart
from engine.project.removal_preview import MergePreview, RemovalPreview, merge_preview, removal_preview
from tests.support.projects import bird_project, dump, new_project, shape


def test_each_action_tells_its_edits(tmp_path: Path) -> None:
    """A change holds exactly the edits that bring a copy of the graph in step."""
    with new_project(tmp_path) as project:
        change, bird = project.add_class(" Bird ")
        assert (change.text, change.graph_edits) == ("Added class Bird", (ClassAdded(bird, "Bird"),))
        change, gull = project.add_class("Gull", [bird])
        assert change.graph_edits == (ClassAdded(gull, "Gull"), EdgeAdded(bird, gull))
        change = project.rename_class(gull, "Tern")
        assert (change.text, change.graph_edits) == (
            "Renamed class Gull to Tern",
            (ClassRenamed(gull, "Tern", "Gull"),),
        )
        change = project.unlink(bird, gull)
        assert (change.text, change.graph_edits) == ("Unlinked Tern from Bird", (EdgeRemoved(bird, gull),))
        change = project.link(bird, gull)
        assert (change.text, change.graph_edits) == ("Added parent Bird to Tern", (EdgeAdded(bird, gull),))
        change = project.move_class(gull, bird, None)
        assert (change.text, change.graph_edits) == ("Moved class Tern to the top level", (EdgeRemoved(bird, gull),))
        change = project.remove_class(bird)
        assert (change.text, change.graph_edits) == ("Removed class Bird", (ClassRemoved(bird, "Bird"),))
        undone = project.undo()
        assert undone is not None
        assert undone.graph_edits == (ClassAdded(bird, "Bird"),)


def test_refused_edits_make_no_step(tmp_path: Path) -> None:
    """A cycle, a namesake or an unknown class is refused, and the file and history stay as they were."""
    project, gull, _ = bird_project(tmp_path)
    bird = project.graph.find("Bird")
    before, steps = dump(project), project.history()
    with pytest.raises(CycleError, match="Gull"):
        project.link(gull, bird)
    with pytest.raises(DuplicateNameError):
        project.add_class("Gull", [bird])
    with pytest.raises(UnknownClassError):
        project.rename_class(999, "Tern")
    with pytest.raises(UnknownClassError):
        project.set_policy(999, ClassPolicy(0.5))
    assert dump(project) == before
    assert project.history() == steps
    project.close()


def test_labels_of_a_removed_class_go_to_its_only_parent(tmp_path: Path) -> None:
    """One parent inherits the labels, with who and when; undo gives them back."""
    project, gull, images = bird_project(tmp_path)
    bird = project.graph.find("Bird")
    project.label(images[:3], gull, who="ada")
    before = dump(project)
    change = project.remove_class(gull)
    assert change.text == "Removed class Gull (3 labels moved to Bird)"
    assert set(change.labelled) == set(images[:3])
    assert project.labelled_counts() == {bird: 3}
    label = project.label_of(images[0])
    assert label is not None
    assert label.who == "ada"
    project.undo()
    assert dump(project) == before
    project.close()


@pytest.mark.parametrize("parent_count", [0, 2])
def test_labels_of_a_class_without_one_clear_parent_are_removed(tmp_path: Path, parent_count: int) -> None:
    """Without a parent, or with two, the labels go, the text says how many, and undo gives them back."""
    project, _, images = bird_project(tmp_path)
    parents = [project.add_class(f"Parent {number}")[1] for number in range(parent_count)]
    _, tern = project.add_class("Tern", parents)
    project.label(images[:1], tern)
    before = dump(project)
    assert project.remove_class(tern).text == "Removed class Tern (1 label removed)"
    assert project.labels() == {}
    project.undo()
    assert dump(project) == before
    project.close()


def test_several_classes_are_edited_in_one_step(tmp_path: Path) -> None:
    """Each action is one step with its text, told in one change; undone, all is as before, also after a restart."""
    project, gull, _ = bird_project(tmp_path)
    (bird,) = project.graph.parents(gull)
    _, tern = project.add_class("Tern")
    _, diver = project.add_class("Diver")
    before = dump(project)
    did: list[tuple[Callable[[], Change], str]] = [
        (lambda: project.add_parent("Seabird", [bird, tern], None)[0], "Added class Seabird above 2 classes"),
        (lambda: project.link_classes(diver, [gull, tern]), "Added parent Diver to 2 classes"),
        (lambda: project.unlink_classes([(bird, gull), (diver, tern)]), "Unlinked 2 classes from 2 parents"),
        (lambda: project.move_classes([(gull, diver)], bird), "Moved class Gull to Bird"),
        (lambda: project.move_classes([(gull, bird), (diver, None)], tern), "Moved 2 classes to Tern"),
    ]
    steps = len(project.history())
    for count, (act, text) in enumerate(did, start=1):
        change = act()
        assert (change.text, bool(change.graph_edits)) == (text, True)
        assert len(project.history()) == steps + count
        assert project.check() == []
    project.close()
    with Project.open(project.path) as reopened:
        for _, text in reversed(did):
            assert reopened.undo_text == text
            reopened.undo()
        assert dump(reopened) == before


def test_a_branch_is_removed_with_its_labels_counted(tmp_path: Path) -> None:
    """Labels go to the only class above; those of a class with two parents are taken away, and the text says both."""
    project, gull, images = bird_project(tmp_path, 6)
    _, tern = project.add_class("Tern", project.graph.parents(gull))
    _, young = project.add_class("Young", [gull, tern])
    _, herring = project.add_class("Herring Gull", [gull])
    project.label(images[:2], herring, who="ada")
    project.label(images[2:3], gull)
    project.label(images[3:5], young)
    before = dump(project)
    change = project.remove_classes([gull, tern], ChildrenOfRemoved.REMOVED)
    assert change.text == "Removed 2 classes and 2 below them (3 labels moved to Bird, 2 labels removed)"
    assert set(change.labelled) == set(images[:5])
    assert [project.graph.name(each) for each in project.graph.classes()] == ["Bird"]
    label = project.label_of(images[0])
    assert label is not None
    assert label.who == "ada"
    assert project.check() == []
    project.undo()
    assert dump(project) == before
    change = project.remove_classes([gull], ChildrenOfRemoved.TOP_LEVEL)
    assert change.text == "Removed class Gull (1 label moved to Bird)"
    assert (project.graph.parents(herring), project.graph.parents(young)) == ((), (tern,))
    project.close()


def test_a_removed_class_takes_its_policy_along(tmp_path: Path) -> None:
    """The policy of a class goes with it and comes back with it."""
    project, gull, _ = bird_project(tmp_path)
    change = project.set_policy(gull, ClassPolicy(bar=0.9, is_deepest=True))
    assert (change.text, change.policies) == ("Changed the confidence needed for Gull", (gull,))
    project.remove_class(gull)
    assert project.policies() == {}
    assert project.check() == []
    project.undo()
    assert project.policies() == {gull: ClassPolicy(bar=0.9, is_deepest=True)}
    project.close()


def test_a_merged_class_gives_all_it_has_to_its_heir(tmp_path: Path) -> None:
    """Labels with who and when, children and parents, in one step; undo gives all of it back."""
    project, gull, images = bird_project(tmp_path)
    _, gulls = project.add_class("Gulls")
    _, kittiwake = project.add_class("Kittiwake", [gulls])
    project.label(images[:2], gulls, who="ada")
    project.label(images[2:3], gull)
    project.set_policy(gulls, ClassPolicy(bar=0.9))
    before, steps = dump(project), len(project.history())
    change = project.merge_class(gulls, gull)
    assert change.text == "Merged Gulls into Gull (2 labels moved)"
    assert (set(change.labelled), change.policies) == (set(images[:2]), (gulls,))
    assert project.labelled_counts() == {gull: 3}
    label = project.label_of(images[0])
    assert label is not None
    assert label.who == "ada"
    assert project.graph.parents(kittiwake) == (gull,)
    assert gulls not in project.graph
    assert len(project.history()) == steps + 1
    assert project.check() == []
    project.undo()
    assert dump(project) == before
    project.close()


def test_several_classes_are_merged_into_one(tmp_path: Path) -> None:
    """One step for all, with the labels counted; the heir may be among the chosen, and takes over a note."""
    project, gull, images = bird_project(tmp_path)
    _, gulls = project.add_class("Gulls")
    _, common = project.add_class("Common", [gulls])
    project.add_class("Common", [gull])
    project.label(images[:2], gulls, who="ada")
    project.label(images[2:3], common)
    project.label(images[3:], gull)
    project.set_details(common, ClassDetails("grey", "#808080"))
    project.set_details(gulls, ClassDetails("white"))
    before = dump(project)
    expected = merge_preview(project.graph, project.labelled_counts(), [gulls, gull, common], gull)
    change = project.merge_classes([gulls, gull, common], gull)
    assert change.text == "Merged 2 classes into Gull (3 labels moved)"
    assert (project.labelled_counts(), project.details()) == ({gull: 4}, {gull: ClassDetails("white", "#808080")})
    assert project.graph.aliases(gull).synonyms == ("Common", "Gulls")
    assert expected == MergePreview(
        classes_before=5, classes_after=3, edges_before=3, edges_after=2,
        labels_before=1, labels_after=4, children_before=1, children_after=1,
    )  # fmt: skip
    assert (len(project.graph), project.graph.edge_count, project.check()) == (3, 2, [])
    project.undo()
    assert dump(project) == before
    with pytest.raises(GraphError, match="into itself"):
        project.merge_classes([gull], gull)
    assert dump(project) == before
    project.close()


def test_what_a_removal_would_take_away_is_counted_before(tmp_path: Path) -> None:
    """The preview agrees with what the removal then does, whatever becomes of the children."""
    project, gull, images = bird_project(tmp_path, 6)
    (bird,) = project.graph.parents(gull)
    _, tern = project.add_class("Tern", [bird])
    _, young = project.add_class("Young", [gull, tern])
    _, herring = project.add_class("Herring Gull", [gull])
    project.label(images[:2], herring)
    project.label(images[2:3], gull)
    project.label(images[3:5], young)
    labelled = project.labelled_counts()
    expected = {
        ChildrenOfRemoved.ADOPTED: RemovalPreview(2, 5, 2, 1, 0, bird),
        ChildrenOfRemoved.TOP_LEVEL: RemovalPreview(2, 5, 2, 1, 0, bird),
        ChildrenOfRemoved.REMOVED: RemovalPreview(4, 5, 0, 3, 2, bird),
    }
    for children, preview in expected.items():
        assert removal_preview(project.graph, labelled, [gull, tern], children) == preview
        classes, labels = len(project.graph), len(project.labels())
        project.remove_classes([gull, tern], children)
        assert classes - len(project.graph) == preview.classes
        assert labels - len(project.labels()) == preview.labels_removed
        project.undo()
    project.label(images[5:], bird)
    assert removal_preview(project.graph, project.labelled_counts(), [bird], ChildrenOfRemoved.ADOPTED) == (
        RemovalPreview(1, 2, 2, 0, 1, None)
    )
    project.close()


@pytest.mark.parametrize("as_children", [True, False])
def test_a_class_is_split(tmp_path: Path, as_children: bool) -> None:
    """Its labelled images get their new classes, others keep what they have; one step, told and undone at once."""
    project, gull, images = bird_project(tmp_path, 6)
    (bird,) = project.graph.parents(gull)
    project.label(images[:4], gull, who="ada")
    project.label(images[4:5], bird)
    before, steps = dump(project), len(project.history())
    parts = [SplitPart(" Herring ", [*images[:2], images[4], 999]), SplitPart("Common", images[2:3]), SplitPart("Mew")]
    change, new_ids = project.split_class(gull, parts, as_children=as_children)
    assert change.text == "Split 3 classes off Gull (3 labels moved)"
    assert set(change.labelled) == set(images[:3])
    assert [project.graph.name(each) for each in new_ids] == ["Herring", "Common", "Mew"]
    assert {project.graph.parents(each) for each in new_ids} == {(gull,) if as_children else (bird,)}
    herring, common, _ = new_ids
    assert project.labelled_counts() == {bird: 1, gull: 1, herring: 2, common: 1}
    label = project.label_of(images[0])
    assert label is not None
    assert label.source == "split"
    assert len(project.history()) == steps + 1
    assert project.check() == []
    project.undo()
    assert dump(project) == before
    project.close()


def test_a_split_that_cannot_be_changes_nothing(tmp_path: Path) -> None:
    """An image in two parts, a taken name, no part at all, no such class."""
    project, gull, images = bird_project(tmp_path)
    project.add_class("Common", [gull])
    project.label(images, gull)
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
            project.split_class(class_id, parts, as_children=True)
        assert dump(project) == before
    project.close()


def test_a_policy_that_says_nothing_is_none(tmp_path: Path) -> None:
    """Setting a policy back to inherited takes it away; a bar beyond a probability is refused."""
    project, gull, _ = bird_project(tmp_path)
    project.set_policy(gull, ClassPolicy(bar=0))
    assert project.policies() == {gull: ClassPolicy(bar=0.0)}
    project.set_policy(gull, ClassPolicy())
    assert project.policies() == {}
    for bar in (-0.1, 1.1, float("nan")):
        with pytest.raises(InputError, match="probability"):
            project.set_policy(gull, ClassPolicy(bar=bar))
    project.close()


def test_an_import_is_one_step(tmp_path: Path) -> None:
    """All classes of an import are added by one action, and a later import goes on from there."""

    def merge(graph: CategoryGraph) -> None:
        plant = graph.add_class("Plant")
        for number in range(300):
            graph.add_class(f"Fern {number}", [plant])

    project, _, _ = bird_project(tmp_path)
    change = project.import_graph(merge, "Import plants")
    assert len(change.graph_edits) == 601
    look = shape(project.graph)
    project.undo()
    assert len(project.graph) == 2
    project.redo()
    assert shape(project.graph) == look
    project.close()
    with Project.open(project.path) as reopened:
        assert shape(reopened.graph) == look
        assert reopened.import_graph(len, "Nothing").is_empty


def test_undo_works_before_the_graph_was_ever_loaded(tmp_path: Path) -> None:
    """Right after opening, undo needs no graph, and one that is asked for later is right."""
    project, _, _ = bird_project(tmp_path)
    project.rename_class(2, "Tern")
    project.close()
    with Project.open(project.path) as reopened:
        change = reopened.undo()
        assert change is not None
        assert change.graph_edits == (ClassRenamed(2, "Gull", "Tern"),)
        assert reopened.graph.name(2) == "Gull"
