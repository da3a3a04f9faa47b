"""The hint about labelling keys at the first card, shown once."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.settings import Settings
from app.status.notice import Notice
from tests.support.collections import Collection
from tests.support.desk import Desk
from tests.support.widgets import button, texts


@pytest.fixture
def settings(newcomer: Settings) -> Settings:
    """Settings of a new person."""
    return newcomer


def hint_of(desk: Desk) -> Notice:
    """The hint, visible or not."""
    return next(each for each in desk.window.workspace.footer.strips if isinstance(each, Notice))


@pytest.mark.slow
def test_the_keys_are_taught_at_the_first_card(reviewing: Desk, settings: Settings) -> None:
    """The hint names Enter, the digits and U; the first label dismisses it permanently."""
    hint = hint_of(reviewing)
    assert hint.isVisible()
    words = texts(hint)
    assert all(key in words for key in ("Enter", "1 to 9", "U means"))
    assert reviewing.grid.hasFocus()
    reviewing.choose(0)
    reviewing.press_for_change(Qt.Key.Key_Return)
    assert not hint.isVisible()
    assert settings.was_shown("keys")


@pytest.mark.slow
def test_the_line_can_be_put_away(reviewing: Desk, collection: Collection) -> None:
    """A button dismisses the hint; keys still work, and reopening a project does not show it."""
    hint = hint_of(reviewing)
    QTest.mouseClick(button(hint, "Got it"), Qt.MouseButton.LeftButton)
    assert not hint.isVisible()
    assert reviewing.grid.hasFocus()
    reviewing.window.session.close()
    reviewing.wait(lambda: reviewing.window.session.info is None)
    reviewing.open(collection.project)
    assert not hint.isVisible()
