"""What the class tree shows, worked out by hand."""

from app.class_tree.row_data import classes_with_shots, other_parents, touched_by
from app.session.subsets import Subset, subset_counts
from engine.collection.state import UNKNOWN, ImageStatus
from engine.graph.edits import ClassAdded, ClassRenamed, EdgeAdded
from tests.support.graphs import graph_of, seaside_graph
from tests.support.states import Picture, state_of


def test_shelves_count_every_image_where_it_belongs() -> None:
    """Failed images are not to be reviewed; the person's "unknown" counts as labelled and as unknown."""
    state = state_of(
        [
            Picture(label=4),
            Picture(label=UNKNOWN),
            Picture(best=4, is_unknown=True),
            Picture(best=4),
            Picture(status=ImageStatus.WAITING),
            Picture(status=ImageStatus.FAILED),
            Picture(label=4, is_unknown=True),
        ]
    )
    assert subset_counts(state) == {
        Subset.ALL: 7,
        Subset.TO_REVIEW: 3,
        Subset.LABELLED: 3,
        Subset.UNKNOWN: 2,
        Subset.FAILED: 1,
    }


def test_shelves_are_empty_without_a_project() -> None:
    """No state, no images."""
    assert set(subset_counts(None).values()) == {0}


def test_a_shot_counts_for_all_classes_above() -> None:
    """Puffin's shot reaches both its parents and Animal; a count of nothing reaches nobody."""
    graph = seaside_graph()
    puffin, kelp = graph.find("Puffin"), graph.find("Kelp")
    found = classes_with_shots(graph, {puffin: 2, kelp: 0, 999: 1})
    assert {graph.name(class_id) for class_id in found} == {"Puffin", "Bird", "Diver", "Animal"}


def test_other_parents_are_named_as_paths() -> None:
    """Under Bird, Puffin says that it also stands under Diver; more than three are counted."""
    graph = seaside_graph()
    puffin, bird = graph.find("Puffin"), graph.find("Bird")
    assert other_parents(graph, puffin, bird) == "Animal / Diver"
    assert other_parents(graph, bird, graph.find("Animal")) == ""
    many = graph_of({name: [] for name in "abcdef"} | {"child": list("abcdef")})
    assert other_parents(many, many.find("child"), many.find("a")) == "b, c, d +2"


def test_edits_touch_what_they_concern() -> None:
    """A rename may move a row among its siblings; a new edge changes the parent's list and both looks."""
    graph = seaside_graph()
    gull, bird, seal = graph.find("Gull"), graph.find("Bird"), graph.find("Seal")
    renamed = touched_by(graph, [ClassRenamed(gull, "Gull", "Mew")])
    assert [set(part) for part in (renamed.parents, renamed.looks)] == [{bird}, {gull}]
    linked = touched_by(graph, [ClassAdded(99, "New"), EdgeAdded(seal, gull)])
    assert [set(part) for part in (linked.parents, linked.looks, linked.roots)] == [{seal}, {seal, gull}, {99, gull}]
