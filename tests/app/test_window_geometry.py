"""Three panes: the centre stays wide enough for pictures, and widths are stored."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QPushButton, QSlider
from pytestqt.qtbot import QtBot

from app.controls import ElidedLabel
from app.image_grid.geometry import GridGeometry
from app.main_window import MainWindow
from app.settings import ZOOM_DEFAULT, Settings
from app.window_geometry import (
    COMFORTABLE_MIDDLE,
    LEAST,
    USUAL_FRAME,
    Panes,
    Widths,
    fitted,
    shared_out,
)
from tests.support.clicks import click
from tests.support.clipping import clipped
from tests.support.collections import cache_of_test
from tests.support.desk import CONTROL, Desk

ALT = Qt.KeyboardModifier.AltModifier
WANTED = Widths(272, 0, 336)


@pytest.mark.parametrize(
    ("room", "expected"),
    [
        (1438, Widths(272, 830, 336)),
        (1180, Widths(272, 572, 336)),
        (998, Widths(184, 572, 242)),
        (1089, Widths(228, 572, 289)),
        (900, Widths(184, 474, 242)),
        (808, Widths(184, 382, 242)),
        (807, Widths(184, 623, 0)),
        (720, Widths(184, 536, 0)),
    ],
)
def test_the_outer_panes_give_way(room: int, expected: Widths) -> None:
    """First they shrink to their minimum width; then one is hidden."""
    assert shared_out(room, WANTED, LEAST) == expected


def test_a_panel_at_the_right_outlasts_the_left_pane() -> None:
    """It was opened deliberately."""
    assert shared_out(720, WANTED, LEAST, is_right_shown=True) == Widths(0, 478, 242)


def panes_of(desk: Desk) -> Panes:
    """The splitter of the window."""
    (panes,) = desk.window.findChildren(Panes)
    return panes


def laid_out() -> None:
    """Process pending layout events."""
    QApplication.sendPostedEvents()
    QApplication.processEvents()


@pytest.mark.slow
def test_a_small_window_shows_three_columns_of_thumbnails(reviewing: Desk) -> None:
    """At 1,000 x 640 nothing next to them is clipped; a large window restores the panes."""
    window = reviewing.window
    before = panes_of(reviewing).sizes()
    window.resize(1000, 640)
    laid_out()
    width = reviewing.grid.viewport().width()
    assert GridGeometry(width, ZOOM_DEFAULT, 40).columns >= 3
    assert reviewing.grid.width() <= COMFORTABLE_MIDDLE + 2
    reviewing.choose(0)
    laid_out()
    for pane in (window.tree, window.inspector):
        assert clipped(pane) == []
    lines = [line for line in window.findChildren(ElidedLabel) if line.isVisible() and line.text()]
    lines = [line for line in lines if "/" not in line.text()]  # a path may be of any length
    assert {line.text(): line.shown_text for line in lines} == {
        line.text(): line.text() for line in lines
    }
    window.resize(1200, 800)
    laid_out()
    assert panes_of(reviewing).sizes() == before


@pytest.mark.slow
def test_a_very_small_window_shows_two_panes(reviewing: Desk) -> None:
    """Half of a small screen at 200%: an opened panel replaces the classes."""
    window = reviewing.window
    window.resize(720, 450)
    laid_out()
    assert window.width() == 720
    assert not window.side.isVisible()
    assert window.tree.isVisible()
    reviewing.press(Qt.Key.Key_B, CONTROL)
    laid_out()
    assert window.side.isVisible()
    assert not window.tree.isVisible()
    assert window.width() == 720
    reviewing.press(Qt.Key.Key_Escape)
    laid_out()
    assert window.tree.isVisible()


@pytest.mark.slow
def test_a_very_small_window_opens_its_right_panel(reviewing: Desk) -> None:
    """A header button or key shows it in place of the classes; a wide window has no button."""
    window, header = reviewing.window, reviewing.window.workspace.header
    assert not header.panel_button.isVisible()
    window.resize(720, 450)
    laid_out()
    assert header.panel_button.isVisible()
    assert not header.panel_button.isChecked()
    reviewing.choose(0)
    click(header.panel_button)
    laid_out()
    assert (window.side.isVisible(), window.tree.isVisible(), window.width()) == (True, False, 720)
    assert header.panel_button.isChecked()
    assert clipped(window.inspector) == []
    reviewing.press(Qt.Key.Key_F8)
    laid_out()
    assert (window.side.isVisible(), window.tree.isVisible()) == (False, True)
    click(header.panel_button)
    window.resize(1440, 800)
    laid_out()
    assert window.side.isVisible()
    assert window.tree.isVisible()
    assert not header.panel_button.isVisible()


@pytest.mark.slow
def test_the_right_panel_is_put_away_in_a_wide_window(reviewing: Desk) -> None:
    """The images get its space; a button that then appears, or opening a panel, restores it."""
    window, header = reviewing.window, reviewing.window.workspace.header
    window.resize(1440, 800)
    laid_out()
    before = panes_of(reviewing).sizes()
    reviewing.press(Qt.Key.Key_F8)
    laid_out()
    # One splitter handle less.
    assert panes_of(reviewing).sizes() == [before[0], before[1] + before[2] + 1, 0]
    reviewing.press(Qt.Key.Key_B, CONTROL)
    laid_out()
    assert window.side.isVisible()
    reviewing.press(Qt.Key.Key_Escape)
    laid_out()
    assert not window.side.isVisible()
    click(header.panel_button)
    laid_out()
    assert panes_of(reviewing).sizes() == before
    assert not header.panel_button.isVisible()


@pytest.mark.slow
def test_chips_that_repeat_the_rows_beside_the_classes_go_first(reviewing: Desk) -> None:
    """In a small window they are hidden, and order, size, graph and panel buttons are visible."""
    window, header = reviewing.window, reviewing.window.workspace.header
    window.resize(720, 450)
    laid_out()
    chips = [
        button for button in header.findChildren(QPushButton) if button.property("role") == "chip"
    ]
    assert [chip.text() for chip in chips if chip.isVisible()] == []
    (order,), (size,) = header.findChildren(QComboBox), header.findChildren(QSlider)
    for part in (order, size, header.switch, header.panel_button):
        assert part.isVisible()
    assert clipped(header) == []


def dragged(panes: Panes, handle: int, by: int) -> None:
    """Drag a splitter handle."""
    line = panes.handle(handle)
    start = QPoint(0, line.height() // 2)
    QTest.mousePress(line, Qt.MouseButton.LeftButton, pos=start)
    for part in (3, 2, 1):
        QTest.mouseMove(line, QPoint(by // part, start.y()))
    QTest.mouseRelease(line, Qt.MouseButton.LeftButton, pos=QPoint(by, start.y()))


@pytest.mark.slow
@pytest.mark.parametrize("leave", [lambda _desk: None, lambda desk: desk.window.resize(1000, 640)])
def test_the_window_remembers_its_panes(
    qtbot: QtBot, desk: Desk, settings: Settings, leave: Callable[[Desk], None]
) -> None:
    """The person's widths, also if the window was small in the end."""
    desk.window.resize(1440, 800)
    desk.window.pages.setCurrentIndex(1)
    laid_out()
    dragged(panes_of(desk), 1, 40)
    left, _, right = panes_of(desk).sizes()
    assert left > 272
    leave(desk)
    laid_out()
    desk.leave()
    again = Desk(qtbot, settings)
    again.window.resize(1440, 800)
    again.window.pages.setCurrentIndex(1)
    laid_out()
    assert (panes_of(again).sizes()[0], panes_of(again).sizes()[2]) == (left, right)
    again.leave()


FREE = QRect(0, 28, 1440, 872)  # a screen of 1440 x 900 below a menu bar


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (QRect(100, 100, 1000, 640), QRect(100, 100, 1000, 640)),
        (QRect(0, 0, 1440, 900), FREE),
        (QRect(-300, 500, 1000, 640), QRect(0, 260, 1000, 640)),
        (QRect(2500, -900, 1200, 700), QRect(240, 28, 1200, 700)),
        (QRect(0, 0, 2880, 1800), FREE),
    ],
)
def test_a_place_is_moved_and_made_to_fit(place: QRect, expected: QRect) -> None:
    """Unchanged if it fits; else too large, half outside, on a missing screen, at another scale."""
    assert fitted(place, FREE) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "place", [QRect(0, 0, 1440, 900), QRect(3000, 200, 1300, 800), QRect(-50, -50, 2880, 1800)]
)
def test_the_window_and_its_title_bar_are_on_the_screen(
    qtbot: QtBot, settings: Settings, monkeypatch: pytest.MonkeyPatch, place: QRect
) -> None:
    """Any stored geometry is moved onto the screen."""
    yesterday = Desk(qtbot, settings)
    yesterday.window.setGeometry(place)
    yesterday.leave()
    monkeypatch.setattr("app.window_geometry.free_area", lambda _place: FREE)
    window = MainWindow(cache_of_test(), settings)
    qtbot.addWidget(window)
    assert FREE.contains(window.geometry().marginsAdded(USUAL_FRAME))
    window.close()
