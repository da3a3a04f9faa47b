"""Data of the class tree's rows."""

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QImage

from app.class_tree.row_data import (
    BAR_ROLE,
    COLOUR_ROLE,
    IS_BROADEST_ROLE,
    IS_DEEPEST_ROLE,
    NAME,
    classes_with_shots,
    other_parents,
    touched_by,
)
from app.session.subsets import Subset, subset_counts
from app.theme.class_colours import class_colour, own_colour
from engine.collection.state import UNKNOWN, ImageStatus
from engine.graph.edits import ClassAdded, ClassRenamed, EdgeAdded
from engine.project import ClassPolicy
from tests.app.class_tree.test_tree_view import Tree, tree
from tests.support.graphs import graph_of, seaside_graph
from tests.support.states import Picture, state_of


def test_subsets_count_every_image_where_it_belongs() -> None:
    """Failed images are not to review; a person's "unknown" counts as labelled and as unknown."""
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


def test_subsets_are_empty_without_a_project() -> None:
    """Without a state all counts are 0."""
    assert set(subset_counts(None).values()) == {0}


def test_a_shot_counts_for_all_classes_above() -> None:
    """Puffin's example counts for both parents and for Animal; a count of 0 does not."""
    graph = seaside_graph()
    puffin, kelp = graph.find("Puffin"), graph.find("Kelp")
    found = classes_with_shots(graph, {puffin: 2, kelp: 0, 999: 1})
    assert {graph.name(class_id) for class_id in found} == {"Puffin", "Bird", "Diver", "Animal"}


def test_other_parents_are_named_as_paths() -> None:
    """Under Bird, Puffin names Diver; more than three parents are counted."""
    graph = seaside_graph()
    puffin, bird = graph.find("Puffin"), graph.find("Bird")
    assert other_parents(graph, puffin, bird) == "Animal / Diver"
    assert other_parents(graph, bird, graph.find("Animal")) == ""
    many = graph_of({name: [] for name in "abcdef"} | {"child": list("abcdef")})
    assert other_parents(many, many.find("child"), many.find("a")) == "b, c, d +2"


def test_edits_touch_what_they_concern() -> None:
    """A rename may move a row among its siblings; a new edge changes the parent and both rows."""
    graph = seaside_graph()
    gull, bird, seal = graph.find("Gull"), graph.find("Bird"), graph.find("Seal")
    renamed = touched_by(graph, [ClassRenamed(gull, "Gull", "Mew")])
    assert [set(part) for part in (renamed.parents, renamed.looks)] == [{bird}, {gull}]
    linked = touched_by(graph, [ClassAdded(99, "New"), EdgeAdded(seal, gull)])
    assert [set(part) for part in (linked.parents, linked.looks, linked.roots)] == [
        {seal},
        {seal, gull},
        {99, gull},
    ]


__all__ = ["tree"]


def row_picture(tree: Tree, *names: str) -> QImage:
    """The right half of a row's name cell, which has the marks."""
    rect = tree.view.visualRect(tree.row(*names))
    half = QRect(rect.center().x(), rect.y(), rect.width() // 2, rect.height())
    return tree.view.viewport().grab(half).toImage()


def test_a_class_has_one_colour_in_every_row(tree: Tree) -> None:
    """The same under each parent; a colour set by a person belongs to that class alone."""
    bird, puffin = tree.graph.find("Bird"), tree.graph.find("Puffin")
    tree.model.set_marks({bird: "#d05a4e"}, {})
    under_bird, under_diver = (
        tree.row("Animal", "Bird", "Puffin"),
        tree.row("Animal", "Diver", "Puffin"),
    )
    assert (
        under_bird.data(COLOUR_ROLE) == under_diver.data(COLOUR_ROLE) == class_colour(puffin).name()
    )
    assert tree.row("Animal", "Bird").data(COLOUR_ROLE) == own_colour("#d05a4e").name()


def test_policies_are_shown_where_they_were_set(tree: Tree) -> None:
    """Painted in the row and named in its tooltip, but not for descendants."""
    bird, seal = tree.graph.find("Bird"), tree.graph.find("Seal")
    paths = (("Animal", "Bird"), ("Animal", "Diver", "Seal"), ("Animal", "Bird", "Gull"))
    seal_policy = ClassPolicy(None, is_deepest=True, is_broadest=True)
    tree.model.set_marks({}, {bird: ClassPolicy(0.9), seal: seal_policy})
    rows = [tree.row(*path) for path in paths]
    assert [row.data(BAR_ROLE) for row in rows] == [0.9, None, None]
    assert [row.data(IS_DEEPEST_ROLE) for row in rows] == [False, True, False]
    assert [row.data(IS_BROADEST_ROLE) for row in rows] == [False, True, False]
    tips = [str(row.siblingAtColumn(NAME).data(Qt.ItemDataRole.ToolTipRole)) for row in rows]
    assert "Minimum confidence here and below: 90%" in tips[0]
    assert "Subclasses are not predicted" in tips[1]
    assert "Broader classes are not predicted" in tips[1]
    assert "Minimum confidence" not in tips[2]


def test_a_long_name_leaves_room_for_marks(tree: Tree) -> None:
    """The name is elided, the figure is not: the row is painted differently with another figure."""
    bird = tree.graph.find("Bird")
    tree.edit("rename", bird, "A bird with a name that is far longer than its row is wide")
    row = (tree.graph.name(tree.graph.find("Animal")), tree.graph.name(bird))
    pictures = []
    for bar in (None, 0.8, 0.9):
        tree.model.set_marks({}, {bird: ClassPolicy(bar)})
        pictures.append(row_picture(tree, *row))
    assert pictures[0] != pictures[1] != pictures[2]
