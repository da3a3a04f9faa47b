"""Right-to-left layout beyond that of Qt's own widgets.

Custom painting is laid out from left to right, and each rectangle then mirrored with `placed`, for
painting and for mouse positions alike. Pictures, plots and drawn graphs are not mirrored.
"""

from typing import TypeVar

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

Area = TypeVar("Area", QRect, QRectF)
_LEFT_TO_RIGHT = "\N{LEFT-TO-RIGHT ISOLATE}"
_AS_IT_BEGINS = "\N{FIRST STRONG ISOLATE}"
_END = "\N{POP DIRECTIONAL ISOLATE}"
_OTHER_WAY = {Qt.Key.Key_Left: Qt.Key.Key_Right, Qt.Key.Key_Right: Qt.Key.Key_Left}


def is_mirrored() -> bool:
    """Whether the layout direction is right to left."""
    return QGuiApplication.layoutDirection() == Qt.LayoutDirection.RightToLeft


def placed(area: Area, around: Area) -> Area:
    """Mirror a rectangle within another one in right-to-left layouts; its own inverse."""
    if not is_mirrored():
        return area
    return area.translated(2 * around.x() + around.width() - 2 * area.x() - area.width(), 0)


def keep_as_drawn(widget: QWidget) -> None:
    """Exclude a plot, and what reads its axis, from mirroring.

    A painter still has the window's direction.
    """
    widget.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


def key_in_reading_order(key: int) -> Qt.Key:
    """Swap the left and right arrow keys in right-to-left layouts."""
    pressed = Qt.Key(key)
    return _OTHER_WAY.get(pressed, pressed) if is_mirrored() else pressed


def leading_edge() -> Qt.AlignmentFlag:
    """Alignment at the leading edge of the layout.

    Labels would otherwise align by the direction of their own text.
    """
    side = (
        Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute
        if is_mirrored()
        else Qt.AlignmentFlag.AlignLeft
    )
    return side | Qt.AlignmentFlag.AlignVCenter


def isolated(text: str) -> str:
    """Isolate a name or number in right-to-left text: `8%` and `056.png` keep their order."""
    return f"{_AS_IT_BEGINS}{text}{_END}" if text and is_mirrored() else text


def left_to_right(text: str) -> str:
    """The same for a path, which is always read from left to right."""
    return f"{_LEFT_TO_RIGHT}{text}{_END}" if text and is_mirrored() else text
