"""What people set for a class shows in its row: colour, confidence needed, where predictions stop."""

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QImage

from app.class_tree.row_data import BAR_ROLE, COLOUR_ROLE, IS_DEEPEST_ROLE, NAME
from engine.project import ClassPolicy
from tests.app.class_tree.test_tree_view import Tree, tree

__all__ = ["tree"]


def row_picture(tree: Tree, *names: str) -> QImage:
    """The right half of a row's name cell, where marks stand."""
    rect = tree.view.visualRect(tree.row(*names))
    half = QRect(rect.center().x(), rect.y(), rect.width() // 2, rect.height())
    return tree.view.viewport().grab(half).toImage()


def test_a_colour_is_handed_down(tree: Tree) -> None:
    """A class wears its own, else that of the nearest class above; under another parent it may be another."""
    bird, gull = tree.graph.find("Bird"), tree.graph.find("Gull")
    tree.model.set_marks({bird: "#d05a4e", gull: "#4a88cf"}, {})
    colours = {
        path: tree.row(*path).data(COLOUR_ROLE)
        for path in (
            ("Animal", "Bird"), ("Animal", "Bird", "Gull", "Herring Gull"), ("Animal", "Bird", "Puffin"),
            ("Animal", "Diver", "Puffin"),
        )
    }  # fmt: skip
    assert list(colours.values()) == ["#d05a4e", "#4a88cf", "#d05a4e", ""]


def test_policies_are_said_where_they_were_set(tree: Tree) -> None:
    """Painted in the row and told by its tip, and nowhere below."""
    bird, seal = tree.graph.find("Bird"), tree.graph.find("Seal")
    paths = (("Animal", "Bird"), ("Animal", "Diver", "Seal"), ("Animal", "Bird", "Gull"))
    tree.model.set_marks({}, {bird: ClassPolicy(0.9), seal: ClassPolicy(None, is_deepest=True)})
    rows = [tree.row(*path) for path in paths]
    assert [row.data(BAR_ROLE) for row in rows] == [0.9, None, None]
    assert [row.data(IS_DEEPEST_ROLE) for row in rows] == [False, True, False]
    tips = [str(row.siblingAtColumn(NAME).data(Qt.ItemDataRole.ToolTipRole)) for row in rows]
    assert "Confidence needed here and below: 90%" in tips[0]
    assert "Predictions stop at this class" in tips[1]
    assert "Confidence" not in tips[2]


def test_a_long_name_leaves_room_for_marks(tree: Tree) -> None:
    """The name is shortened, the figure is not: the row looks different with another figure."""
    bird = tree.graph.find("Bird")
    tree.edit("rename", bird, "A bird with a name that is far longer than its row is wide")
    row = (tree.graph.name(tree.graph.find("Animal")), tree.graph.name(bird))
    pictures = []
    for bar in (None, 0.8, 0.9):
        tree.model.set_marks({}, {bird: ClassPolicy(bar)})
        pictures.append(row_picture(tree, *row))
    assert pictures[0] != pictures[1] != pictures[2]
