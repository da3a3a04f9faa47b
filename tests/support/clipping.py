"""Finds words that have less room than they need, as a person would see cut letters."""

from collections.abc import Iterator

from PySide6.QtWidgets import QAbstractButton, QAbstractSpinBox, QComboBox, QLabel, QLineEdit, QTabBar, QWidget


def clipped(root: QWidget) -> list[str]:
    """The texts of visible parts below `root` that do not fit."""
    return list(_clipped(root))


def _clipped(root: QWidget) -> Iterator[str]:
    for widget in (root, *root.findChildren(QWidget)):
        if not widget.isVisibleTo(root):
            continue
        if isinstance(widget, QLabel | QAbstractButton) and widget.text() and _is_cut(widget):
            yield widget.text()
        elif isinstance(widget, QAbstractSpinBox | QComboBox) and _is_low(widget):
            yield widget.accessibleName()
        elif isinstance(widget, QLineEdit) and _text_is_cut(widget):
            yield widget.placeholderText() or widget.text()
        elif isinstance(widget, QTabBar) and widget.width() < widget.sizeHint().width():
            yield widget.accessibleName()


def _is_cut(widget: QLabel | QAbstractButton) -> bool:
    if isinstance(widget, QLabel) and widget.wordWrap():
        return widget.height() < widget.heightForWidth(widget.width())
    wanted = widget.sizeHint()
    return widget.width() < wanted.width() or widget.height() < wanted.height()


def _is_low(box: QAbstractSpinBox | QComboBox) -> bool:
    """Whether the text has too little height; a number box's hint counts the frame of the style sheet twice."""
    if isinstance(box, QAbstractSpinBox):
        return box.lineEdit().contentsRect().height() < box.fontMetrics().height()
    return box.height() < box.sizeHint().height()


def _text_is_cut(field: QLineEdit) -> bool:
    text = field.text() or field.placeholderText()
    return field.fontMetrics().horizontalAdvance(text) > field.width()
