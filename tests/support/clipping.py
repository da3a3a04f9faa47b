"""Finds words that have less room than they need, as a person would see cut letters."""

from collections.abc import Iterator

from PySide6.QtWidgets import QAbstractButton, QComboBox, QLabel, QLineEdit, QSpinBox, QTabBar, QWidget


def clipped(root: QWidget) -> list[str]:
    """The texts of visible parts below `root` that do not fit."""
    return list(_clipped(root))


def _clipped(root: QWidget) -> Iterator[str]:
    for widget in (root, *root.findChildren(QWidget)):
        if not widget.isVisibleTo(root):
            continue
        if isinstance(widget, QLabel | QAbstractButton) and widget.text() and _is_cut(widget):
            yield widget.text()
        elif isinstance(widget, QSpinBox | QComboBox) and widget.height() < widget.sizeHint().height():
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


def _text_is_cut(field: QLineEdit) -> bool:
    text = field.text() or field.placeholderText()
    return field.fontMetrics().horizontalAdvance(text) > field.width()
