"""What went wrong, in a side panel."""

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.side_panel.failure import FailureNotice


def test_a_failure_is_shown_until_it_is_over(qtbot: QtBot) -> None:
    """Without a text there is no frame either."""
    root = QWidget()
    qtbot.addWidget(root)
    notice = FailureNotice()
    notice.setParent(root)
    notice.show_text("the disk is full")
    assert notice.isVisibleTo(root)
    assert notice.text == "the disk is full"
    notice.show_text("")
    assert not notice.isVisibleTo(root)
    assert notice.text == ""
