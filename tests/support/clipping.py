"""Finds clipped and overlapping words."""

from collections.abc import Iterator
from itertools import combinations

from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QStyle,
    QStyleOptionComboBox,
    QStyleOptionFrame,
    QTabBar,
    QWidget,
)


def clipped(root: QWidget) -> list[str]:
    """Texts of visible widgets below `root` that do not fit."""
    return list(_clipped(root))


def _clipped(root: QWidget) -> Iterator[str]:
    for widget in (root, *root.findChildren(QWidget)):
        if not widget.isVisibleTo(root):
            continue
        if (
            isinstance(widget, QLabel | QAbstractButton)
            and widget.text()
            and (_is_cut(widget) or _sticks_out(widget, root))
        ):
            yield widget.text()
        elif isinstance(widget, QAbstractSpinBox | QComboBox) and _is_low(widget):
            yield widget.accessibleName()
        elif isinstance(widget, QComboBox) and _choice_is_cut(widget):
            yield widget.currentText()
        elif isinstance(widget, QLineEdit) and _text_is_cut(widget):
            yield widget.placeholderText() or widget.text()
        elif isinstance(widget, QTabBar) and widget.width() < widget.sizeHint().width():
            yield widget.accessibleName()


def _is_cut(widget: QLabel | QAbstractButton) -> bool:
    if isinstance(widget, QLabel) and widget.wordWrap():
        return widget.height() < widget.heightForWidth(widget.width())
    wanted = widget.sizeHint()
    return widget.width() < wanted.width() or widget.height() < wanted.height()


def _sticks_out(widget: QWidget, root: QWidget) -> bool:
    """Whether a widget exceeds the left or right edge of an ancestor."""
    around = widget.parentWidget()
    while around is not None and widget is not root:
        left = widget.mapTo(around, QPoint(0, 0)).x()
        if left < 0 or left + widget.width() > around.width():
            return True
        if around is root:
            break
        around = around.parentWidget()
    return False


def overlapping(root: QWidget) -> list[tuple[str, str]]:
    """Pairs of overlapping visible words below `root`."""
    words = [
        (widget.text(), _visible_part(widget, root))
        for widget in root.findChildren(QWidget)
        if isinstance(widget, QLabel | QAbstractButton)
        and widget.text()
        and widget.isVisibleTo(root)
    ]
    return [
        (first, second)
        for (first, place), (second, other) in combinations(words, 2)
        if place.intersects(other)
    ]


def _visible_part(widget: QWidget, root: QWidget) -> QRect:
    """The visible part of a widget, in coordinates of `root`, without parts scrolled away."""
    place, around = QRect(widget.mapTo(root, QPoint(0, 0)), widget.size()), widget.parentWidget()
    while around is not None and around is not root:
        place = place.intersected(QRect(around.mapTo(root, QPoint(0, 0)), around.size()))
        around = around.parentWidget()
    return place


def _is_low(box: QAbstractSpinBox | QComboBox) -> bool:
    """Whether the text has too little height; a spin box's hint counts the frame twice."""
    if isinstance(box, QAbstractSpinBox):
        return box.lineEdit().contentsRect().height() < box.fontMetrics().height()
    return box.height() < box.sizeHint().height()


def _choice_is_cut(box: QComboBox) -> bool:
    """Whether the chosen entry is clipped."""
    option = QStyleOptionComboBox()
    box.initStyleOption(option)
    field = QStyle.SubControl.SC_ComboBoxEditField
    room = box.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, field, box)
    return box.fontMetrics().horizontalAdvance(box.currentText()) > room.width()


def _text_is_cut(field: QLineEdit) -> bool:
    """Whether the placeholder is clipped; typed text scrolls."""
    if field.text() or isinstance(field.parentWidget(), QAbstractSpinBox | QComboBox):
        return False
    option = QStyleOptionFrame()
    field.initStyleOption(option)
    room = field.style().subElementRect(QStyle.SubElement.SE_LineEditContents, option, field)
    margins = field.textMargins()
    text = field.fontMetrics().horizontalAdvance(field.placeholderText())
    return text > room.width() - margins.left() - margins.right()
