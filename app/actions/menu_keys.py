"""Keys that open menus (Alt and a letter, F10, the menu key, Shift+F10), and mnemonics.

Mnemonics are unique within a menu, and assigned at run time from the displayed texts, so that
translators need no `&` marks.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Sequence
from typing import final

import shiboken6
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QAction, QContextMenuEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QMenu, QMenuBar, QWidget

from app.controls import show_round

_MARK = re.compile(r"&&|\(&\w\)|&")  # `&&` is a literal ampersand
_WORD = re.compile(r"\w+")
_WIDE = frozenset({"W", "F"})
"""East Asian widths of letters that need an input method (Chinese, Japanese, Korean)."""
_SHIFT = Qt.KeyboardModifier.ShiftModifier
_NONE = Qt.KeyboardModifier.NoModifier
_BY_SYSTEM = sys.platform in {"win32", "darwin"}
"""Windows opens both by itself, and macOS has no such keys."""


def marked_letters(texts: Sequence[str], hints: Sequence[str]) -> list[str]:
    """Texts of one menu with `&` before each mnemonic: initials where they are free.

    Where no letter of a text can be typed, one of the English hint is appended, as is usual there:
    `文件(&F)`.

    Args:
        hints: English words for each of the texts.
    """
    wanted = [_wanted(text, hint) for text, hint in zip(texts, hints, strict=True)]
    owners: dict[str, int] = {}
    for liked in range(len(wanted[0]) if wanted else 0):
        for line in range(len(texts)):
            free = [letter for letter in wanted[line][liked] if letter not in owners]
            if free and line not in owners.values():
                owners[free[0]] = line
    for line in range(len(texts)):
        if line not in owners.values():
            _take_letter(line, wanted, owners, set())
    letter_of = {line: letter for letter, line in owners.items()}
    return [
        _marked(text, letter_of[line]) if line in letter_of else text
        for line, text in enumerate(texts)
    ]


Liked = list[list[str]]
"""Candidate letters of one line in capitals: the first initial, all initials, all letters."""


def _wanted(text: str, hint: str) -> Liked:
    source = text if any(_is_on_keys(letter) for letter in text) else hint
    letters = [letter for letter in source if _is_on_keys(letter)]
    plain = {letter for letter in letters if letter.isascii()} or set(letters)
    initials = [word[0] for word in _WORD.findall(source)]
    return [
        [each.upper() for each in group if each in plain]
        for group in (initials[:1], initials, letters)
    ]


def _take_letter(
    line: int, wanted: Sequence[Liked], owners: dict[str, int], tried: set[str]
) -> bool:
    """Assign a letter to a line, moving others to free letters (augmenting path).

    Returns False where that is impossible.
    """
    # Free letters first; the sort is stable.
    for letter in sorted(wanted[line][-1], key=lambda letter: letter in owners):
        if letter in tried:
            continue
        tried.add(letter)
        if letter not in owners or _take_letter(owners[letter], wanted, owners, tried):
            owners[letter] = line
            return True
    return False


def _marked(text: str, letter: str) -> str:
    """Mark a letter of a text: at the start of a word, else its first occurrence, else appended."""
    places = [place for place, each in enumerate(text) if each.upper() == letter]
    if not places:
        body = text.removesuffix("…")
        return f"{body}(&{letter}){text[len(body) :]}"
    starts = {word.start() for word in _WORD.finditer(text)}
    place = next((place for place in places if place in starts), places[0])
    return f"{text[:place]}&{text[place:]}"


def without_mark(text: str) -> str:
    """A menu text without the mark of its mnemonic."""
    return _MARK.sub(lambda found: "&&" if found[0] == "&&" else "", text)


def _is_on_keys(letter: str) -> bool:
    """Whether it is a letter or digit that a keyboard types without an input method."""
    return letter.isalnum() and unicodedata.east_asian_width(letter) not in _WIDE


def _is_letter(event: QEvent) -> bool:
    """Whether a key event may be a mnemonic, or a shortcut of the window behind the menu."""
    if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
        return False
    return event.modifiers() == Qt.KeyboardModifier.NoModifier and bool(event.text().strip())


@final
class _Letters(QObject):
    """Event filter of an open menu: letters are mnemonics there, not shortcuts of the window."""

    def __init__(self, menu: QMenu) -> None:
        super().__init__(menu)
        self._menu = menu
        menu.installEventFilter(self)
        menu.aboutToShow.connect(self._mark)
        menu.aboutToHide.connect(self._unmark)

    def _mark(self) -> None:
        if shiboken6.isValid(self._menu):
            _mark(self._menu.actions())

    def _unmark(self) -> None:
        """Do nothing where the menu hides because it is being deleted."""
        if shiboken6.isValid(self._menu):
            _unmark(self._menu.actions())

    def eventFilter(self, _menu: QObject, event: QEvent) -> bool:
        is_for_menu = _is_letter(event)
        if is_for_menu:
            event.accept()
        return is_for_menu


def dress_menu(menu: QMenu) -> None:
    """Prepare a menu: mnemonics while it is open, and transparent rounded corners."""
    show_round(menu)
    _Letters(menu)


def _mark(actions: Sequence[QAction]) -> None:
    lines = [action for action in actions if not action.isSeparator()]
    texts = [without_mark(action.text()) for action in lines]
    marked = marked_letters(texts, [action.objectName().replace("_", " ") for action in lines])
    for action, text in zip(lines, marked, strict=True):
        action.setText(text)


def _unmark(actions: Sequence[QAction]) -> None:
    for action in actions:
        action.setText(without_mark(action.text()))


def open_menu_by_key(event: QKeyEvent, bar: QMenuBar) -> bool:
    """Open the menu that a key stands for; False where it stands for none, or one is open.

    Args:
        event: a key event that no widget of the window handled.
    """
    pressed = (Qt.Key(event.key()), event.modifiers())
    if _BY_SYSTEM or QApplication.activePopupWidget() is not None:
        return False
    if pressed == (Qt.Key.Key_F10, _NONE):
        _open_first(bar)
        return True
    if pressed in {(Qt.Key.Key_Menu, _NONE), (Qt.Key.Key_F10, _SHIFT)}:
        focus = QApplication.focusWidget()
        return focus is not None and _open_context_menu(focus)
    return False


def _open_first(bar: QMenuBar) -> None:
    bar.setFocus(Qt.FocusReason.MenuBarFocusReason)
    bar.setActiveAction(bar.actions()[0])


def _open_context_menu(focus: QWidget) -> bool:
    """Open the context menu of the current item of the focused widget; False where it has none."""
    current = focus.inputMethodQuery(Qt.InputMethodQuery.ImCursorRectangle)
    place: QPoint = (
        current.center() if current is not None and not current.isEmpty() else focus.rect().center()
    )
    asked = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, place, focus.mapToGlobal(place))
    return QApplication.sendEvent(focus, asked)
