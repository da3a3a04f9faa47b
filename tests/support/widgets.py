"""Parts of a widget as a person finds them: by their kind, and by what is written on them."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QScrollArea, QWidget


def button(widget: QWidget, text: str) -> QAbstractButton:
    """The one button in a widget whose text or accessible name begins so."""
    found = [each for each in widget.findChildren(QAbstractButton) if _is_called(each, text)]
    assert len(found) == 1, f"{len(found)} buttons are called {text!r}"
    return found[0]


def open_part(widget: QWidget, title: str) -> None:
    """Click the heading of a part that is closed, as a person does; one that is open stays so."""
    (head,) = [
        each
        for each in widget.findChildren(QAbstractButton)
        if each.text() == title and each.isVisible()
    ]
    if not head.isChecked():
        QTest.mouseClick(head, Qt.MouseButton.LeftButton)


def _is_called(each: QAbstractButton, text: str) -> bool:
    return each.text().startswith(text) or each.accessibleName().startswith(text)


def texts(widget: QWidget) -> str:
    """The lines of text that a widget shows."""
    labels = widget.findChildren(QLabel)
    return "\n".join(label.text() for label in labels if label.isVisibleTo(widget) and label.text())


def scroll_area(widget: QWidget) -> QScrollArea:
    """The one part of a widget that scrolls."""
    (area,) = widget.findChildren(QScrollArea)
    return area
