"""The place of the side panels."""

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.side_panel.place import NARROWEST, SidePlace

USUAL_WIDTH = 100


@pytest.fixture
def place(qtbot: QtBot) -> SidePlace:
    """With nothing but the usual in it."""
    place = SidePlace(QWidget())
    qtbot.addWidget(place)
    place.setMinimumWidth(USUAL_WIDTH)
    return place


def panel_of(qtbot: QtBot) -> QWidget:
    """A panel."""
    panel = QWidget()
    qtbot.addWidget(panel)
    return panel


def test_a_panel_stands_in_and_goes_again(qtbot: QtBot, place: SidePlace) -> None:
    """And the usual is in front again, and asks for no more room than before."""
    usual, panel = place.currentWidget(), panel_of(qtbot)
    for _ in range(2):
        place.show_panel(panel)
        assert (place.currentWidget(), place.minimumWidth()) == (panel, NARROWEST)
    for _ in range(2):
        place.close_panel(panel)
        assert (place.currentWidget(), place.minimumWidth()) == (usual, USUAL_WIDTH)


def test_one_panel_at_a_time(qtbot: QtBot, place: SidePlace) -> None:
    """A second one sends the first away."""
    first, second = panel_of(qtbot), panel_of(qtbot)
    place.show_panel(first)
    place.show_panel(second)
    assert (place.currentWidget(), place.indexOf(first)) == (second, -1)
