"""The card "Settings": opened by a key, applied at once, stored."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QAbstractButton, QApplication
from pytestqt.qtbot import QtBot

from app.backups.controller import Backups
from app.computing.controller import Computing
from app.key_choice.controller import KeyChoice
from app.preferences.controller import Preferences
from app.preferences.view import SettingsCard
from app.settings import Settings
from app.theme.scheme import SchemeChoice
from tests.support.clipping import clipped
from tests.support.collections import Collection
from tests.support.desk import CONTROL, Desk

Key = Qt.Key


def opened(desk: Desk) -> SettingsCard:
    """The card, opened by its key."""
    desk.press(Key.Key_Comma, CONTROL)
    card = desk.window.of(Preferences).card
    assert card is not None
    assert card.isVisible()
    return card


def click(desk: Desk, button: QAbstractButton) -> None:
    """Click on a check box or button near its left edge."""
    desk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton, pos=QPoint(12, button.height() // 2))


def is_dark(application: QApplication) -> bool:
    """Whether the dark colour scheme is in use."""
    return application.palette().color(QPalette.ColorRole.Base).lightness() < 128


@pytest.mark.slow
@pytest.mark.parametrize("choice", [SchemeChoice.DARK, SchemeChoice.LIGHT])
def test_the_theme_changes_at_once_and_stays(
    desk: Desk, qapp: QApplication, settings: Settings, choice: SchemeChoice
) -> None:
    """The card stays open, and shows the choice when it is reopened."""
    card = opened(desk)
    assert card.schemes[SchemeChoice.SYSTEM].isChecked()
    click(desk, card.schemes[choice])
    assert is_dark(qapp) == (choice is SchemeChoice.DARK)
    assert card.isVisible()
    desk.press(Key.Key_Escape)
    assert not card.isVisible()
    assert SchemeChoice.named(settings.scheme) is choice
    assert opened(desk).schemes[choice].isChecked()
    click(desk, card.schemes[SchemeChoice.SYSTEM])
    assert SchemeChoice.named(settings.scheme) is SchemeChoice.SYSTEM


@pytest.mark.parametrize("name", ["", "purple", "SYSTEM"])
def test_a_look_that_does_not_exist_is_the_systems(name: str) -> None:
    """An invalid value in the settings file does not prevent the start."""
    assert SchemeChoice.named(name) is SchemeChoice.SYSTEM


@pytest.mark.slow
def test_calm_is_chosen_once_and_the_graph_keeps_to_it(
    desk: Desk, settings: Settings, collection: Collection
) -> None:
    """Reduced motion: a flight in the drawing ends at once."""
    card = opened(desk)
    assert not card.calm.isChecked()
    click(desk, card.calm)
    assert settings.is_calm
    desk.press(Key.Key_Escape)
    desk.open(collection.project)
    desk.press(Key.Key_G, CONTROL)
    canvas = desk.window.workspace.graph.board.canvas
    desk.wait(lambda: len(canvas.drawing) > 0)
    before = canvas.camera
    canvas.zoom(2)
    assert canvas.camera.scale == pytest.approx(before.scale * 2**0.5)
    assert not canvas.is_moving


@pytest.mark.slow
def test_the_last_project_at_the_start(qtbot: QtBot, desk: Desk, settings: Settings) -> None:
    """The setting is off by default, and stored."""
    card = opened(desk)
    assert not card.last_project.isChecked()
    click(desk, card.last_project)
    assert settings.opens_last_project
    desk.leave()
    again = Desk(qtbot, settings)
    again.wait(again.window.isActiveWindow)
    card = opened(again)
    assert card.last_project.isChecked()
    click(again, card.last_project)
    assert not Settings(settings.store).opens_last_project
    again.leave()


@pytest.mark.slow
def test_without_a_project_there_are_no_backups(desk: Desk) -> None:
    """The button is disabled, and its tooltip gives the reason."""
    backups = opened(desk).buttons["backups"]
    assert not backups.isEnabled()
    assert backups.toolTip() == "Open a project to see its backups."


@pytest.mark.slow
def test_it_leads_to_the_pages_of_everything_else(reviewing: Desk) -> None:
    """One click opens each page and closes the card."""
    card = opened(reviewing)
    click(reviewing, card.buttons["backups"])
    assert not card.isVisible()
    assert reviewing.window.side.currentWidget() is reviewing.window.of(Backups).panel
    click(reviewing, opened(reviewing).buttons["change_keys"])
    keys = reviewing.window.of(KeyChoice).card
    assert keys is not None
    assert keys.isVisible()
    assert not card.isVisible()


@pytest.mark.slow
def test_it_leads_to_the_choice_of_the_device(desk: Desk) -> None:
    """The device can be chosen without a project."""
    computing = desk.window.of(Computing)
    computing.look = lambda: None  # type: ignore[method-assign]
    click(desk, opened(desk).buttons["choose_device"])
    assert computing.panel is not None
    assert computing.panel.isVisible()


@pytest.mark.slow
def test_it_is_found_in_the_palette(desk: Desk) -> None:
    """The palette finds the card by its name."""
    desk.press(Key.Key_K, CONTROL)
    assert desk.type_into_palette("settings")[0].title == "Settings"
    desk.press(Key.Key_Return)
    card = desk.window.of(Preferences).card
    assert card is not None
    assert card.isVisible()


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1440, 900), (1000, 640), (720, 450), (600, 420)])
def test_its_words_are_whole(desk: Desk, size: tuple[int, int]) -> None:
    """Nothing is clipped at any size of the window."""
    desk.window.resize(*size)
    card = opened(desk)
    QApplication.sendPostedEvents()
    QApplication.processEvents()
    assert clipped(card) == []
    assert card.rect().contains(card.panel.geometry())
