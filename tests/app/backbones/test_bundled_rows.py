"""Bundled backbones in the list: purpose, speed on this computer, and origin."""

import pytest
from PySide6.QtWidgets import QLabel

from app.backbones.controller import Backbones
from app.backbones.view import RowCard
from engine.collection.models import find_model
from engine.embedding.messages import MeasuredRates, PhotoRate
from tests.support.backbone_panel import panel_for
from tests.support.clipping import clipped
from tests.support.desk import Desk
from tests.support.offers import offer_two
from tests.support.scripted_workers import Player

FAST = find_model().name


def words(card: RowCard) -> list[str]:
    """All visible text of a card."""
    return [label.text() for label in card.findChildren(QLabel) if label.isVisibleTo(card)]


@pytest.mark.slow
@pytest.mark.parametrize("is_ready", [True, False], ids=["ready", "to be prepared"])
def test_bundled_backbones_say_what_they_are_for(
    reviewing: Desk, tinyleaf: str, is_ready: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Badge, images per second here, licence and origin; and the preparation if one is needed."""
    name = tinyleaf if is_ready else "accurate-one"
    offer_two(monkeypatch, is_ready=is_ready, name=name)
    rates = {FAST: PhotoRate(400.0, 400.0), tinyleaf: PhotoRate(50.0, 200.0)}
    reviewing.window.of(Backbones).jobs.measuring.make_job = player = Player([MeasuredRates(rates)])
    panel = panel_for(reviewing)
    reviewing.wait(
        lambda: any(
            "200\u00a0images/s on this computer" in text for text in words(panel.computer.cards[0])
        )
    )
    assert [card.name for _file, card in player.requests[0].backbones] == [FAST, tinyleaf][
        : 1 + is_ready
    ]
    fast, accurate = (panel.computer.card_of(name) for name in (FAST, name))
    assert "Fast" in words(fast)
    origin = (
        "Ships with Protoleaf  ·  Trained on Tiny ImageNet  ·  Licence: The weights are ours, under"
    )
    assert any(text.startswith(origin) for text in words(fast))
    assert "Accurate" in words(accurate)
    rate = (
        "  ·  40\u00a0images/s on this computer"
        if is_ready
        else "  ·  about 80\u00a0images/s on this computer"
    )
    assert any(rate in text for text in words(accurate))
    assert any("First use: about a minute of setup" in text for text in words(accurate)) != is_ready
    reviewing.wait(lambda: not clipped(panel.computer))
