"""Failures, results and progress in a side panel."""

import pytest
from PySide6.QtWidgets import QLabel, QProgressBar, QWidget
from pytestqt.qtbot import QtBot

from app.side_panel.cards import FailureNotice, OutcomeCard, ProgressView
from engine.events import Progress
from tests.support.sessions import LONG_MS
from tests.support.widgets import texts


def test_a_failure_is_shown_until_it_is_over(qtbot: QtBot) -> None:
    """Without a text there is no frame."""
    root = QWidget()
    qtbot.addWidget(root)
    notice = FailureNotice()
    notice.setParent(root)
    notice.show_text("the disk is full")
    assert notice.isVisibleTo(root)
    assert notice.text == "the disk is full"
    notice.show_text("")
    assert not notice.isVisibleTo(root)
    assert notice.text == ""


@pytest.fixture
def card(qtbot: QtBot) -> OutcomeCard:
    """A card with its buttons."""
    card = OutcomeCard(use="Use it", keep="Keep the old one", consequence="Both stay.")
    qtbot.addWidget(card)
    return card


def variants(card: OutcomeCard) -> tuple[str, str]:
    """Variants of the buttons: use, keep."""
    return card.use_button.property("variant"), card.keep_button.property("variant")


def test_it_says_what_there_is_to_say(card: OutcomeCard) -> None:
    """Empty lines take no space."""
    card.show_outcome(
        "It is better", "57 then 61", "On 42.", "1 was not read.", is_new_better=True, tone="accent"
    )
    assert card.text == "It is better\n57 then 61\nOn 42.\n1 was not read."
    card.show_outcome("It is ready", "No figures", "", is_new_better=True, tone="accent")
    assert card.text == "It is ready\nNo figures"
    assert texts(card).startswith("It is ready\nNo figures\n")
    assert len([label for label in card.findChildren(QLabel) if label.isVisibleTo(card)]) == 3


def test_the_better_answer_stands_out(card: OutcomeCard) -> None:
    """Only the button for the better result is primary."""
    card.show_outcome("better", "1 then 2", "", is_new_better=True, tone="accent")
    assert (variants(card), card.property("tone")) == (("primary", ""), "accent")
    card.show_outcome("worse", "2 then 1", "", is_new_better=False, tone="warning")
    assert (variants(card), card.property("tone")) == (("", "primary"), "warning")


def test_both_answers_are_reported(card: OutcomeCard, qtbot: QtBot) -> None:
    """Each by its own signal."""
    with (
        qtbot.waitSignal(card.use_requested, timeout=LONG_MS),
        qtbot.assertNotEmitted(card.keep_requested),
    ):
        card.use_button.click()
    with (
        qtbot.waitSignal(card.keep_requested, timeout=LONG_MS),
        qtbot.assertNotEmitted(card.use_requested),
    ):
        card.keep_button.click()


@pytest.fixture
def root(qtbot: QtBot) -> QWidget:
    """The parent of the views, never shown."""
    root = QWidget()
    qtbot.addWidget(root)
    return root


def view_in(root: QWidget, cancel_tip: str = "Stop; nothing is saved") -> ProgressView:
    """A view with a first step."""
    view = ProgressView(cancel_tip)
    view.setParent(root)
    view.show_step("Preparing…")
    return view


def bar_of(view: ProgressView) -> QProgressBar:
    """Its progress bar."""
    (bar,) = view.findChildren(QProgressBar)
    return bar


def test_the_bar_knows_how_far_it_is_once_somebody_tells(root: QWidget) -> None:
    """Before that it is indeterminate, also with an unknown total."""
    view = view_in(root)
    assert (view.facts, bar_of(view).maximum()) == ("Preparing…", 0)
    view.show_progress(Progress(3, 0))
    assert bar_of(view).maximum() == 0
    view.show_progress(Progress(1, 4))
    assert view.facts == "1 of 4"
    assert bar_of(view).value() / bar_of(view).maximum() == 0.25
    assert bar_of(view).accessibleName() == "1 of 4"
    view.show_waiting()
    assert (view.facts, bar_of(view).maximum()) == ("Waiting for other work to finish.", 0)


def test_a_cancel_is_answered_at_once(root: QWidget, qtbot: QtBot) -> None:
    """Later progress does not reset the text; the next task can be cancelled again."""
    view = view_in(root)
    with qtbot.waitSignal(view.cancel_requested, timeout=LONG_MS):
        view.cancel_button.click()
    view.show_progress(Progress(1, 4))
    assert view.facts == "Stopping…"
    assert not view.cancel_button.isEnabled()
    view.show_ended()
    assert not view.isVisibleTo(root)
    view.show_step("Preparing…")
    assert view.isVisibleTo(root)
    assert view.cancel_button.isEnabled()


def test_what_cannot_be_cancelled_offers_no_cancel(root: QWidget) -> None:
    """Cancel is hidden without a tooltip for it, and in a step that must not be interrupted."""
    assert not view_in(root, "").cancel_button.isVisibleTo(root)
    view = view_in(root)
    assert view.cancel_button.isVisibleTo(root)
    view.show_step("Keeping it…", can_cancel=False)
    assert not view.cancel_button.isVisibleTo(root)


def test_work_has_its_own_words_for_progress(root: QWidget) -> None:
    """Bytes are not images."""
    view = ProgressView("", lambda progress: f"{progress.done} bytes")
    view.setParent(root)
    view.show_progress(Progress(1, 4))
    assert view.facts == "1 bytes"
