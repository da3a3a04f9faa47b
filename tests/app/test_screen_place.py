"""The window stands whole on a screen that is there."""

import pytest
from PySide6.QtCore import QRect
from pytestqt.qtbot import QtBot

from app.main_window import MainWindow
from app.screen_place import USUAL_FRAME, fitted
from app.settings import Settings
from tests.support.collections import cache_of_test
from tests.support.desk import Desk

FREE = QRect(0, 28, 1440, 872)  # a screen of 1440 x 900 below a bar


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
    """What is free stays; too large, half outside, on a screen that is gone, and kept at another scale."""
    assert fitted(place, FREE) == expected


@pytest.mark.parametrize("place", [QRect(0, 0, 1440, 900), QRect(3000, 200, 1300, 800), QRect(-50, -50, 2880, 1800)])
def test_the_window_and_its_title_bar_are_on_the_screen(
    qtbot: QtBot, settings: Settings, monkeypatch: pytest.MonkeyPatch, place: QRect
) -> None:
    """Whatever was remembered of the last run."""
    yesterday = Desk(qtbot, settings)
    yesterday.window.setGeometry(place)
    yesterday.leave()
    monkeypatch.setattr("app.screen_place.free_area", lambda _place: FREE)
    window = MainWindow(cache_of_test(), settings)
    qtbot.addWidget(window)
    assert FREE.contains(window.geometry().marginsAdded(USUAL_FRAME))
    window.close()
