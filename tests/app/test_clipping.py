"""Tests of the helpers that find clipped and overlapping texts."""

from PySide6.QtWidgets import QHBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.controls import make_button, make_label
from tests.support.clipping import clipped, overlapping
from tests.support.sessions import LONG_MS


def test_words_without_room_are_found(qtbot: QtBot) -> None:
    """A label and a button that are too narrow; with enough space nothing is found."""
    root = QWidget()
    qtbot.addWidget(root)
    row = QHBoxLayout(root)
    label, button = make_label("a line of some length"), make_button("Some button", lambda: None)
    row.addWidget(label)
    row.addWidget(button)
    root.resize(root.sizeHint())
    root.show()
    qtbot.waitExposed(root, timeout=LONG_MS)
    assert clipped(root) == []
    label.setFixedWidth(20)
    button.setFixedWidth(30)
    assert clipped(root) == ["a line of some length", "Some button"]


def test_words_that_stick_out_or_lie_on_others_are_found(qtbot: QtBot) -> None:
    """Texts beyond the edge of their parent or over their siblings are found."""
    root, inner = QWidget(), QWidget()
    qtbot.addWidget(root)
    inner.setParent(root)
    first, second = make_label("first"), make_label("second")
    for label in (first, second):
        label.setParent(inner)
        label.resize(label.sizeHint())
    inner.resize(200, 100)
    second.move(0, 50)
    root.resize(300, 300)
    root.show()
    assert (clipped(root), overlapping(root)) == ([], [])
    second.move(190, 3)
    assert clipped(root) == ["second"]
    second.move(3, 3)
    assert overlapping(root) == [("first", "second")]
