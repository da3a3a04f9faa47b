"""The finder of cut words finds them."""

from PySide6.QtWidgets import QHBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.controls import make_button, make_label
from tests.support.clipping import clipped


def test_words_without_room_are_found(qtbot: QtBot) -> None:
    """A label and a button that are squeezed; with enough room there is nothing to find."""
    root = QWidget()
    qtbot.addWidget(root)
    row = QHBoxLayout(root)
    label, button = make_label("a line of some length"), make_button("Some button", lambda: None)
    row.addWidget(label)
    row.addWidget(button)
    root.resize(root.sizeHint())
    root.show()
    qtbot.waitExposed(root)
    assert clipped(root) == []
    label.setFixedWidth(20)
    button.setFixedWidth(30)
    assert clipped(root) == ["a line of some length", "Some button"]
