"""Keys of a single page: pressed, changed, and shown in tooltips."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.actions.keys import keys_in_use
from app.actions.page_keys import PageKey, PageKeys

Key = Qt.Key
SHIFT = Qt.KeyboardModifier.ShiftModifier
KEYS = PageKeys(
    "shelf", "Shelf", (PageKey("take", "Take", "T Return"), PageKey("more", "More", "+"))
)


class Shelf(QWidget):
    """A page that records the actions of its keys."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[str] = []

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Perform the action of the key."""
        acts = {name: lambda name=name: self.done.append(name) for name in ("take", "more")}
        if not KEYS.press(event, acts):
            super().keyPressEvent(event)


@pytest.fixture
def shelf(qtbot: QtBot) -> Shelf:
    """The page, registered with the keys in use."""
    keys_in_use().begin(KEYS.owners())
    shelf = Shelf()
    qtbot.addWidget(shelf)
    return shelf


def test_each_declared_key_works(qtbot: QtBot, shelf: Shelf) -> None:
    """Other keys do nothing; a symbol may need Shift."""
    for key in (Key.Key_T, Key.Key_Return, Key.Key_Q):
        qtbot.keyClick(shelf, key)
    qtbot.keyClick(shelf, Key.Key_T, SHIFT)
    shelf.keyPressEvent(QKeyEvent(QKeyEvent.Type.KeyPress, Key.Key_Plus, SHIFT, "+"))
    assert shelf.done == ["take", "take", "more"]


def test_a_changed_key_works_and_the_old_one_no_longer(qtbot: QtBot, shelf: Shelf) -> None:
    """Tooltips name the new key."""
    assert KEYS.tip("Take it", "take") == "Take it (T)"
    keys_in_use().choose({"shelf.take": ("Ctrl+G",)})
    qtbot.keyClick(shelf, Key.Key_T)
    qtbot.keyClick(shelf, Key.Key_G, Qt.KeyboardModifier.ControlModifier)
    assert shelf.done == ["take"]
    assert KEYS.tip("Take it", "take") == "Take it (Ctrl+G)"


def test_without_a_key_a_tip_is_its_text(shelf: Shelf) -> None:
    """The action has no key at all."""
    keys_in_use().choose({"shelf.take": ()})
    assert KEYS.text_of("take") == ""
    assert KEYS.tip("Take it", "take") == "Take it"


def test_a_bare_arrow_means_the_side_where_something_is_seen(qapp: QApplication) -> None:
    """Left and right are swapped in a right-to-left layout; rotation is not."""
    ours, turn = PageKey("ours", "Ours", "1 Left"), PageKey("turn", "Turn", "Ctrl+Left")
    assert ours.declared == ("1", "Left")
    qapp.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    assert (ours.declared, turn.declared) == (("1", "Right"), ("Ctrl+Left",))
    qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
