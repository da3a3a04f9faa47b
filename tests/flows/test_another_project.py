"""Opening another project clears the screen of the previous one."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit, QWidget

from tests.support.desk import CONTROL, SHIFT, Desk
from tests.support.sessions import create_project

Key = Qt.Key
OF_THE_FIRST = ("Red", "red", "Blue", "Green", "shapes", "64", "40", "24", "1 of")
"""Names of classes and of the project, numbers of images, positions."""


def words_on(widget: QWidget) -> set[str]:
    """Texts of all visible labels, buttons and fields."""
    parts = [
        part for kind in (QLabel, QAbstractButton, QLineEdit) for part in widget.findChildren(kind)
    ]
    return {
        str(part.property("text")) for part in parts if part.isVisible() and part.property("text")
    }


def look_at_image(desk: Desk) -> None:
    """Open the image view."""
    desk.press(Key.Key_Space)
    desk.wait(lambda: desk.window.workspace.is_image_open)


def look_at_class(desk: Desk) -> None:
    """Select a class, so that its page is shown."""
    desk.window.tree.select_class(desk.graph.find("Red"))


def look_at_graph(desk: Desk) -> None:
    """Show the graph, with a class selected in it."""
    desk.press(Key.Key_G, CONTROL)
    canvas = desk.window.workspace.graph.board.canvas
    desk.wait(lambda: len(canvas.drawing) > 0)
    desk.press(Key.Key_Down)


def search_graph(desk: Desk) -> None:
    """Find a class in the graph, the first of several: "1 of 4"."""
    look_at_graph(desk)
    desk.press(Key.Key_F, CONTROL)
    for letter in (Key.Key_R, Key.Key_E, Key.Key_D):
        desk.press(letter)
    desk.press(Key.Key_Return)
    desk.wait(lambda: any("1 of" in text for text in words_on(desk.window.workspace.graph)))


def is_new_shown(desk: Desk) -> bool:
    """Whether the empty grid or an empty graph is shown."""
    workspace = desk.window.workspace
    if workspace.is_graph_shown:
        return len(workspace.graph.board.canvas.drawing) == 0
    return workspace.empty.isVisible()


def search_classes(desk: Desk) -> None:
    """Type into the filter of the tree."""
    desk.window.tree.focus_filter()
    for letter in (Key.Key_R, Key.Key_E, Key.Key_D):
        desk.press(letter)


def label_some(desk: Desk) -> None:
    """Label an image; the window shows it with undo."""
    desk.press_for_change(Key.Key_1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "look", [look_at_image, look_at_class, look_at_graph, search_graph, search_classes, label_some]
)
def test_nothing_of_the_first_project_is_left(
    reviewing: Desk, tmp_path: Path, look: object
) -> None:
    """Image view, class page, graph, search and labelling are cleared."""
    reviewing.choose(0)
    assert callable(look)
    look(reviewing)
    assert any(word in text for text in words_on(reviewing.window) for word in OF_THE_FIRST)
    create_project(reviewing.qtbot, reviewing.window.session, tmp_path / "other.protoleaf")
    reviewing.wait(lambda: is_new_shown(reviewing))
    left = {
        text for text in words_on(reviewing.window) if any(word in text for word in OF_THE_FIRST)
    }
    assert left == set()
    assert not reviewing.window.workspace.is_image_open
    undo = reviewing.window.registry.action("undo")
    assert not undo.isEnabled()
    assert undo.text() == "Undo"
    reviewing.press(Key.Key_Z, CONTROL)
    reviewing.press(Key.Key_Z, CONTROL | SHIFT)
