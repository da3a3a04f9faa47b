"""Navigation in the drawing: search, overview map, focus, and hints of edges."""

import pytest
from PySide6.QtCore import QElapsedTimer, QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.graph_view.board import GraphBoard
from app.graph_view.drawing import curve_points
from app.graph_view.edge_pointer import EdgeHint
from tests.support.collections import Collection
from tests.support.desk import CONTROL, NO_KEYS, SHIFT, Desk

pytestmark = pytest.mark.slow

POINT_AGAIN_MS = 2_000  # longer than the delay of a hint


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


def test_typing_flies_to_a_class_and_opens_the_branch_that_hides_it(
    desk: Desk, board: GraphBoard
) -> None:
    """Enter goes to the next match; Escape closes the search; no match is reported."""
    blue, canvas = desk.graph.find("Blue"), board.canvas
    canvas.chosen.choose(blue)
    desk.press(Qt.Key.Key_Minus)
    disc = desk.graph.find("Blue disc")
    desk.wait(lambda: canvas.drawing.row_of(disc) is None)
    desk.press(Qt.Key.Key_F, CONTROL)
    QTest.keyClicks(board.tools.search, "disc")
    desk.wait(lambda: board.tools.count.text() == "1 of 3")
    seen = {canvas.chosen.current}
    for number in (2, 3):
        desk.press(Qt.Key.Key_Return)
        assert board.tools.count.text() == f"{number} of 3"
        desk.wait(lambda: canvas.chosen.current not in seen)
        assert desk.window.tree.selected_class == canvas.chosen.current
        seen.add(canvas.chosen.current)
    assert seen == {desk.graph.find(f"{colour} disc") for colour in ("Red", "Green", "Blue")}
    rest(desk, board)
    row = canvas.drawing.row_of(disc)
    assert row is not None
    desk.press(Qt.Key.Key_Escape)
    assert canvas.hasFocus()
    desk.press(Qt.Key.Key_F, CONTROL)
    QTest.keyClicks(board.tools.search, "nothing")
    desk.wait(lambda: board.tools.count.text() == "No class")


def test_focus_draws_only_what_is_around_a_class(desk: Desk, board: GraphBoard) -> None:
    """Ctrl+Shift+F shows a class with parents and children, in rings; Escape shows all."""
    disc, canvas = desk.graph.find("Blue disc"), board.canvas
    everything = len(canvas.drawing)
    canvas.chosen.choose(disc)
    desk.press(Qt.Key.Key_F, CONTROL | SHIFT)
    desk.wait(lambda: len(canvas.drawing) < everything)
    ids = canvas.drawing.ids.tolist()
    rings = dict(zip(ids, canvas.drawing.distances.tolist(), strict=True))
    assert rings[disc] == 0
    assert rings[desk.graph.find("Blue")] == 1
    assert desk.graph.find("Red") not in rings
    assert board.tools.focus.text() == "Around Blue disc"
    desk.press(Qt.Key.Key_Escape)
    desk.wait(lambda: len(canvas.drawing) == everything)
    assert board.tools.focus.isHidden()


def test_f_shows_the_whole_drawing(desk: Desk, board: GraphBoard) -> None:
    """From any view and with a class selected, all classes are drawn and visible."""
    canvas, everything = board.canvas, len(board.canvas.drawing)
    canvas.chosen.choose(desk.graph.find("Blue disc"))
    canvas.fly_to(desk.graph.find("Blue disc"))
    canvas.zoom(6)
    rest(desk, board)
    desk.press(Qt.Key.Key_F)
    rest(desk, board)
    left, top, right, bottom = canvas.camera.seen
    bounds = canvas.drawing.bounds
    assert left <= bounds[0] < bounds[2] <= right
    assert top <= bounds[1] < bounds[3] <= bottom
    assert len(canvas.drawing) == everything


def test_the_map_comes_when_something_is_off_screen_and_a_click_goes_there(
    desk: Desk, board: GraphBoard
) -> None:
    """It is hidden when everything is visible."""
    canvas = board.canvas
    desk.press(Qt.Key.Key_0, CONTROL)
    desk.wait(lambda: canvas.is_complete and not board.map.isVisible())
    canvas.zoom(3)
    desk.wait(lambda: not canvas.is_moving)
    canvas.pan(-0.4 * canvas.width(), -0.4 * canvas.height())
    desk.wait(board.map.isVisible)
    desk.wait(lambda: canvas.is_complete)
    QTest.mouseClick(board.map, Qt.MouseButton.LeftButton, pos=QPoint(12, 12))
    left, top, right, bottom = canvas.camera.seen
    bounds = canvas.drawing.bounds
    assert left < bounds[0] < right
    assert top < bounds[1] < bottom


def pointed_at(desk: Desk, board: GraphBoard, ends: tuple[int, int]) -> tuple[QPoint, EdgeHint]:
    """Hover over an edge until its hint is shown; returns the point and the hint."""
    canvas = board.canvas
    edge = canvas.drawing.edge_between(*ends)
    assert edge is not None
    x, y = curve_points(canvas.drawing.routes[edge])[-3].tolist()

    def place() -> QPoint:
        seen = canvas.camera.to_view(x, y)
        return QPoint(round(seen[0]), round(seen[1]))

    moved = QElapsedTimer()

    def is_pointed_at() -> bool:
        # The drawing may have moved meanwhile.
        if not moved.isValid() or moved.hasExpired(POINT_AGAIN_MS):
            QTest.mouseMove(canvas, place() - QPoint(1, 40))
            QTest.mouseMove(canvas, place())
            moved.start()
        return canvas.edges.hint is not None

    desk.wait(is_pointed_at)
    hint = canvas.edges.hint
    assert hint is not None
    return place(), hint


@pytest.mark.parametrize("leave", ["wheel", "unlink", "key"])
def test_the_hint_of_an_edge_goes_with_it(desk: Desk, board: GraphBoard, leave: str) -> None:
    """A hint disappears when the drawing moves under the pointer or the edge is removed."""
    blue, disc, canvas = desk.graph.find("Blue"), desk.graph.find("Blue disc"), board.canvas
    rest(desk, board)
    canvas.fly_to(disc)
    rest(desk, board)
    _place, hint = pointed_at(desk, board, (blue, disc))
    if leave == "wheel":
        place = QPointF(5, 5)
        button, phase = Qt.MouseButton.NoButton, Qt.ScrollPhase.NoScrollPhase
        turned = QWheelEvent(place, place, QPoint(), QPoint(0, 240), button, NO_KEYS, phase, False)
        QApplication.sendEvent(canvas, turned)
    elif leave == "key":
        desk.press(Qt.Key.Key_Down, CONTROL)
    else:
        desk.window.session.act(lambda project: project.classes.unlink([(blue, disc)]))
    desk.wait(lambda: not hint.isVisible())
    assert canvas.edges.hovered is None


def test_an_edge_says_what_is_propagated_over_it_and_delete_unlinks_it(
    desk: Desk, board: GraphBoard
) -> None:
    """The weights are those of the class's page; only a selected edge is unlinked."""
    red, disc, canvas = desk.graph.find("Red"), desk.graph.find("Blue disc"), board.canvas
    desk.window.session.act(lambda project: project.classes.link(red, [disc]))
    desk.wait(
        lambda: (
            canvas.drawing.edge_between(red, disc) is not None
            and board.model.weight(red, disc) is not None
        )
    )
    rest(desk, board)
    canvas.fly_to(disc)
    rest(desk, board)
    place, hint = pointed_at(desk, board, (red, disc))
    assert {share.name for share in hint.shares} == {"Red", "Blue"}
    assert sum(share.share for share in hint.shares) == pytest.approx(1)
    assert "Blue disc inherits" in hint.text
    QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=place)
    desk.press_for_change(Qt.Key.Key_Delete)
    assert {desk.graph.name(parent) for parent in desk.graph.parents(disc)} == {"Blue"}
