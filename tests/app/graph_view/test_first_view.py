"""The first view of a graph: readable, folded to fit, centred on the current class."""

import re
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QFontMetricsF, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.canvas.painting import text_font
from app.graph_view.board import GraphBoard
from app.graph_view.card import lines_of, name_lines
from app.graph_view.framing import READABLE_STEP, scale_of
from app.theme.tokens import tokens
from engine.graph.category_graph import CategoryGraph
from engine.project.actions import action
from tests.app.graph_view.test_editing import chip, rest, spot
from tests.support.collections import Collection
from tests.support.desk import CONTROL, NO_KEYS, SHIFT, Desk
from tests.support.hand import Hand
from tests.support.sessions import changed_by, create_project

KINDS = ("Lesser crested grebe", "Northern white-breasted hedgehog", "Owl", "Red fox")


def add_classes(graph: CategoryGraph, counts: tuple[int, ...]) -> None:
    """A tree with these numbers of children per class and level."""
    above: list[tuple[tuple[int, ...], str]] = [((), "")]
    for count in counts:
        made: list[tuple[tuple[int, ...], str]] = []
        for parents, place in above:
            for number in range(count):
                name = f"{KINDS[number % len(KINDS)]} {place}{number}"
                made.append(((graph.add_class(name, parents),), f"{place}{number}."))
        above = made


def seen(desk: Desk, tmp_path: Path, *counts: int, choose: str = "") -> GraphBoard:
    """The first view of a new project with such classes."""
    desk.window.resize(1440, 900)
    session = desk.window.session
    create_project(desk.qtbot, session, tmp_path / "new.protoleaf")
    made = action("classes_pasted", chosen=sum(counts))
    adding = lambda project: project.classes.edit(lambda graph: add_classes(graph, counts), made)  # noqa: E731
    changed_by(desk.qtbot, session, lambda: session.act(adding))
    if choose:
        desk.window.tree.select_class(desk.graph.find(choose))
    desk.press(Qt.Key.Key_G, CONTROL)
    board = desk.window.workspace.graph.board
    rest(desk, board)
    return board


def in_view(board: GraphBoard, class_id: int) -> QRect:
    """The rectangle of a class's card."""
    row = board.canvas.drawing.row_of(class_id)
    assert row is not None
    return board.canvas.rect_of(row).toRect()


@pytest.mark.slow
@pytest.mark.parametrize("counts", [(4, 5), (5, 4, 4), (2, 5, 9, 5)])
def test_a_graph_is_first_seen_folded_to_what_fits_with_names_that_can_be_read(
    desk: Desk, tmp_path: Path, counts: tuple[int, ...]
) -> None:
    """All drawn classes are visible and readable, and folded ones are counted."""
    board = seen(desk, tmp_path, *counts)
    canvas = board.canvas
    camera, drawing = canvas.camera, canvas.drawing
    assert camera.scale >= scale_of(READABLE_STEP)
    left, top, right, bottom = camera.seen
    assert left <= drawing.bounds[0]
    assert right >= drawing.bounds[2]
    assert top <= drawing.bounds[1]
    assert bottom >= drawing.bounds[3]
    assert len(drawing) + int(drawing.hidden.sum()) == len(desk.graph)
    assert len(drawing) > len(desk.graph.roots())
    for row in range(len(drawing)):
        assert_whole_name(board, row)


def assert_whole_name(board: GraphBoard, row: int) -> None:
    """On one or more lines, without elision; a folded class counts its descendants."""
    look, scale = board.canvas.look(row), board.canvas.camera.scale
    width = lines_of(board.canvas.rect_of(row)).name.width()
    lines = name_lines(look, width, scale)
    metrics = QFontMetricsF(text_font(tokens().sizes.body * scale, is_strong=True))
    assert re.sub(r"\s", "", look.name) == re.sub(r"\s", "", "".join(lines))
    assert max(map(metrics.horizontalAdvance, lines)) <= width
    if look.hidden:
        assert look.counts.split()[0] == str(look.hidden)


@pytest.mark.slow
def test_a_flat_list_of_500_begins_with_its_first_classes(desk: Desk, tmp_path: Path) -> None:
    """Nothing can be folded: the first classes are shown, at the usual scale."""
    board = seen(desk, tmp_path, 500)
    assert board.canvas.camera.scale == scale_of(READABLE_STEP)
    first = min(desk.graph.roots(), key=lambda root: desk.graph.name(root).casefold())
    assert board.canvas.rect().contains(in_view(board, first))


@pytest.mark.slow
def test_the_class_in_hand_is_in_the_middle_at_first(desk: Desk, tmp_path: Path) -> None:
    """A class selected in the list is centred, although its branch would be folded."""
    deep = "Owl 1.4.8.2"
    board = seen(desk, tmp_path, 2, 5, 9, 5, choose=deep)
    canvas, place = board.canvas, in_view(board, desk.graph.find(deep))
    middle = QPoint(canvas.width() // 2, round((canvas.height() + canvas.covered) / 2))
    assert (place.center() - middle).manhattanLength() < 8
    assert canvas.camera.scale >= scale_of(READABLE_STEP)
    assert canvas.chosen.ids == (desk.graph.find(deep),)


@pytest.mark.slow
def test_what_is_around_the_class_is_zoomed_to(desk: Desk, tmp_path: Path) -> None:
    """From a small scale to a readable one, with the class visible; Escape shows all classes."""
    name = "Owl 1.4.8.2"
    board = seen(desk, tmp_path, 2, 5, 9, 5, choose=name)
    canvas, class_id = board.canvas, desk.graph.find(name)
    zoom(board, -1200)
    desk.wait(lambda: canvas.camera.scale < scale_of(READABLE_STEP))
    rest(desk, board)
    desk.press(Qt.Key.Key_F, CONTROL | SHIFT)
    desk.wait(lambda: board.model.focus == class_id and bool((canvas.drawing.distances >= 0).all()))
    rest(desk, board)
    assert canvas.camera.scale >= scale_of(READABLE_STEP)
    assert canvas.rect().contains(in_view(board, class_id))
    canvas.setFocus()
    desk.press(Qt.Key.Key_Escape)
    desk.wait(lambda: board.model.focus is None and bool((canvas.drawing.distances < 0).all()))
    rest(desk, board)
    assert canvas.rect().contains(in_view(board, class_id))


def covers_a_class(board: GraphBoard) -> bool:
    """Whether the overview map overlaps a card."""
    canvas = board.canvas
    rows = range(len(canvas.drawing))
    return board.map.isVisible() and any(
        canvas.rect_of(row).toRect().intersects(board.map.geometry()) for row in rows
    )


@pytest.mark.slow
def test_the_small_map_covers_no_class(desk: Desk, tmp_path: Path) -> None:
    """At any position and scale; it is shown in a corner that is free."""
    board = seen(desk, tmp_path, 2, 5, 9, 5, choose="Owl 1.4.8.2")
    canvas, shown = board.canvas, 0
    for step, delta in enumerate([0, 120, -240, -240, -120, 360] * 2):
        push(canvas.pan, step)
        zoom(board, delta)
        rest(desk, board)
        desk.qtbot.wait(300)
        assert not covers_a_class(board)
        shown += board.map.isVisible()
    assert shown


def push(act: object, step: int) -> None:
    """Move the drawing a little, in a direction by step."""
    act((-170, 90, 240)[step % 3], (120, -210)[step % 2])  # type: ignore[operator]


def zoom(board: GraphBoard, delta: int) -> None:
    """Turn the wheel at the centre of the drawing."""
    place = board.canvas.rect().center().toPointF()
    button, phase = Qt.MouseButton.NoButton, Qt.ScrollPhase.NoScrollPhase
    turned = QWheelEvent(place, place, QPoint(), QPoint(0, delta), button, NO_KEYS, phase, False)
    QApplication.sendEvent(board.canvas, turned)


@pytest.mark.slow
def test_a_dragged_class_of_two_parents_says_which_one_it_leaves(
    qtbot: QtBot, desk: Desk, collection: Collection, hand: Hand
) -> None:
    """The chip at the pointer, the undo text and the toast name the old parent."""
    desk.open(collection.project)
    session = desk.window.session
    disc, red = desk.graph.find("Blue disc"), desk.graph.find("Red")
    changed_by(
        qtbot, session, lambda: session.act(lambda project: project.classes.link(red, [disc]))
    )
    desk.press(Qt.Key.Key_G, CONTROL)
    board = desk.window.workspace.graph.board
    rest(desk, board)
    seen_at_pointer: list[str] = []
    left = desk.graph.name(desk.graph.parents(disc)[0])
    start, end = spot(desk, board, "Blue disc"), spot(desk, board, "Green")
    change = changed_by(
        qtbot,
        session,
        lambda: hand.drag(start, end, lambda: seen_at_pointer.append(chip(desk).text)),
    )
    assert seen_at_pointer == [f"Move from {left} to Green"]
    assert change.text == f"Moved class Blue disc from {left} to Green"
    assert {desk.graph.name(parent) for parent in desk.graph.parents(disc)} == {
        "Blue",
        "Red",
        "Green",
    } - {left}
    assert change.text in desk.window.toast.message
