"""Painted cards are cached until something about them changes."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QColor, QPixmap
from pytestqt.qtbot import QtBot

from app.image_grid.card import FinishedCards, Look, paint_card
from app.image_grid.card_words import Card, Mark
from app.image_grid.geometry import MARGIN
from app.image_grid.model import ImageGridModel
from app.image_grid.view import ImageGrid
from app.images.pixels import on_pixels
from app.theme import set_scheme
from engine.file_parts import ImageSource
from tests.support.states import many_pictures

PLAIN = Look(is_selected=False, is_current=False, is_hovered=False)
SIZE = QSize(100, 140)
CARD_BYTES = 100 * 140 * 4


def card(image_id: int) -> Card:
    """A card with a prediction."""
    return Card(image_id, ImageSource(Path(f"{image_id}.png")), Mark.SURE, "Gull", "", "97%")


@pytest.fixture
def painted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The images whose cards were painted, not copied."""
    images: list[int] = []

    def counting(*arguments: object) -> None:
        each = arguments[2]
        assert isinstance(each, Card)
        images.append(each.image_id)
        paint_card(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr("app.image_grid.card.paint_card", counting)
    return images


@pytest.fixture
def finished(qapp: object) -> FinishedCards:
    """A cache for three cards, on a white background."""
    finished = FinishedCards(3 * CARD_BYTES)
    finished.apply_look(QColor("white"), 1.0)
    return finished


def test_a_card_is_painted_once(finished: FinishedCards, painted: list[int]) -> None:
    """A card is painted again only when its text, picture or look changes."""
    picture = QPixmap(40, 40)
    picture.fill(QColor("red"))
    for shown in (None, picture):
        for look in (PLAIN, Look(is_selected=True, is_current=True, is_hovered=False)):
            for _ in range(3):
                finished.of(card(1), shown, look, SIZE)
    assert painted == [1] * 4


def pixels(pixmap: QPixmap) -> bytes:
    """The bytes of all pixels."""
    return bytes(pixmap.toImage().constBits())


@pytest.mark.parametrize("is_missing", [False, True])
def test_other_words_leave_the_picture(is_missing: bool, finished: FinishedCards) -> None:
    """A card with another prediction equals one painted from scratch, also for a missing file."""
    picture = QPixmap(40, 40)
    picture.fill(QColor("red"))
    other = replace(card(1), title="Kittiwake", score="55%", is_missing=is_missing)
    before = pixels(finished.of(card(1), picture, PLAIN, SIZE))
    after = pixels(finished.of(other, picture, PLAIN, SIZE))
    assert finished.used_bytes == CARD_BYTES
    fresh = FinishedCards()
    fresh.apply_look(QColor("white"), 1.0)
    assert after == pixels(fresh.of(other, picture, PLAIN, SIZE)) != before


@pytest.mark.parametrize("ratio", [1.0, 1.25, 1.5, 2.0])
def test_cards_lie_on_the_pixels_of_the_screen(ratio: float) -> None:
    """Aligned to device pixels at any position, so that text stays sharp."""
    place = on_pixels(QPoint(199, 227), ratio)
    assert (place.x() * ratio, place.y() * ratio) == (round(199 * ratio), round(227 * ratio))


def test_memory_is_bounded(finished: FinishedCards, painted: list[int]) -> None:
    """Least recently used cards are evicted."""
    for image_id in (1, 2, 3, 1, 4, 1, 2):
        finished.of(card(image_id), None, PLAIN, SIZE)
        assert finished.used_bytes <= 3 * CARD_BYTES
    assert painted == [1, 2, 3, 4, 2]


def test_another_screen_paints_anew(finished: FinishedCards, painted: list[int]) -> None:
    """At 200% each card is painted with twice the pixels."""
    finished.of(card(1), None, PLAIN, SIZE)
    finished.apply_look(QColor("white"), 2.0)
    assert finished.of(card(1), None, PLAIN, SIZE).size() == SIZE * 2
    assert painted == [1, 1]


def test_a_key_paints_only_the_cards_that_it_concerns(
    qtbot: QtBot, grid: ImageGrid, model: ImageGridModel, painted: list[int]
) -> None:
    """After the first frame a repaint paints none, an arrow key the old and new current card."""
    model.set_state(many_pictures(300))
    grid.viewport().repaint()
    assert len(painted) >= 9
    painted.clear()
    grid.viewport().repaint()
    assert painted == []
    qtbot.keyClick(grid, Qt.Key.Key_Right)
    grid.viewport().repaint()
    assert sorted(painted) == [1, 2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_cards_stand_on_the_ground_of_the_grid(
    scheme: str, grid: ImageGrid, model: ImageGridModel
) -> None:
    """No edge is visible around a card, also after a change of colour scheme."""
    model.set_state(many_pictures(30))
    grid.grab()
    set_scheme(scheme)
    image = grid.viewport().grab().toImage()
    corner = grid.visualRect(model.index(2, 0)).bottomRight() - QPoint(1, 1)
    assert image.pixelColor(corner) == image.pixelColor(MARGIN // 2, MARGIN // 2)
    set_scheme("system")
