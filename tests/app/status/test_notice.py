"""A question above the grid, in windows of any width."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.status.notice import Notice
from tests.support.clipping import clipped
from tests.support.sessions import LONG_MS
from tests.support.widgets import button

QUESTION = "“field trip” has 12 subfolders with images. Make them classes?"


@pytest.mark.parametrize("width", [1200, 520, 382])
def test_answers_are_never_wider_than_their_words(qtbot: QtBot, width: int) -> None:
    """Shown in a new project: next to or below the question, without a primary button."""
    room, answered = QWidget(), []
    qtbot.addWidget(room)
    notice = Notice()
    layout = QVBoxLayout(room)
    layout.addWidget(notice)
    layout.addStretch(1)
    room.resize(width, 400)
    room.show()
    notice.ask(
        QUESTION,
        [
            ("Make classes", lambda: answered.append("classes")),
            ("Only add the images", lambda: None),
        ],
    )
    buttons = notice.findChildren(QPushButton)
    qtbot.waitUntil(
        lambda: all(each.width() == each.sizeHint().width() for each in buttons), timeout=LONG_MS
    )
    assert clipped(notice) == []
    assert len({each.y() for each in buttons}) == 1
    QTest.mouseClick(button(notice, "Make classes"), Qt.MouseButton.LeftButton)
    assert (answered, notice.isVisible()) == (["classes"], False)
