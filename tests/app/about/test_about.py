"""Where the program and its weights come from, told in the Help menu."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from app.about.view import AboutCard
from engine import __version__
from engine.collection.models import find_model
from tests.support.clipping import clipped
from tests.support.desk import CONTROL, Desk


def opened(desk: Desk) -> AboutCard:
    """The card, found by its name like any command, with all that it tells."""
    desk.press(Qt.Key.Key_K, CONTROL)
    desk.type_into_palette("about prot")
    desk.press(Qt.Key.Key_Return)
    card = desk.window.about.card
    assert card is not None
    assert card.isVisible()
    desk.wait(lambda: find_model().name in words(card))
    return card


def words(card: AboutCard) -> str:
    """All that stands on it."""
    return "\n".join(label.text() for label in card.findChildren(QLabel) if label.isVisibleTo(card))


def test_version_origin_and_licence_are_told(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each bundled backbone, and the notice word for word; Esc closes."""
    notice = tmp_path / "NOTICE"
    notice.write_text("Weights: somebody, 2020\n", encoding="utf-8")
    monkeypatch.setattr("app.about.logic.notice_path", lambda: notice)
    card = opened(desk)
    model = find_model().card
    for fact in (__version__, "Fast", model.training_data, model.licence, "Weights: somebody, 2020"):
        assert fact in words(card)
    assert not clipped(card)
    desk.press(Qt.Key.Key_Escape)
    assert not card.isVisible()


def test_a_missing_notice_hides_nothing_else(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cards of the backbones say origin and licence, too; a second look tells it once."""
    monkeypatch.setattr("app.about.logic.notice_path", lambda: tmp_path / "nowhere")
    opened(desk)
    desk.press(Qt.Key.Key_Escape)
    assert words(opened(desk)).count(find_model().card.licence) == 1
