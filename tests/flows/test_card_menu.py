"""The context menu of a card, by right click and by its key."""

from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QObject, QPoint, QRect, Qt, QUrl, Slot
from PySide6.QtGui import QContextMenuEvent, QDesktopServices
from PySide6.QtWidgets import QApplication, QMenu

from app.actions.menu_keys import without_mark
from tests.support.desk import CONTROL, Desk
from tests.support.hand import Hand, Spot
from tests.support.sessions import changed_by

RIGHT = Qt.MouseButton.RightButton


def card(desk: Desk, row: int) -> Spot:
    """The centre of a card."""
    return Spot(
        desk.grid.viewport(), desk.grid.visualRect(desk.grid.model().index(row, 0)).center()
    )


def shown_menu() -> QMenu:
    """The open menu."""
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def entries(menu: QMenu) -> list[str]:
    """Texts of a menu's entries."""
    return [without_mark(action.text()) for action in menu.actions() if not action.isSeparator()]


def click_entry(desk: Desk, text: str) -> None:
    """Click an entry of the open menu."""
    menu = shown_menu()
    action = next(each for each in menu.actions() if without_mark(each.text()) == text)
    desk.qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())


@pytest.mark.slow
@pytest.mark.parametrize(("pressed", "kept"), [(2, 3), (5, 1)])
def test_the_menu_is_about_what_is_chosen(
    pressed: int, kept: int, reviewing: Desk, hand: Hand
) -> None:
    """On a selected card it acts on the selection; another card is selected first."""
    hand.click(card(reviewing, 0))
    for row in (2, 3):
        hand.click(card(reviewing, row), CONTROL)
    hand.click(card(reviewing, pressed), button=RIGHT)
    assert entries(shown_menu()) == [
        without_mark(reviewing.window.registry.action(name).text())
        for name in (
            "accept",
            "relabel",
            "unknown",
            "reject",
            "flag",
            "comment",
            "open_image",
            "compare",
            "find_similar",
            "toggle_fold",
            "show_in_folder",
            "copy_path",
            "remove_images",
        )
    ]
    assert len(reviewing.grid.selected_ids) == kept
    assert reviewing.grid.currentIndex().row() == pressed
    chosen = reviewing.grid.selected_ids
    changed_by(
        reviewing.qtbot,
        reviewing.window.session,
        lambda: click_entry(reviewing, "None of the classes"),
    )
    reviewing.wait(lambda: [reviewing.label_of(image_id) for image_id in chosen] == ["?"] * kept)


@pytest.mark.slow
def test_the_menu_key_opens_it_on_the_current_card(reviewing: Desk, hand: Hand) -> None:
    """The menu opens at the current card, by an event that the test sends."""
    hand.click(card(reviewing, 0))
    reviewing.press(Qt.Key.Key_Right)
    window = reviewing.window.windowHandle()
    assert window is not None
    event = QContextMenuEvent(
        QContextMenuEvent.Reason.Keyboard, QPoint(5, 5), reviewing.window.mapToGlobal(QPoint())
    )
    QCoreApplication.sendEvent(window, event)
    place = reviewing.grid.viewport().mapFromGlobal(shown_menu().pos())
    current = reviewing.grid.visualRect(reviewing.grid.model().index(1, 0))
    assert QRect(place, shown_menu().size()).intersects(current)  # moved up on a low screen
    shown_menu().close()


def test_beside_the_cards_there_is_no_menu(reviewing: Desk, hand: Hand) -> None:
    """There is nothing to act on."""
    hand.click(Spot(reviewing.grid.viewport(), QPoint(4, 4)), button=RIGHT)
    assert QApplication.activePopupWidget() is None


class FileBrowser(QObject):
    """Replacement for the system's file browser."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[Path] = []

    @Slot(QUrl)
    def open(self, url: QUrl) -> None:
        """Record the URL."""
        self.opened.append(Path(url.toLocalFile()))


@pytest.mark.slow
def test_the_folder_of_an_image_is_shown(reviewing: Desk, hand: Hand) -> None:
    """The system's file browser opens the folder."""
    browser = FileBrowser()
    QDesktopServices.setUrlHandler("file", browser, "open")  # type: ignore[arg-type]
    hand.click(card(reviewing, 1), button=RIGHT)
    click_entry(reviewing, "Show in folder")
    QDesktopServices.unsetUrlHandler("file")
    image_id = reviewing.grid.current_id
    assert image_id is not None
    assert browser.opened == [reviewing.state.path_of(image_id).parent]
