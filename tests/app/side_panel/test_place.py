"""The place of the side panels."""

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.side_panel.place import SidePlace

USUAL_WIDTH, PANEL_WIDTH = 100, 340


@pytest.fixture
def place(qtbot: QtBot) -> SidePlace:
    """With nothing but the usual in it."""
    place = SidePlace(QWidget())
    qtbot.addWidget(place)
    place.setMinimumWidth(USUAL_WIDTH)
    return place


def panel_of(qtbot: QtBot, width: int = PANEL_WIDTH) -> QWidget:
    """A panel that wants some room."""
    panel = QWidget()
    qtbot.addWidget(panel)
    panel.setMinimumWidth(width)
    return panel


def test_a_panel_gets_its_room_and_gives_it_back(qtbot: QtBot, place: SidePlace) -> None:
    """And the usual is in front again."""
    usual, panel = place.currentWidget(), panel_of(qtbot)
    place.show_panel(panel)
    assert (place.currentWidget(), place.minimumWidth()) == (panel, PANEL_WIDTH)
    place.show_panel(panel)
    place.close_panel(panel)
    assert (place.currentWidget(), place.minimumWidth()) == (usual, USUAL_WIDTH)
    place.close_panel(panel)
    assert place.currentWidget() is usual


def test_one_panel_at_a_time(qtbot: QtBot, place: SidePlace) -> None:
    """A second one sends the first away, and its room goes with it."""
    wide, narrow = panel_of(qtbot, 2 * PANEL_WIDTH), panel_of(qtbot)
    place.show_panel(wide)
    place.show_panel(narrow)
    assert (place.currentWidget(), place.indexOf(wide)) == (narrow, -1)
    assert place.minimumWidth() == PANEL_WIDTH
