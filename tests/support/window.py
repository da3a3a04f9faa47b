"""Fixtures of tests on the real window, offscreen, imported by conftest modules."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.image_grid.held_order import Order
from app.preferences import view as preferences
from app.review import labelling
from app.settings import Settings
from app.theme import apply_theme, set_scheme
from tests.support.collections import Collection
from tests.support.desk import Desk
from tests.support.hand import Hand
from tests.support.other_backbones import add_to_library
from tests.support.sessions import LONG_MS


@pytest.fixture
def settings(own_settings_and_caches: None, tmp_path: Path) -> Settings:
    """The window's settings in a file of the test, with all one-time hints seen."""
    settings = Settings(QSettings(str(tmp_path / "own.ini"), QSettings.Format.IniFormat))
    for hint in (labelling.HINT, preferences.HINT):
        settings.remember_shown(hint)
    return settings


@pytest.fixture
def newcomer(own_settings_and_caches: None, tmp_path: Path) -> Settings:
    """Settings of a new user."""
    return Settings(QSettings(str(tmp_path / "new.ini"), QSettings.Format.IniFormat))


@pytest.fixture
def desk(
    qtbot: QtBot, qapp: QApplication, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Desk]:
    """An open window whose toasts stay long enough on busy machines."""
    monkeypatch.setattr("app.status.toast.VISIBLE_MS", LONG_MS)
    monkeypatch.setattr("app.status.toast.FAILURE_MS", LONG_MS)
    apply_theme(qapp)
    desk = Desk(qtbot, settings)
    yield desk
    desk.leave()
    set_scheme("system")


@pytest.fixture
def hand(monkeypatch: pytest.MonkeyPatch) -> Hand:
    """A simulated mouse."""
    return Hand(monkeypatch)


@pytest.fixture
def tinyleaf(own_settings_and_caches: None, tmp_path: Path) -> str:
    """A second backbone in the test's library."""
    return add_to_library(tmp_path).name


@pytest.fixture
def reviewing(desk: Desk, collection: Collection) -> Desk:
    """The small collection, open, with its 40 unlabelled images in view."""
    desk.open(collection.project)
    desk.window.workspace.choose_order(Order.UNSURE_FIRST)
    desk.wait(lambda: desk.window.session.is_settled)
    desk.window.registry.trigger("show_to_review")
    assert desk.grid.model().rowCount() == 40
    return desk
