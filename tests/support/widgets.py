"""Finding parts of a widget by kind and text."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QScrollArea, QWidget


def button(widget: QWidget, text: str) -> QAbstractButton:
    """The only button of a widget whose text or accessible name starts so."""
    found = [each for each in widget.findChildren(QAbstractButton) if _is_called(each, text)]
    assert len(found) == 1, f"{len(found)} buttons are called {text!r}"
    return found[0]


def open_part(widget: QWidget, title: str) -> None:
    """Open a collapsible section unless it is open."""
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
    """Texts that a widget shows."""
    labels = widget.findChildren(QLabel)
    return "\n".join(label.text() for label in labels if label.isVisibleTo(widget) and label.text())


def scroll_area(widget: QWidget) -> QScrollArea:
    """The only scroll area of a widget."""
    (area,) = widget.findChildren(QScrollArea)
    return area
