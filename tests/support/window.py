"""Fixtures of tests on the real window, offscreen: a conftest imports those that it hands on."""

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
    """What the window remembers, in a file of the test: of a person who has seen all that is shown once."""
    settings = Settings(QSettings(str(tmp_path / "own.ini"), QSettings.Format.IniFormat))
    for hint in (labelling.HINT, preferences.HINT):
        settings.remember_shown(hint)
    return settings


@pytest.fixture
def newcomer(own_settings_and_caches: None, tmp_path: Path) -> Settings:
    """What the window remembers of a person who has not seen anything yet."""
    return Settings(QSettings(str(tmp_path / "new.ini"), QSettings.Format.IniFormat))


@pytest.fixture
def desk(
    qtbot: QtBot, qapp: QApplication, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Desk]:
    """A person at a window that was just opened, who has time to read what a toast says, however busy the machine."""
    monkeypatch.setattr("app.status.toast.VISIBLE_MS", LONG_MS)
    monkeypatch.setattr("app.status.toast.FAILURE_MS", LONG_MS)
    apply_theme(qapp)
    desk = Desk(qtbot, settings)
    yield desk
    desk.leave()
    set_scheme("system")


@pytest.fixture
def hand(monkeypatch: pytest.MonkeyPatch) -> Hand:
    """A hand at the mouse."""
    return Hand(monkeypatch)


@pytest.fixture
def tinyleaf(own_settings_and_caches: None, tmp_path: Path) -> str:
    """A second backbone in the library of the test."""
    return add_to_library(tmp_path).name


@pytest.fixture
def reviewing(desk: Desk, collection: Collection) -> Desk:
    """The small collection is open, and its 40 unlabelled images are shown."""
    desk.open(collection.project)
    desk.window.workspace.choose_order(Order.UNSURE_FIRST)
    desk.wait(lambda: desk.window.session.is_settled)
    desk.window.registry.trigger("show_to_review")
    assert desk.grid.model().rowCount() == 40
    return desk
