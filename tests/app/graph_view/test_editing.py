"""Editing the category graph in its drawing, with the mouse."""

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from app.drops import DropChip
from app.graph_view.board import GraphBoard
from app.graph_view.drawing_painter import port_of
from tests.support.collections import Collection
from tests.support.desk import CONTROL, NO_KEYS, Desk
from tests.support.hand import Hand, Spot
from tests.support.sessions import changed_by


@pytest.fixture
def board(desk: Desk, collection: Collection) -> GraphBoard:
    """The drawing of the small collection's graph, visible and complete."""
    desk.open(collection.project)
    desk.press(Qt.Key.Key_G, CONTROL)
    board = desk.window.workspace.graph.board
    rest(desk, board)
    return board


def rest(desk: Desk, board: GraphBoard) -> None:
    """Wait until the current graph is drawn."""
    desk.wait(
        lambda: (
            len(board.canvas.drawing) > 0
            and not board.model.layouts.is_busy
            and board.canvas.is_complete
        )
    )


def spot(desk: Desk, board: GraphBoard, name: str) -> Spot:
    """The centre of a class's card."""
    row = board.canvas.drawing.row_of(desk.graph.find(name))
    assert row is not None
    return Spot(board.canvas, board.canvas.rect_of(row).center().toPoint())


def knob(desk: Desk, board: GraphBoard, name: str) -> Spot:
    """The handle from which edges are drawn."""
    row = board.canvas.drawing.row_of(desk.graph.find(name))
    assert row is not None
    return Spot(board.canvas, port_of(board.canvas.body_of(row)).toPoint())


def chip(desk: Desk) -> DropChip:
    """The visible chip at the pointer."""
    return next(each for each in desk.window.findChildren(DropChip) if each.isVisible())


def parents(desk: Desk, name: str) -> set[str]:
    """Names of a class's parents."""
    return {desk.graph.name(parent) for parent in desk.graph.parents(desk.graph.find(name))}


@pytest.mark.slow
def test_a_card_dropped_on_a_card_moves_there_and_with_control_is_linked(
    qtbot: QtBot, desk: Desk, board: GraphBoard, hand: Hand
) -> None:
    """The chip announces the effect; each drop is one undo step, and the drawing is updated."""
    seen = []
    drop = (
        spot(desk, board, "Blue disc"),
        spot(desk, board, "Red"),
        lambda: seen.append(chip(desk).text),
    )
    changed_by(qtbot, desk.window.session, lambda: hand.drag(*drop))
    assert parents(desk, "Blue disc") == {"Red"}
    rest(desk, board)
    link = (
        spot(desk, board, "Blue disc"),
        spot(desk, board, "Blue"),
        lambda: seen.append(chip(desk).text),
    )
    changed_by(qtbot, desk.window.session, lambda: hand.drag(*link, keys=CONTROL))
    assert parents(desk, "Blue disc") == {"Red", "Blue"}
    assert seen == ["Move under Red", "Add Blue as a parent"]
    rest(desk, board)
    assert (
        board.canvas.drawing.edge_between(desk.graph.find("Blue"), desk.graph.find("Blue disc"))
        is not None
    )
    changed_by(qtbot, desk.window.session, desk.window.session.undo)
    assert parents(desk, "Blue disc") == {"Red"}


def test_a_circle_is_refused_while_it_is_dragged(desk: Desk, board: GraphBoard, hand: Hand) -> None:
    """The path of the cycle is highlighted, a chip gives the reason, and nothing is dropped."""
    blue, disc = desk.graph.find("Blue"), desk.graph.find("Blue disc")
    lit: list[list[int]] = []
    chips: list[tuple[str, bool]] = []

    def look() -> None:
        lit.append([int(board.canvas.drawing.ids[row]) for row in board.canvas.drops.refused])
        chips.append((chip(desk).text, chip(desk).is_refusal))

    assert not hand.drag(spot(desk, board, "Blue"), spot(desk, board, "Blue disc"), look)
    assert lit == [[blue, disc]]
    assert chips == [("Blue cannot be its own ancestor: Blue > Blue disc", True)]
    assert board.canvas.drops.refused == ()


@pytest.mark.slow
def test_an_edge_drawn_from_a_knob_links_and_in_the_open_asks_for_a_child(
    qtbot: QtBot, desk: Desk, board: GraphBoard, hand: Hand
) -> None:
    """Dropped on empty ground it requests a child. The handle is shown at the hovered class."""
    hand.click(spot(desk, board, "Red"), NO_KEYS)
    changed_by(
        qtbot,
        desk.window.session,
        lambda: hand.drag(
            knob(desk, board, "Red"), spot(desk, board, "Blue disc"), spot(desk, board, "Blue disc")
        ),
    )
    assert parents(desk, "Blue disc") == {"Blue", "Red"}
    rest(desk, board)
    hand.click(spot(desk, board, "Red"), NO_KEYS)
    rest(desk, board)
    hand.drag(knob(desk, board, "Red"), Spot(board.canvas, QPoint(5, 5)))
    assert desk.window.palette_panel.isVisible()


@pytest.mark.slow
def test_delete_removes_what_is_chosen_and_it_comes_back(desk: Desk, board: GraphBoard) -> None:
    """Delete removes all selected classes in one undo step."""
    gone = [desk.graph.find("Green disc"), desk.graph.find("Green stripes")]
    board.canvas.chosen.choose_all(gone)
    board.canvas.setFocus()
    desk.press(Qt.Key.Key_Delete)
    desk.wait(lambda: desk.window.palette_panel.isVisible() or gone[0] not in desk.graph)
    # Labelled classes ask what becomes of their labels.
    if desk.window.palette_panel.isVisible():
        desk.press(Qt.Key.Key_Return)
        desk.wait(lambda: gone[0] not in desk.graph)
    rest(desk, board)
    assert gone[1] not in desk.graph
    assert board.canvas.drawing.row_of(gone[1]) is None
    assert not set(board.canvas.chosen.ids) & set(gone)
    desk.window.session.undo()
    desk.wait(lambda: gone[0] in desk.graph and gone[1] in desk.graph)
    desk.wait(lambda: board.canvas.drawing.row_of(gone[1]) is not None)
