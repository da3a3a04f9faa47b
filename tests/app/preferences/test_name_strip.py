"""The name for "labelled by" is requested once, at the first label, in a notice."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.preferences.controller import Preferences
from app.preferences.view import NameStrip
from app.settings import Settings
from engine.project import Project
from engine.project.clock import ANONYMOUS
from tests.support.collections import Collection
from tests.support.desk import CONTROL, Desk
from tests.support.sessions import changed_by
from tests.support.widgets import button

pytestmark = pytest.mark.slow

Key = Qt.Key


@pytest.fixture
def settings(newcomer: Settings) -> Settings:
    """Settings of a person who was never asked."""
    return newcomer


@pytest.fixture(autouse=True)
def nameless(monkeypatch: pytest.MonkeyPatch) -> None:
    """An account without a full name."""
    monkeypatch.setattr("engine.project.clock.full_name", lambda: "")


def strip_of(desk: Desk) -> NameStrip:
    """The notice, visible or not."""
    strip = desk.window.workspace.findChild(NameStrip)
    assert isinstance(strip, NameStrip)
    return strip


def people(desk: Desk, collection: Collection) -> list[str]:
    """Annotators in the order of their labels, without labels from before."""
    desk.leave()
    with Project.open(collection.project, for_writing=False) as project:
        labels = sorted(project.labels.by_image().values(), key=lambda label: label.when)
    return [label.who for label in labels if label.source == "review"]


def test_the_first_label_asks_for_the_name(
    reviewing: Desk, collection: Collection, settings: Settings
) -> None:
    """No card moves, keys go on labelling, and the typed name signs the following labels."""
    reviewing.choose(0)
    assert not strip_of(reviewing).isVisible()
    place = reviewing.grid.mapTo(reviewing.window, QPoint(0, 0))
    reviewing.press_for_change(Key.Key_Return)
    strip = strip_of(reviewing)
    reviewing.wait(strip.isVisible)
    assert reviewing.grid.mapTo(reviewing.window, QPoint(0, 0)) == place
    assert reviewing.grid.hasFocus()
    reviewing.press_for_change(Key.Key_Return)
    QTest.mouseClick(strip.field, Qt.MouseButton.LeftButton)
    QTest.keyClicks(strip.field, "Ada Lovelace")
    QTest.keyClick(strip.field, Key.Key_Return)
    assert not strip.isVisible()
    assert reviewing.grid.hasFocus()
    reviewing.press_for_change(Key.Key_Return)
    assert settings.person == "Ada Lovelace"
    assert people(reviewing, collection) == [ANONYMOUS, ANONYMOUS, "Ada Lovelace"]


def test_labels_from_before_the_name_are_signed_on_request(
    reviewing: Desk, collection: Collection
) -> None:
    """The button of a toast signs earlier labels, as an undoable action."""
    reviewing.choose(0)
    reviewing.press_for_change(Key.Key_Return)
    strip, toast = strip_of(reviewing), reviewing.window.toast
    reviewing.wait(strip.isVisible)
    reviewing.press_for_change(Key.Key_Return)
    QTest.mouseClick(strip.field, Qt.MouseButton.LeftButton)
    QTest.keyClicks(strip.field, "Ada")
    QTest.keyClick(strip.field, Key.Key_Return)
    reviewing.wait(lambda: toast.message == "2 earlier labels have no name")
    sign = button(toast, "Sign as Ada")
    changed_by(
        reviewing.qtbot,
        reviewing.window.session,
        lambda: QTest.mouseClick(sign, Qt.MouseButton.LeftButton),
    )
    assert toast.message == "Signed 2 labels as Ada"
    assert people(reviewing, collection) == ["Ada", "Ada"]


def test_it_can_be_passed_over_for_good(reviewing: Desk) -> None:
    """The close button: neither further labels nor another window ask again."""
    reviewing.choose(0)
    reviewing.press_for_change(Key.Key_Return)
    reviewing.wait(strip_of(reviewing).isVisible)
    QTest.mouseClick(button(strip_of(reviewing), "Dismiss"), Qt.MouseButton.LeftButton)
    for _ in range(2):
        reviewing.press_for_change(Key.Key_Return)
        assert not strip_of(reviewing).isVisible()
    assert reviewing.window.settings.was_shown("name")


def test_an_account_with_a_full_name_is_not_asked(
    reviewing: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The full name is used."""
    monkeypatch.setattr("engine.project.clock.full_name", lambda: "Ada Lovelace")
    reviewing.choose(0)
    reviewing.press_for_change(Key.Key_Return)
    reviewing.press_for_change(Key.Key_Return)
    assert not strip_of(reviewing).isVisible()
    assert not reviewing.window.settings.was_shown("name")


def test_the_settings_have_the_name(
    reviewing: Desk, collection: Collection, settings: Settings
) -> None:
    """The typed name signs the next label, and the notice is not shown again."""
    reviewing.press(Key.Key_Comma, CONTROL)
    card = reviewing.window.of(Preferences).card
    assert card is not None
    QTest.mouseClick(card.person, Qt.MouseButton.LeftButton)
    QTest.keyClicks(card.person, "Ada")
    reviewing.press(Key.Key_Escape)
    reviewing.choose(0)
    reviewing.press_for_change(Key.Key_Return)
    assert not strip_of(reviewing).isVisible()
    assert settings.person == "Ada"
    reviewing.press(Key.Key_Comma, CONTROL)
    assert card.person.text() == "Ada"
    reviewing.press(Key.Key_Escape)
    assert people(reviewing, collection) == ["Ada"]
