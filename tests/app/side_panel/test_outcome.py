"""The end of a piece of work, in a side panel."""

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.side_panel.outcome import OutcomeCard
from tests.support.sessions import LONG_MS
from tests.support.widgets import texts


@pytest.fixture
def card(qtbot: QtBot) -> OutcomeCard:
    """A card with its answers."""
    card = OutcomeCard(use="Use it", keep="Keep the old one", consequence="Both stay.")
    qtbot.addWidget(card)
    return card


def variants(card: OutcomeCard) -> tuple[str, str]:
    """How the answers look: use, keep."""
    return card.use_button.property("variant"), card.keep_button.property("variant")


def test_it_says_what_there_is_to_say(card: OutcomeCard) -> None:
    """Lines that are empty take no room."""
    card.show_outcome("It is better", "57 then 61", "On 42.", "1 was not read.", is_new_better=True, tone="accent")
    assert card.text == "It is better\n57 then 61\nOn 42.\n1 was not read."
    card.show_outcome("It is ready", "No figures", "", is_new_better=True, tone="accent")
    assert card.text == "It is ready\nNo figures"
    assert texts(card).startswith("It is ready\nNo figures\n")
    assert len([label for label in card.findChildren(QLabel) if label.isVisibleTo(card)]) == 3


def test_the_better_answer_stands_out(card: OutcomeCard) -> None:
    """And only that one."""
    card.show_outcome("better", "1 then 2", "", is_new_better=True, tone="accent")
    assert (variants(card), card.property("tone")) == (("primary", ""), "accent")
    card.show_outcome("worse", "2 then 1", "", is_new_better=False, tone="warning")
    assert (variants(card), card.property("tone")) == (("", "primary"), "warning")


def test_both_answers_are_told(card: OutcomeCard, qtbot: QtBot) -> None:
    """Each by its own signal."""
    with qtbot.waitSignal(card.use_requested, timeout=LONG_MS), qtbot.assertNotEmitted(card.keep_requested):
        card.use_button.click()
    with qtbot.waitSignal(card.keep_requested, timeout=LONG_MS), qtbot.assertNotEmitted(card.use_requested):
        card.keep_button.click()
