"""Help > About: origin and licences of the program and its weights."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from app.about.controller import About
from app.about.logic import parts_of
from app.about.view import AboutCard
from engine import __version__
from engine.collection.models import find_model
from tests.support.clipping import clipped
from tests.support.desk import CONTROL, Desk


def opened(desk: Desk, fact: str) -> AboutCard:
    """Open the card from the command palette and wait until it shows a fact."""
    desk.press(Qt.Key.Key_K, CONTROL)
    desk.type_into_palette("about prot")
    desk.press(Qt.Key.Key_Return)
    card = desk.window.of(About).card
    assert card is not None
    assert card.isVisible()
    desk.wait(lambda: fact in words(card))
    return card


def words(card: AboutCard) -> str:
    """All visible text of the card."""
    return "\n".join(label.text() for label in card.findChildren(QLabel) if label.isVisibleTo(card))


def test_version_origin_and_licence_are_shown(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The card shows the file NOTICE; Esc closes it."""
    notice = tmp_path / "NOTICE"
    notice.write_text(
        "Works of others.\n\nA network\n    Weights by\n    somebody, 2020.\n", encoding="utf-8"
    )
    monkeypatch.setattr("app.about.logic.notice_path", lambda: notice)
    card = opened(desk, "somebody")
    for fact in (f"Version {__version__}", "A network", "Weights by somebody, 2020."):
        assert fact in words(card)
    desk.wait(lambda: not clipped(card))
    desk.press(Qt.Key.Key_Escape)
    assert not card.isVisible()


@pytest.mark.slow
def test_without_the_file_the_cards_of_the_backbones_tell_it(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without NOTICE, licences of the model cards are shown, once each."""
    monkeypatch.setattr("app.about.logic.notice_path", lambda: tmp_path / "nowhere")
    licence = find_model().card.licence
    opened(desk, licence)
    desk.press(Qt.Key.Key_Escape)
    assert words(opened(desk, licence)).count(licence) == 1


@pytest.mark.slow
def test_a_notice_flows() -> None:
    """Lines of NOTICE are joined, so that the card wraps them to its width."""
    notice = (
        "All of\nthis.\n\nA network\n    Made by\n    somebody.\n"
        "    Licence: https://example.org/a\n    Changed\n"
    )
    assert parts_of(notice) == (
        ("A network", ("Made by somebody.", "Licence: https://example.org/a", "Changed")),
    )
