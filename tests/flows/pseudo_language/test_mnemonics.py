"""Mnemonics of menus are unique in each language. Dialogs: `test_languages.py`."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QLineEdit, QMenu, QMenuBar

from app.language import ENGLISH
from tests.flows.pseudo_language.test_languages import LANGUAGES
from tests.support.desk import Desk
from tests.support.screen_texts import shared_mnemonics


@pytest.fixture(params=[ENGLISH, *LANGUAGES])
def spoken(request: pytest.FixtureRequest, languages_there: None) -> str:
    """Each language."""
    return str(request.param)


def menus(bar: QMenuBar | QMenu) -> Iterator[QMenuBar | QMenu]:
    """A menu and all submenus."""
    yield bar
    for action in bar.actions():
        if isinstance(below := action.menu(), QMenu):
            yield from menus(below)


def test_a_shared_letter_is_found() -> None:
    """An escaped ampersand is no mnemonic."""
    assert shared_mnemonics(["&Open", "&Save", "Close", "Salt && pepper", "Sp&oil"]) == [
        "O: &Open, Sp&oil"
    ]


@pytest.mark.slow
def test_menus_share_no_letters(desk: Desk) -> None:
    """Open menus of the window, with a mnemonic per entry; and Qt's menu of a text field."""
    all_menus = list(menus(desk.window.menuBar()))
    assert len(all_menus) > 5
    for menu in all_menus:
        if isinstance(menu, QMenu):
            menu.popup(QPoint())
        texts = [action.text() for action in menu.actions() if not action.isSeparator()]
        assert shared_mnemonics(texts) == []
        assert all(QKeySequence.mnemonic(text).count() for text in texts), texts
        if isinstance(menu, QMenu):
            menu.close()
    field = QLineEdit()
    desk.qtbot.addWidget(field)
    entries = [action.text() for action in field.createStandardContextMenu().actions()]
    assert shared_mnemonics(entries) == []
