"""Context menus in the pseudo-language: cards, classes in tree and graph, and empty areas."""

import pytest
from PySide6.QtCore import QPoint, Qt

from tests.support.clicks import menu_at
from tests.support.desk import CONTROL, Desk
from tests.support.pseudo_reader import Reader
from tests.support.sessions import act, settle


@pytest.mark.slow
def test_the_menu_of_a_card(reviewing: Desk, reader: Reader) -> None:
    """The menu of a labelled card, of an unlabelled one, and of several."""
    view = reviewing.grid
    for row in (0, 2):
        reviewing.choose(row)
        reader.read_menu(
            "card", menu_at(view.viewport(), view.visualRect(view.model().index(row, 0)).center())
        )
    view.selectAll()
    reader.read_menu(
        "cards", menu_at(view.viewport(), view.visualRect(view.model().index(0, 0)).center())
    )


@pytest.mark.slow
def test_the_menu_of_a_class(reviewing: Desk, reader: Reader) -> None:
    """The menu of a class with two parents, of several, and of the area below all rows."""
    graph, view = reviewing.graph, reviewing.window.tree.front
    blue, disc = graph.find("Blue"), graph.find("Red disc")
    act(
        reviewing.qtbot,
        reviewing.window.session,
        lambda project: project.classes.link(blue, [disc]),
    )
    view.expandAll()
    rows = [view.model().indexes_of(class_id)[0] for class_id in (disc, blue)]  # type: ignore[attr-defined]
    for row in rows:
        reader.read_menu("class", menu_at(view.viewport(), view.visualRect(row).center()))
    reviewing.window.tree.select_classes([disc, blue])
    settle(reviewing.qtbot, reviewing.window.session)
    reader.read_menu("classes", menu_at(view.viewport(), view.visualRect(rows[0]).center()))
    reader.read_menu(
        "tree", menu_at(view.viewport(), view.viewport().rect().bottomLeft() + QPoint(9, -3))
    )


@pytest.mark.slow
def test_the_menu_of_a_class_in_the_drawing(reviewing: Desk, reader: Reader) -> None:
    """The menu of a class, and of the area between the cards."""
    reviewing.press(Qt.Key.Key_G, CONTROL)
    board = reviewing.window.workspace.graph.board
    canvas = board.canvas
    reviewing.wait(
        lambda: len(canvas.drawing) > 0 and not board.model.layouts.is_busy and canvas.is_complete
    )
    row = canvas.drawing.row_of(reviewing.graph.find("Red disc"))
    assert row is not None
    reader.read("drawing")
    reader.read_menu("drawn-class", menu_at(canvas, canvas.rect_of(row).center().toPoint()))
    reader.read_menu("drawing-between", menu_at(canvas, QPoint(3, canvas.height() - 3)))
