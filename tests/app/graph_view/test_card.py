"""The card of a class at every scale with a card."""

from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter
from PySide6.QtWidgets import QApplication

from app.canvas.painting import text_font
from app.graph_view.card import CardLook, Detail, cells, detail_at, footer_of, lines_of, paint_card
from app.graph_view.drawing import CARD_HEIGHT, CARD_WIDTH
from app.graph_view.framing import LARGEST_STEP, SMALLEST_STEP, scale_of
from app.theme import set_scheme
from app.theme.tokens import tokens
from engine.file_parts import ImageSource
from tests.support.contrast import contrast

NAMED_STEPS = [
    step
    for step in range(SMALLEST_STEP, LARGEST_STEP + 1)
    if detail_at(scale_of(step)) is Detail.NAMED
]


@pytest.mark.parametrize("step", NAMED_STEPS)
def test_no_letter_is_cut_and_no_line_lies_on_another(qapp: QApplication, step: int) -> None:
    """Text fits the card, from the smallest card with a name to the largest."""
    scale = scale_of(step)
    rect = QRectF(10, 20, CARD_WIDTH * scale, CARD_HEIGHT * scale)
    lines = lines_of(rect)
    sizes = tokens().sizes
    for line, size in ((lines.name, sizes.body), (lines.caption, sizes.caption)):
        metrics = QFontMetricsF(text_font(size * scale))
        assert line.height() >= metrics.tightBoundingRect("ÅÄgjpq").height()
    parts = [lines.picture, lines.name, lines.caption, lines.coverage]
    for upper, lower in pairwise(parts):
        assert upper.bottom() <= lower.top() + 0.01
    assert all(rect.contains(part) for part in parts)
    assert lines.picture.height() > rect.height() / 3
    assert footer_of(rect) == lines.caption


@pytest.mark.parametrize("count", range(1, 7))
def test_faces_fill_their_room_and_touch_nowhere(count: int) -> None:
    """Any number of pictures fills the area without overlap."""
    room = QRectF(0, 0, 156, 86)
    found = cells(room, count)
    assert len(found) == count
    assert all(room.adjusted(-0.01, -0.01, 0.01, 0.01).contains(cell) for cell in found)
    assert not any(
        one.intersects(other) for place, one in enumerate(found) for other in found[:place]
    )
    assert sum(cell.width() * cell.height() for cell in found) > 0.9 * room.width() * room.height()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_name_and_counts_can_be_read(qapp: QApplication, scheme: str) -> None:
    """Contrast of 4.5 : 1 and more on the card's background, in both colour schemes."""
    set_scheme(scheme)
    colours = tokens().colours
    for ink in (colours.text, colours.text_muted):
        assert contrast(ink, colours.surface) >= 4.5
    set_scheme("system")


def test_pictures_are_asked_for_once_each_and_a_class_without_any_has_its_colour(
    qapp: QApplication,
) -> None:
    """The tint of a card leaves the colour of its branch unchanged."""
    asked: list[ImageSource] = []
    image = QImage(200, 180, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    rect = QRectF(0, 0, CARD_WIDTH, CARD_HEIGHT)
    faces = (ImageSource(Path("a.png")), ImageSource(Path("b.png")))
    paint_card(
        painter,
        rect,
        CardLook("Oak", "2 images", 3, faces=faces),
        lambda path, _side: asked.append(path),
    )
    assert asked == list(faces)
    bare = CardLook("Elm", "No images yet", 3)
    tint = QColor(bare.tint)
    paint_card(painter, rect, bare, lambda _path, _side: None)
    painter.end()
    assert bare.tint == tint
    assert tint.alphaF() == 1.0
