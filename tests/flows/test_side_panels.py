"""Side panels do not move the grid, and Esc closes what is in front."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton, QSplitter, QWidget

from app.actions.keys_sheet import KeysSheet
from app.backbones.logic import Source
from app.computing.controller import Computing
from tests.support.backbone_panel import listed, panel_for
from tests.support.desk import CONTROL, Desk
from tests.support.widgets import button

pytestmark = pytest.mark.slow

Key = Qt.Key
PANELS = ("Backbone", "Tune propagation", "Train the backbone", "Model versions", "Backups")


def open_by_name(desk: Desk, title: str) -> QWidget:
    """Open a panel from the palette by the action's name."""
    desk.press(Key.Key_K, CONTROL)
    field = QApplication.focusWidget()
    assert field is not None
    desk.qtbot.keyClicks(field, title)
    desk.press(Key.Key_Return)
    desk.wait(lambda: desk.window.side.currentWidget() is not desk.window.inspector)
    panel = desk.window.side.currentWidget()
    assert panel is not None
    return panel


@pytest.mark.parametrize("title", PANELS)
def test_a_panel_moves_nothing_beside_it(reviewing: Desk, title: str) -> None:
    """The grid keeps columns, scroll position and controls; the panes keep their widths."""
    grid = reviewing.grid
    (panes,) = reviewing.window.findChildren(QSplitter)
    bar = grid.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)

    def seen() -> object:
        QApplication.processEvents()
        return panes.sizes(), bar.value(), grid.visualRect(grid.model().index(5, 0)), grid.width()

    before = seen()
    panel = open_by_name(reviewing, title)
    assert seen() == before
    panel.setFocus()
    reviewing.press(Key.Key_Escape)
    assert reviewing.window.side.currentWidget() is reviewing.window.inspector
    assert seen() == before


def devices(desk: Desk) -> QWidget:
    """Open the devices card."""
    computing = desk.window.of(Computing)
    computing.look = lambda: None  # type: ignore[method-assign]
    desk.press(Key.Key_D, CONTROL)
    assert computing.panel is not None
    return computing.panel


def commands(desk: Desk) -> QWidget:
    """Open the palette."""
    desk.press(Key.Key_K, CONTROL)
    return desk.window.palette_panel


def keys(desk: Desk) -> QWidget:
    """Open the keys sheet."""
    desk.press(Key.Key_Question)
    (sheet,) = desk.window.findChildren(KeysSheet)
    return sheet


@pytest.mark.parametrize("opened", [devices, commands, keys])
def test_esc_closes_what_is_in_front(reviewing: Desk, opened: Callable[[Desk], QWidget]) -> None:
    """Esc closes first the overlay, then the panel behind it."""
    panel = panel_for(reviewing)
    panel.setFocus()
    overlay = opened(reviewing)
    assert overlay.isVisible()
    QTest.mouseClick(overlay, Qt.MouseButton.LeftButton, pos=overlay.rect().center())
    if overlay.isVisible():
        reviewing.press(Key.Key_Escape)
    assert not overlay.isVisible()
    assert panel.isVisible()
    reviewing.press(Key.Key_Escape)
    assert not panel.isVisible()


@pytest.mark.parametrize("focused", ["question", "search"])
def test_esc_answers_a_question_and_not_the_panel(reviewing: Desk, focused: str) -> None:
    """Wherever the focus is in the panel: nothing is downloaded, and the panel stays."""
    panel = listed(reviewing)
    card = panel.published.card
    QTest.mouseClick(card.download_button, Qt.MouseButton.LeftButton)
    assert card.question_text
    if focused == "search":
        QTest.mouseClick(panel.published.search, Qt.MouseButton.LeftButton)
    reviewing.press(Key.Key_Escape)
    assert (card.question_text, panel.isVisible()) == ("", True)
    reviewing.press(Key.Key_Escape)
    assert not panel.isVisible()


def test_esc_closes_a_dialog_and_not_the_panel_behind_it(reviewing: Desk) -> None:
    """Esc closes the file dialog for an ONNX file, and the panel stays."""
    panel = panel_for(reviewing, Source.FILE)
    choose = button(panel.file, "Choose a file")
    assert isinstance(choose, QPushButton)
    seen: list[QWidget | None] = []

    def press_escape() -> None:
        dialog = QApplication.activeModalWidget()
        seen.append(dialog)
        reviewing.press(Key.Key_Escape)

    QTimer.singleShot(200, press_escape)
    QTest.mouseClick(choose, Qt.MouseButton.LeftButton)
    (dialog,) = seen
    assert isinstance(dialog, QFileDialog)
    assert panel.isVisible()
