"""The cards for fields and clock corrections, filled in by hand."""

from dataclasses import replace
from datetime import datetime

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.fields.clock_card import ClockCard
from app.fields.logic import ClockFacts
from app.fields.view import FieldsCard
from engine.field_renaming import Renaming, renamed_fields
from engine.image_fields import CAMERA_TRAP, FieldKind, ImageField
from engine.project.clock_corrections import ClockCorrection, ClockCorrections, ClockSource
from tests.support.sessions import recorded

SEX, STAGE, BEHAVIOUR = CAMERA_TRAP
NOON = datetime.fromisoformat("2024-05-01T12:00:00")


@pytest.fixture
def host(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    widget.resize(900, 700)
    qtbot.addWidget(widget)
    widget.show()
    return widget


def click(qtbot: QtBot, button: QAbstractButton) -> None:
    assert button.isEnabled()
    assert button.isVisible()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_fields_are_added_and_saved(host: QWidget, qtbot: QtBot) -> None:
    card = FieldsCard(host)
    saved = recorded(card.saved)
    card.show_fields([SEX])
    click(qtbot, card.preset_button)
    click(qtbot, card.add_button)
    new = card.lines[-1]
    qtbot.keyClicks(new.name, "antlers")
    new.kind.setCurrentIndex(new.kind.findData(FieldKind.YES_NO))
    assert new.choices.isHidden()
    click(qtbot, card.save_button)
    assert saved == [((*CAMERA_TRAP, ImageField("antlers", FieldKind.YES_NO)), ())]
    assert card.isHidden()


def retype(qtbot: QtBot, line: QLineEdit, text: str) -> None:
    line.selectAll()
    qtbot.keyClicks(line, text)


def test_a_field_and_a_choice_are_renamed(host: QWidget, qtbot: QtBot) -> None:
    """The card announces the renaming before it is saved; a preset is not added twice."""
    card = FieldsCard(host)
    saved = recorded(card.saved)
    card.show_fields([SEX, STAGE])
    assert card.renamed.isHidden()
    retype(qtbot, card.lines[0].name, "Geschlecht ")
    retype(qtbot, card.lines[0].choices, "hen, male, unknown, chick")
    assert card.renamed.isVisible()
    assert card.renamed.text().replace("\u200b", "").replace("\N{NO-BREAK SPACE}", " ") == (
        "Renamed with their values: sex → Geschlecht, female → hen"
    )
    click(qtbot, card.preset_button)
    click(qtbot, card.save_button)
    names = Renaming("sex", "Geschlecht"), Renaming("sex", "hen", "female")
    (gender,) = renamed_fields([SEX], names)
    gender = replace(gender, choices=("hen", "male", "unknown", "chick"))
    assert saved == [((gender, STAGE, BEHAVIOUR), names)]


@pytest.mark.parametrize(
    ("name", "reason"), [("life stage", "occurs twice"), ("count", "called"), ("", "cannot be")]
)
def test_a_name_that_is_taken_is_refused(
    host: QWidget, qtbot: QtBot, name: str, reason: str
) -> None:
    card = FieldsCard(host)
    saved = recorded(card.saved)
    card.show_fields([SEX, STAGE])
    card.lines[0].name.clear()
    qtbot.keyClicks(card.lines[0].name, name)
    click(qtbot, card.save_button)
    assert reason in card.refusal.text()
    assert (saved, card.isVisible()) == ([], True)
    qtbot.keyClicks(card.lines[0].name, "x")
    assert card.refusal.isHidden()


def test_a_field_is_removed(host: QWidget, qtbot: QtBot) -> None:
    card = FieldsCard(host)
    saved = recorded(card.saved)
    card.show_fields([SEX, STAGE])
    card.lines[0].removed.emit()
    click(qtbot, card.save_button)
    assert saved == [((STAGE,), ())]


def test_the_card_tells_what_is_not_clear(host: QWidget, qtbot: QtBot) -> None:
    card = FieldsCard(host)
    saved = recorded(card.saved)
    card.show_fields([])
    click(qtbot, card.add_button)
    qtbot.keyClicks(card.lines[0].name, "date")
    qtbot.keyClicks(card.lines[0].choices, "early, late")
    click(qtbot, card.save_button)
    assert 'cannot be called "date"' in card.refusal.text()
    assert (saved, card.isVisible()) == ([], True)


def test_a_line_that_was_left_empty_is_none(host: QWidget, qtbot: QtBot) -> None:
    card = FieldsCard(host)
    saved = recorded(card.saved)
    card.show_fields([SEX])
    click(qtbot, card.add_button)
    click(qtbot, card.save_button)
    assert saved == [((SEX,), ())]


@pytest.fixture
def clocks(host: QWidget) -> ClockCard:
    card = ClockCard(host)
    sources = [
        ClockSource("a", "Trap", "", 12, NOON, NOON),
        ClockSource("b", "Trap", "", 3, NOON, NOON),
    ]
    corrections = ClockCorrections([ClockCorrection("b", seconds=60, zone_minutes=120)])
    card.show_facts(ClockFacts(sources, corrections, "a", "Trap", "", NOON))
    return card


def test_an_offset_is_typed(clocks: ClockCard, qtbot: QtBot) -> None:
    corrected = recorded(clocks.corrected)
    assert not clocks.correct_button.isEnabled()
    qtbot.keyClicks(clocks.offset, "+1h02m")
    assert clocks.true_time.text() == "2024-05-01 13:02:00"
    assert clocks.preview.text().startswith("12 images")
    click(qtbot, clocks.correct_button)
    assert corrected == [(ClockCorrection("a", seconds=3_720),)]
    assert clocks.isHidden()


def test_the_true_time_is_typed(clocks: ClockCard, qtbot: QtBot) -> None:
    clocks.true_time.clear()
    qtbot.keyClicks(clocks.true_time, "2024-05-01 11:59:30")
    assert clocks.offset.text() == "-30s"
    assert clocks.correct_button.isEnabled()


def test_an_offset_that_is_none(clocks: ClockCard, qtbot: QtBot) -> None:
    qtbot.keyClicks(clocks.offset, "late")
    assert "not a clock offset" in clocks.refusal.text()
    assert not clocks.correct_button.isEnabled()


def test_a_correction_is_shown_and_removed(clocks: ClockCard, qtbot: QtBot) -> None:
    corrected = recorded(clocks.corrected)
    assert clocks.remove_button.isHidden()
    clocks.target.setFocus()
    while not clocks.target.currentText().endswith(" b"):
        qtbot.keyClick(clocks.target, Qt.Key.Key_Down)
    assert (clocks.offset.text(), clocks.zone.currentData()) == ("+1m", 120)
    click(qtbot, clocks.remove_button)
    assert corrected == [(ClockCorrection("b"),)]


def test_without_times_nothing_can_be_corrected(host: QWidget) -> None:
    card = ClockCard(host)
    card.show_facts(ClockFacts([], ClockCorrections()))
    assert "No photo" in card.preview.text()
    assert not card.correct_button.isEnabled()
