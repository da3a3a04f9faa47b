"""Reassigning keys on their card; they apply at once and after a restart."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.actions.keys import keys_in_use
from app.actions.keys_sheet import KeysSheet
from app.inspector.page import ScoreLine
from app.key_choice.controller import KeyChoice
from app.key_choice.view import KeysCard
from app.preferences.controller import Preferences
from app.settings import Settings
from tests.support.collections import Collection
from tests.support.desk import CONTROL, NO_KEYS, SHIFT, Desk
from tests.support.widgets import button, texts

Key = Qt.Key


def opened(desk: Desk) -> KeysCard:
    """The card, opened from the settings."""
    desk.press(Key.Key_Comma, CONTROL)
    settings = desk.window.of(Preferences).card
    assert settings is not None
    desk.qtbot.mouseClick(settings.buttons["change_keys"], Qt.MouseButton.LeftButton)
    card = desk.window.of(KeyChoice).card
    assert card is not None
    assert card.isVisible()
    return card


def record(
    desk: Desk, card: KeysCard, name: str, key: Key, keys: Qt.KeyboardModifier = NO_KEYS
) -> None:
    """Select an action, press Enter, and the new key."""
    card.choose(name)
    card.table.setFocus()
    desk.press(Key.Key_Return)
    assert card.field.is_recording
    QTest.keyClick(card.field, key, keys)


@pytest.mark.slow
def test_a_changed_key_works_and_the_old_one_no_longer(reviewing: Desk) -> None:
    """It works at once; menu, palette, keys sheet and field show it."""
    card = opened(reviewing)
    record(reviewing, card, "unknown", Key.Key_Q)
    assert card.field.text() == "Q"
    reviewing.press(Key.Key_Escape)
    assert not card.isVisible()
    image_id = reviewing.choose(0)
    reviewing.press(Key.Key_U)
    assert reviewing.label_of(image_id) == ""
    reviewing.press_for_change(Key.Key_Q)
    assert reviewing.label_of(image_id) == "?"
    registry = reviewing.window.registry
    assert [each.toString() for each in registry.action("unknown").shortcuts()] == ["Q"]
    assert {row.hint for row in registry.palette_rows() if row.title == "None of the classes"} == {
        "Q"
    }
    reviewing.press(Key.Key_Question)
    (sheet,) = reviewing.window.findChildren(KeysSheet)
    assert "\nQ" in texts(sheet)
    reviewing.qtbot.mouseClick(button(sheet, "Change shortcuts"), Qt.MouseButton.LeftButton)
    assert not sheet.isVisible()
    assert card.isVisible()


@pytest.mark.slow
def test_a_key_of_another_action_is_asked_about(reviewing: Desk) -> None:
    """Cancelled, nothing changes; "use here" removes it from the other action."""
    card = opened(reviewing)
    record(reviewing, card, "unknown", Key.Key_X)
    assert card.conflict.isVisible()
    assert card.conflict.text.text() == "X is the key of “Remove label”."
    reviewing.qtbot.mouseClick(card.conflict.leave, Qt.MouseButton.LeftButton)
    assert (keys_in_use().text_of("unknown"), keys_in_use().text_of("reject")) == ("U", "X")
    record(reviewing, card, "unknown", Key.Key_X)
    reviewing.press(Key.Key_Space)  # on the focused button
    assert (keys_in_use().text_of("unknown"), keys_in_use().text_of("reject")) == ("X", "")
    assert card.conflict.isHidden()


@pytest.mark.slow
def test_the_same_key_may_mean_something_else_on_classes(reviewing: Desk) -> None:
    """Del removes images and classes, each in its place, without a conflict."""
    card = opened(reviewing)
    record(reviewing, card, "remove_class", Key.Key_X)
    assert card.conflict.isHidden()
    assert keys_in_use().text_of("reject") == "X"


@pytest.mark.slow
def test_esc_cancels_and_backspace_takes_the_key_away(reviewing: Desk) -> None:
    """The card stays open; an action without a key is marked."""
    card = opened(reviewing)
    record(reviewing, card, "unknown", Key.Key_Escape)
    assert card.isVisible()
    assert card.field.text() == "U"
    record(reviewing, card, "unknown", Key.Key_Backspace)
    assert card.field.text() == ""
    assert card.field.placeholderText() == "No key"
    reviewing.qtbot.mouseClick(card.reset, Qt.MouseButton.LeftButton)
    assert card.field.text() == "U"


@pytest.mark.slow
@pytest.mark.parametrize("key", [Key.Key_Tab, Key.Key_Down, Key.Key_PageUp])
def test_keys_that_move_through_lists_are_kept(reviewing: Desk, key: Key) -> None:
    """They are rejected with the reason."""
    card = opened(reviewing)
    record(reviewing, card, "unknown", key)
    assert "Choose another key" in card.conflict.text.text()
    assert card.conflict.use.isHidden()
    assert keys_in_use().text_of("unknown") == "U"


@pytest.mark.slow
def test_keys_of_the_window_are_recorded_not_done(reviewing: Desk) -> None:
    """Ctrl+N makes no class; a symbol is stored without Shift; both Enter keys are one."""
    card = opened(reviewing)
    record(reviewing, card, "sort_again", Key.Key_N, CONTROL | SHIFT)
    assert "New project" in card.conflict.text.text()
    record(reviewing, card, "sort_again", Key.Key_F7)
    assert keys_in_use().of("sort_again") == ("F7",)
    record(
        reviewing,
        card,
        "sort_again",
        Key.Key_Return,
        CONTROL | SHIFT | Qt.KeyboardModifier.AltModifier,
    )
    assert keys_in_use().of("sort_again") == ("Ctrl+Alt+Shift+Return", "Ctrl+Alt+Shift+Enter")


@pytest.mark.slow
def test_keys_of_a_page_are_changed_like_others(reviewing: Desk) -> None:
    """They have a group of their own."""
    card = opened(reviewing)
    record(reviewing, card, "image_view.actual_size", Key.Key_F9)
    reviewing.press(Key.Key_Escape)
    reviewing.choose(0)
    reviewing.press(Key.Key_Space)
    view = reviewing.window.workspace.image_view
    reviewing.wait(lambda: view.has_image)
    sizes = []
    for key in (Key.Key_Z, Key.Key_F9):
        reviewing.press(key)
        sizes.append(view.canvas.is_fitted)
    assert sizes == [True, False]
    assert button(view.bar, "Actual size").toolTip() == "Actual size (F9)"


@pytest.mark.slow
def test_the_filter_finds_actions_and_keys(reviewing: Desk) -> None:
    """Actions are found by words in any order, and by the key itself."""
    card = opened(reviewing)
    card.filter.setFocus()
    reviewing.qtbot.keyClicks(card.filter, "class merge")
    assert shown(card) == ["Merge class into"]
    card.filter.clear()
    reviewing.qtbot.keyClicks(card.filter, "u")
    assert "None of the classes" in shown(card)
    card.filter.clear()
    reviewing.qtbot.keyClicks(card.filter, "no such thing")
    assert shown(card) == []
    assert not card.field.isEnabled()


def shown(card: KeysCard) -> list[str]:
    """Titles of the rows in the table."""
    heads = [card.table.topLevelItem(place) for place in range(card.table.topLevelItemCount())]
    children = [
        head.child(place)
        for head in heads
        if head is not None
        for place in range(head.childCount())
    ]
    return [child.text(0) for child in children if child is not None]


@pytest.mark.slow
def test_the_prodigy_preset(reviewing: Desk) -> None:
    """A accepts, Space skips, Backspace undoes; a reassigned key ends the preset."""
    card = opened(reviewing)
    choose_preset(card, "Prodigy")
    reviewing.press(Key.Key_Escape)
    image_id = reviewing.choose(0)
    reviewing.press_for_change(Key.Key_A)
    assert reviewing.label_of(image_id) != ""
    row = reviewing.grid.currentIndex().row()
    reviewing.press(Key.Key_Space)
    assert reviewing.grid.currentIndex().row() == row + 1
    assert not reviewing.window.workspace.is_image_open
    reviewing.press_for_change(Key.Key_Backspace)
    assert reviewing.label_of(image_id) == ""
    card = opened(reviewing)
    assert card.presets.currentText() == "Prodigy"
    record(reviewing, card, "unknown", Key.Key_Q)
    assert card.presets.currentText() == "Your own keys"
    choose_preset(card, "Protoleaf")
    assert keys_in_use().chosen == {}
    assert not card.reset_all.isEnabled()


def choose_preset(card: KeysCard, title: str) -> None:
    """Choose a preset by keyboard."""
    card.presets.setFocus()
    card.presets.setCurrentIndex(card.presets.findText(title))
    card.presets.activated.emit(card.presets.currentIndex())


@pytest.mark.slow
def test_keys_stay_after_a_restart(
    desk: Desk, collection: Collection, settings: Settings, qapp: QApplication
) -> None:
    """They are stored in the settings, not in the project."""
    record(desk, opened(desk), "unknown", Key.Key_Q)
    desk.leave()
    again = Desk(desk.qtbot, settings)
    try:
        again.open(collection.project)
        again.wait(lambda: again.window.session.is_settled)
        image_id = again.choose(30)
        again.press_for_change(Key.Key_Q)
        assert again.label_of(image_id) == "?"
    finally:
        again.leave()


def test_texts_follow(desk: Desk, collection: Collection) -> None:
    """Tooltips, hints and messages name the key in use, or none."""
    desk.open(collection.project)
    desk.wait(lambda: desk.window.session.is_settled)
    header, tree = desk.window.workspace.header, desk.window.tree
    assert button(header, "Class graph").toolTip() == "Class graph (Ctrl+G)"
    keys_in_use().choose({"show_graph": ("F9",), "new_class": (), "label_as_1": ("F6",)})
    assert button(header, "Class graph").toolTip() == "Class graph (F9)"
    assert button(tree, "New class").toolTip() == "New class"
    desk.choose(30)
    assert [
        line.key for line in desk.window.inspector.findChildren(ScoreLine) if line.isVisible()
    ].count("F6") == 1
