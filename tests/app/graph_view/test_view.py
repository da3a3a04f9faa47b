"""The drawing of the graph in the window, with a real project."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.graph_view.board import GraphBoard
from app.graph_view.card import CardLook, Pictures, paint_card
from app.placeholder import Placeholder
from engine.project import ClassPolicy
from tests.support.collections import Collection
from tests.support.desk import CONTROL, NO_KEYS, SHIFT, Desk

QUIET_MS = 500  # after which nothing is repainted


@pytest.fixture
def board(desk: Desk, collection: Collection) -> GraphBoard:
    """The drawing of the small collection's graph, visible and complete."""
    desk.open(collection.project)
    desk.press(Qt.Key.Key_G, CONTROL)
    board = desk.window.workspace.graph.board
    desk.wait(lambda: len(board.canvas.drawing) > 0 and board.canvas.is_complete)
    return board


def place_of(board: GraphBoard, desk: Desk, name: str) -> QPoint:
    """The centre of a class's card."""
    row = board.canvas.drawing.row_of(desk.graph.find(name))
    assert row is not None
    return board.canvas.rect_of(row).center().toPoint()


def drawn(board: GraphBoard, desk: Desk) -> set[str]:
    """Names of the drawn classes."""
    return {desk.graph.name(class_id) for class_id in board.canvas.drawing.ids.tolist()}


def test_control_g_switches(desk: Desk, board: GraphBoard) -> None:
    """The drawing shows every class; a second Ctrl+G shows the grid."""
    assert board.isVisible()
    assert drawn(board, desk) == {
        desk.graph.name(class_id) for level in desk.graph.levels() for class_id in level
    }
    desk.press(Qt.Key.Key_G, CONTROL)
    assert desk.grid.isVisible()
    assert not board.isVisible()


@pytest.mark.slow
def test_a_click_chooses_the_class_everywhere(desk: Desk, board: GraphBoard) -> None:
    """The selection is the same in drawing, tree, inspector and header."""
    QTest.mouseClick(board.canvas, Qt.MouseButton.LeftButton, pos=place_of(board, desk, "Blue"))
    blue = desk.graph.find("Blue")
    assert desk.window.tree.selected_class == blue
    assert desk.window.workspace.header.title == "Blue"
    other = desk.graph.find("Red")
    desk.window.tree.select_class(other)
    assert board.canvas.chosen.ids == (other,)
    assert "Red" in board.canvas.accessibleDescription()


@pytest.mark.slow
def test_arrows_walk_and_enter_shows_the_images(desk: Desk, board: GraphBoard) -> None:
    """From the first class down to a child; Enter shows its images."""
    desk.press(Qt.Key.Key_Down)
    first = board.canvas.chosen.current
    assert first in desk.graph.roots()
    parent = next(root for root in desk.graph.roots() if desk.graph.children(root))
    board.canvas.chosen.choose(parent)
    desk.press(Qt.Key.Key_Down)
    child = board.canvas.chosen.current
    assert child in desk.graph.children(parent)
    desk.press(Qt.Key.Key_Return)
    assert desk.grid.isVisible()
    assert desk.window.workspace.class_id == child


@pytest.mark.slow
def test_a_class_that_is_chosen_does_not_lie_below_the_tools(desk: Desk, board: GraphBoard) -> None:
    """Selected in the tree or by arrow keys, a covered class is moved out from below the tools."""
    canvas, blue = board.canvas, desk.graph.find("Blue")
    ways: list[Callable[[], object]] = [
        lambda: desk.window.tree.select_class(blue),
        lambda: desk.press(Qt.Key.Key_Up),
    ]
    for choose in ways:
        below = canvas.drawing.row_of(desk.graph.children(blue)[0])
        assert below is not None
        canvas.chosen.choose(int(canvas.drawing.ids[below]))
        desk.wait(lambda: canvas.is_complete)
        start, card = place_of(board, desk, "Green"), place_of(board, desk, "Blue")
        end = start + QPoint(0, board.tools.geometry().center().y() - card.y())
        QTest.mousePress(canvas, Qt.MouseButton.MiddleButton, pos=start)
        QTest.mouseMove(canvas, end)
        QTest.mouseRelease(canvas, Qt.MouseButton.MiddleButton, pos=end)
        assert place_of(board, desk, "Blue").y() < board.tools.geometry().bottom()
        canvas.setFocus()
        choose()
        desk.wait(lambda: canvas.is_complete)
        assert canvas.chosen.current == blue
        row = canvas.drawing.row_of(blue)
        assert row is not None
        assert canvas.rect_of(row).top() > board.tools.geometry().bottom()


@pytest.mark.slow
def test_a_branch_closes_and_opens(desk: Desk, board: GraphBoard) -> None:
    """Minus folds the descendants into one card at the same position; plus shows them again."""
    parent = next(root for root in desk.graph.roots() if desk.graph.children(root))
    board.canvas.chosen.choose(parent)
    everything, place = drawn(board, desk), place_of(board, desk, desk.graph.name(parent))
    desk.press(Qt.Key.Key_Minus)
    desk.wait(lambda: len(board.canvas.drawing) < len(everything) and board.canvas.is_complete)
    row = board.canvas.drawing.row_of(parent)
    assert row is not None
    assert board.canvas.look(row).hidden == len(desk.graph.descendants(parent))
    moved = place_of(board, desk, desk.graph.name(parent)) - place
    assert moved.manhattanLength() <= 2
    desk.press(Qt.Key.Key_Plus)
    desk.wait(lambda: drawn(board, desk) == everything)


@pytest.mark.slow
def test_the_wheel_zooms_at_the_pointer(desk: Desk, board: GraphBoard) -> None:
    """The class under the pointer stays fixed, and the scale ends at a step."""
    place = place_of(board, desk, "Blue")
    scale = board.canvas.camera.scale
    wheel = QWheelEvent(
        QPointF(place),
        board.canvas.mapToGlobal(QPointF(place)),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        NO_KEYS,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(board.canvas, wheel)
    desk.wait(lambda: not board.canvas.is_moving)
    assert board.canvas.camera.scale == pytest.approx(scale * 2**0.5)
    assert (place_of(board, desk, "Blue") - place).manhattanLength() <= 2


@pytest.mark.slow
def test_a_rubber_band_chooses_all_that_it_touches(desk: Desk, board: GraphBoard) -> None:
    """Drawn around everything; Escape deselects all but the current class."""
    canvas = board.canvas
    corner = canvas.rect().bottomRight() - QPoint(4, 4)
    QTest.mousePress(canvas, Qt.MouseButton.LeftButton, pos=QPoint(2, 2))
    QTest.mouseMove(canvas, corner / 2)
    QTest.mouseMove(canvas, corner)
    QTest.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=corner)
    assert len(canvas.chosen.ids) == len(canvas.drawing)
    desk.press(Qt.Key.Key_Escape)
    kept = canvas.chosen.current
    assert canvas.chosen.ids == (kept,)
    other = "Red" if kept == desk.graph.find("Blue") else "Blue"
    QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, SHIFT, place_of(board, desk, other))
    assert set(canvas.chosen.ids) == {kept, desk.graph.find(other)}


@pytest.mark.slow
def test_the_middle_button_and_space_push_the_drawing(desk: Desk, board: GraphBoard) -> None:
    """It follows the pointer; Space used for panning opens nothing."""
    canvas = board.canvas
    for button, with_space in (
        (Qt.MouseButton.MiddleButton, False),
        (Qt.MouseButton.LeftButton, True),
    ):
        before, drawing = place_of(board, desk, "Blue"), canvas.drawing
        if with_space:
            QTest.keyPress(canvas, Qt.Key.Key_Space)
        QTest.mousePress(canvas, button, pos=QPoint(50, 60))
        QTest.mouseMove(canvas, QPoint(90, 80))
        QTest.mouseRelease(canvas, button, pos=QPoint(90, 80))
        if with_space:
            QTest.keyRelease(canvas, Qt.Key.Key_Space)
        assert (place_of(board, desk, "Blue") - before - QPoint(40, 20)).manhattanLength() <= 2
        assert canvas.drawing is drawing


@pytest.mark.slow
def test_an_edit_is_drawn(desk: Desk, board: GraphBoard) -> None:
    """A class renamed elsewhere gets its new name on its card, with its settings."""
    blue = desk.graph.find("Blue")
    desk.window.session.act(lambda project: project.classes.rename(blue, "Azure"))
    desk.wait(lambda: "Azure" in drawn(board, desk) and not board.model.layouts.is_busy)
    row = board.canvas.drawing.row_of(blue)
    assert row is not None
    assert board.canvas.look(row).name == "Azure"
    for set_on_it in (
        lambda project: project.policies.set(blue, ClassPolicy(0.9, is_deepest=True)),
        lambda project: project.classes.set_attributes([blue], colour="#336699"),
    ):
        desk.window.session.act(set_on_it)
    desk.wait(
        lambda: board.canvas.look(row).bar == 0.9 and board.canvas.look(row).colour == "#336699"
    )
    assert board.canvas.look(row).is_deepest


@pytest.mark.slow
def test_another_project_is_drawn_from_its_beginning(desk: Desk, board: GraphBoard) -> None:
    """An empty project shows a hint, and its first class is drawn."""
    canvas, place = board.canvas, desk.window.session.info
    assert place is not None
    canvas.zoom(8)
    desk.wait(lambda: not canvas.is_moving)
    desk.window.session.create(place.path.with_name("new.protoleaf"))
    desk.wait(
        lambda: desk.window.session.info is not None and desk.window.session.info.name == "new"
    )
    assert len(canvas.drawing) == 0
    assert not board.isVisible()
    words = desk.window.workspace.graph.findChild(Placeholder)
    assert words is not None
    assert words.isVisible()
    assert "import a list" in words.text.text()
    desk.window.session.act(lambda project: project.classes.add("First")[0])
    desk.wait(lambda: board.isVisible() and drawn(board, desk) == {"First"} and canvas.is_complete)
    assert canvas.rect().contains(place_of(board, desk, "First"))


@pytest.mark.slow
def test_after_an_edit_only_cards_that_say_something_else_are_painted(
    board: GraphBoard, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A card with another name is painted; all others are copied."""
    painted: list[str] = []
    paint = paint_card

    def paint_and_note(painter: QPainter, rect: QRectF, look: CardLook, pictures: Pictures) -> None:
        painted.append(look.name)
        paint(painter, rect, look, pictures)

    board.canvas.set_camera(board.canvas.fitting)
    board.canvas.is_calm = True
    desk.wait_until_read()  # no counts are pending
    desk.wait(lambda: board.canvas.is_complete and not desk.window.thumbnails.is_busy)
    monkeypatch.setattr("app.graph_view.drawing_painter.paint_card", paint_and_note)
    painted.append("begun")
    while painted:  # thumbnails of the cards may still arrive, which repaint all of them
        painted.clear()
        desk.qtbot.wait(QUIET_MS)
    blue = desk.graph.find("Blue")
    desk.window.session.act(lambda project: project.classes.rename(blue, "Azure"))
    desk.wait(
        lambda: "Azure" in painted and not board.model.layouts.is_busy and board.canvas.is_complete
    )
    assert set(painted) == {"Azure"}


@pytest.mark.slow
def test_the_first_class_of_a_first_project_is_drawn(desk: Desk, tmp_path: Path) -> None:
    """The drawing was shown while the project had no classes."""
    desk.window.session.create(tmp_path / "new.protoleaf")
    desk.wait(lambda: desk.window.session.info is not None)
    desk.press(Qt.Key.Key_G, CONTROL)
    graph = desk.window.workspace.graph
    desk.wait(graph.isVisible)
    desk.window.session.act(lambda project: project.classes.add("First")[0])
    desk.wait(lambda: graph.board.isVisible() and drawn(graph.board, desk) == {"First"})
