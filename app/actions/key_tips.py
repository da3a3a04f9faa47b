"""Tooltips with shortcuts, updated when the user changes a shortcut."""

from __future__ import annotations

from collections.abc import Callable
from typing import final

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.actions.keys import keys_in_use
from app.actions.page_keys import PageKeys
from app.texts import plain_tip, tr


def with_key(text: str, name: str) -> str:
    """A translated text followed by an action's shortcut: `New class (Ctrl+N)`."""
    key = keys_in_use().text_of(name)
    return tr("{1} ({2})", text, key) if key else text


def set_key_tip(part: QWidget, text: str, name: str, page: PageKeys | None = None) -> None:
    """Set a tooltip with the shortcut of an action, or of a key of a page."""

    def show() -> None:
        tip = with_key(text, name) if page is None else page.tip(text, name)
        part.setToolTip(plain_tip(tip))
        part.setAccessibleName(tip)

    follow_keys(part, show)


def follow_keys(owner: QObject, show: Callable[[], None]) -> None:
    """Call `show` now and whenever shortcuts change, for the lifetime of `owner`."""
    show()
    _Follower(owner, show)


@final
class _Follower(QObject):
    """A child of its owner, so that it is deleted together with it."""

    def __init__(self, owner: QObject, show: Callable[[], None]) -> None:
        super().__init__(owner)
        self._show = show
        keys_in_use().changed.connect(self._on_changed)

    def _on_changed(self) -> None:
        self._show()
