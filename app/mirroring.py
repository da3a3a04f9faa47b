"""What a language that is written from right to left changes beyond Qt's own layouts, which it mirrors itself.

What is painted by hand is laid out from left to right, and each part then put where it belongs with `placed`, for the
eye and for the mouse alike. Pictures, plots and drawn graphs stay as they are.
"""

from typing import Final, TypeVar

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QGraphicsWidget, QWidget

Area = TypeVar("Area", QRect, QRectF)
_LEFT_TO_RIGHT: Final = "\N{LEFT-TO-RIGHT ISOLATE}"
_AS_IT_BEGINS: Final = "\N{FIRST STRONG ISOLATE}"
_END: Final = "\N{POP DIRECTIONAL ISOLATE}"
_OTHER_WAY: Final = {Qt.Key.Key_Left: Qt.Key.Key_Right, Qt.Key.Key_Right: Qt.Key.Key_Left}


def is_mirrored() -> bool:
    """Whether the window is read from right to left."""
    return QGuiApplication.layoutDirection() == Qt.LayoutDirection.RightToLeft


def placed(area: Area, around: Area) -> Area:
    """Where a part is seen that is laid out from left to right in, or beside, another; and back again."""
    if not is_mirrored():
        return area
    return area.translated(2 * around.x() + around.width() - 2 * area.x() - area.width(), 0)


def keep_as_drawn(widget: QWidget | QGraphicsWidget) -> None:
    """Leave a plot, and what reads its axis, as in every language; a painter still has the window's direction."""
    widget.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


def key_in_reading_order(key: int) -> Qt.Key:
    """What an arrow means among things that lie one after another: Right is onwards, Left where all is mirrored."""
    pressed = Qt.Key(key)
    return _OTHER_WAY.get(pressed, pressed) if is_mirrored() else pressed


def leading_edge() -> Qt.AlignmentFlag:
    """Where lines begin, in any script: labels would begin on the side of their own words."""
    side = (
        Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute
        if is_mirrored()
        else Qt.AlignmentFlag.AlignLeft
    )
    return side | Qt.AlignmentFlag.AlignVCenter


def isolated(text: str) -> str:
    """Keep a name, a number or the like as it is among words that are read from right to left: `8%`, `056.png`."""
    return f"{_AS_IT_BEGINS}{text}{_END}" if text and is_mirrored() else text


def left_to_right(text: str) -> str:
    """The same for a path, in whatever script its first folder is."""
    return f"{_LEFT_TO_RIGHT}{text}{_END}" if text and is_mirrored() else text
