"""Mouse clicks sent to the window, which finds the widget at the position."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from app.actions.menu_keys import without_mark
from tests.support.hand import Spot

LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton


def click(widget: QWidget, place: QPoint | None = None, button: Qt.MouseButton = LEFT) -> None:
    """Click a position in a widget, by default its centre."""
    spot = Spot(widget, widget.rect().center() if place is None else place)
    QCursor.setPos(
        widget.mapToGlobal(spot.point)
    )  # a menu checks whether the pointer moved since it opened
    QTest.mouseClick(spot.window, button, Qt.KeyboardModifier.NoModifier, spot.in_window)
    QApplication.processEvents()


def menu_at(widget: QWidget, place: QPoint) -> QMenu:
    """Right click at a position and return the menu."""
    click(widget, place, RIGHT)
    return open_menu()


def open_menu() -> QMenu:
    """The open menu."""
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def titles(menu: QMenu) -> list[str]:
    """Texts of a menu."""
    return [without_mark(action.text()) for action in menu.actions() if not action.isSeparator()]


def choose(menu: QMenu, title: str) -> None:
    """Click an entry of a menu."""
    (action,) = [each for each in menu.actions() if without_mark(each.text()) == title]
    assert action.isEnabled()
    QTest.mouseClick(menu, LEFT, pos=menu.actionGeometry(action).center())
