"""Captions, counts and badges are at the picture, for any aspect ratio."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QColor, QPixmap
from pytestqt.qtbot import QtBot

from app.image_grid.card import CardPlace, chip_rect, picture_rect
from app.image_grid.card_words import Card, Mark
from app.image_grid.geometry import CAPTION_HEIGHT, LARGEST_SIDE, MARGIN, SMALLEST_SIDE
from app.image_grid.model import ImageGridModel
from app.image_grid.view import ImageGrid
from app.images.thumbnails import Thumbnails
from engine.collection.state import CollectionState
from engine.file_parts import ImageSource
from tests.support.images import write_jpeg
from tests.support.sessions import LONG_MS
from tests.support.states import many_pictures

WIDE, UPRIGHT, SQUARE = (1600, 900), (900, 1200), (500, 500)


def photos(folder: Path, sides: tuple[int, int], count: int = 12) -> CollectionState:
    """Pictures of one aspect ratio."""
    folder.mkdir()
    for number in range(1, count + 1):
        write_jpeg(
            folder / f"{number}.png", seed=number, width=sides[0] // 10, height=sides[1] // 10
        )
    return replace(many_pictures(count), folder=folder)


Show = Callable[[tuple[int, int]], None]


@pytest.fixture
def show(
    qtbot: QtBot, grid: ImageGrid, model: ImageGridModel, thumbnails: Thumbnails, tmp_path: Path
) -> Show:
    """Show pictures of one aspect ratio, and wait for their thumbnails."""

    def shown(sides: tuple[int, int]) -> None:
        model.set_state(photos(tmp_path / "photos", sides))
        qtbot.waitUntil(
            lambda: thumbnails.shape.is_decided and not thumbnails.is_busy, timeout=LONG_MS
        )

    return shown


def inner_shape(grid: ImageGrid, row: int) -> float:
    """Height of a card's picture area as a share of its width."""
    frame = CardPlace(grid.visualRect(grid.model().index(row, 0)), CAPTION_HEIGHT).frame
    return frame.height() / frame.width()


@pytest.mark.parametrize(("sides", "shape"), [(WIDE, 9 / 16), (UPRIGHT, 4 / 3), (SQUARE, 1)])
@pytest.mark.parametrize("side", [SMALLEST_SIDE, 168, LARGEST_SIDE])
def test_b10_cards_have_the_shape_of_their_pictures_at_every_size(
    grid: ImageGrid, show: Show, sides: tuple[int, int], shape: float, side: int
) -> None:
    """There is no gap between a picture and its caption."""
    grid.set_thumbnail_side(side)
    show(sides)
    assert inner_shape(grid, 0) == pytest.approx(shape, abs=0.02)


def test_b10_the_caption_of_a_wide_picture_touches_it(
    grid: ImageGrid, model: ImageGridModel, show: Show
) -> None:
    """By screen pixels: the picture reaches the line above its caption."""
    show(WIDE)
    place = CardPlace(grid.visualRect(model.index(1)), CAPTION_HEIGHT)
    screen = grid.viewport().grab().toImage()
    ground = grid.viewport().palette().color(grid.viewport().backgroundRole()).rgb()
    column = [
        screen.pixel(place.frame.center().x(), y)
        for y in (place.frame.top() + 2, place.frame.bottom() - 2)
    ]
    assert ground not in column
    assert place.caption.top() - place.frame.bottom() <= 4


def test_b10_other_cards_change_their_shape_around_the_card_on_top(
    qtbot: QtBot, grid: ImageGrid, model: ImageGridModel, tmp_path: Path
) -> None:
    """The first visible card stays when the thumbnails arrive after scrolling."""
    model.set_state(photos(tmp_path / "photos", WIDE, 90))
    grid.verticalScrollBar().setValue(grid.visualRect(model.index(30)).top() - MARGIN)
    assert grid.visualRect(model.index(30)).top() == MARGIN
    qtbot.waitUntil(lambda: inner_shape(grid, 30) < 0.6, timeout=LONG_MS)
    assert grid.visualRect(model.index(30)).top() == MARGIN


def card(chip: str, stack: int = 0) -> Card:
    return Card(1, ImageSource(Path("1.png")), Mark.SURE, "Gull", "", "97%", chip=chip, stack=stack)


@pytest.mark.parametrize("sides", [(160, 90), (90, 160), (100, 100), (300, 40)])
@pytest.mark.parametrize("stack", [0, 7])
def test_b10_the_count_lies_on_the_picture(
    qapp: object, sides: tuple[int, int], stack: int
) -> None:
    """The count is in the picture's upper corner, whatever its aspect ratio; inside the frame."""
    picture = QPixmap(*sides)
    picture.fill(QColor("red"))
    place = CardPlace(QRect(QPoint(40, 60), QPoint(219, 60 + 180 + CAPTION_HEIGHT)), CAPTION_HEIGHT)
    shown = card("×7", stack)  # noqa: RUF001 (multiplication sign)
    target, chip = picture_rect(place, shown, picture).toRect(), chip_rect(place, shown, picture)
    assert place.frame.contains(chip)
    assert target.contains(chip.topRight())
    assert abs(chip.top() - target.top()) <= 6
    assert target.right() - chip.right() <= 6
