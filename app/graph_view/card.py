"""Paints the card of a class: thumbnails, name and counts; thumbnails and name if small."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QPainter,
    QPainterPath,
    QPen,
    QPixmap,
    QTextLayout,
    QTextOption,
)

from app.canvas.painting import text_font
from app.graph_view.drawing import CARD_WIDTH
from app.mirroring import isolated, placed
from app.theme.class_colours import blended, class_colour
from app.theme.icons import icon_pixmap
from app.theme.tokens import tokens
from app.wording import percent
from engine.file_parts import ImageSource

# Lengths in drawing units: logical pixels of a card at full size.
PADDING = 6.0
GAP = 3.0
NAME_HEIGHT = 20.0
CAPTION_HEIGHT = 16.0
COVERAGE_TOP = 134.0
COVERAGE_HEIGHT = 3.0
SHEETS = 6.0  # visible edges below a collapsed branch
RADIUS = 10.0
PICTURE_RADIUS = 6.0

# Logical pixels on the screen.
# Card width from which on name and counts are shown; below, they would be unreadable.
NAMED_FROM = 100.0
# Card width from which on thumbnails and a short name are shown; below, classes are dots.
FACES_FROM = 40.0
LEAST_LINE = 14.0  # height of a line of the smallest text
WASH = 0.16  # opacity of the class colour on a card without thumbnails
_DOT = 3.5
_MARK = 13.0
_DOT_ROOM = 6.0  # from the dot to the name
_MOST_LINES = 3  # of a name
_MORE_LINES = 0.8  # height of further lines of a name, relative to the first
_ICON = 24.0
_DEEPEST = "stop"
_GAP = 2.0  # between thumbnails of a card
_FACES_IN_ROW = 3
_MOST_FACES = 6
_MIDDLE = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft

Pictures = Callable[[ImageSource, int], QPixmap | None]
"""Thumbnail by source and side in logical pixels; None while loading."""


class Detail(IntEnum):
    """Level of detail of a class."""

    DOT = 0
    FACES = 1
    NAMED = 2


@dataclass(frozen=True)
class CardLook:
    """The content of a card."""

    name: str
    counts: str  # one line, such as "340 images"
    class_id: int
    more: str = ""  # appended if there is room, such as " · 5 shots"
    faces: tuple[ImageSource, ...] = ()  # images of its shots, or of those below it
    hidden: int = 0  # number of classes folded into it
    is_open: bool = False  # whether its children are drawn
    has_shots: bool = False  # whether it or a descendant has shots
    has_more_parents: bool = False  # whether it has several parents
    # Share of its images with a decided class; None without images.
    decided: float | None = None
    colour: str = ""  # set by a user; "" for the default
    bar: float | None = None  # minimum confidence set for the class itself
    is_deepest: bool = False  # whether predictions stop here

    @property
    def tint(self) -> QColor:
        return class_colour(self.class_id, self.colour)


def detail_at(scale: float) -> Detail:
    width = CARD_WIDTH * scale
    return (
        Detail.NAMED if width >= NAMED_FROM else Detail.FACES if width >= FACES_FROM else Detail.DOT
    )


def paint_card(painter: QPainter, rect: QRectF, look: CardLook, pictures: Pictures) -> None:
    scale = rect.width() / CARD_WIDTH
    body = _paint_body(painter, rect, look, scale)
    if rect.width() < NAMED_FROM:
        _paint_small(painter, body, look, pictures, scale)
        return
    lines = lines_of(rect, name_lines=len(name_lines(look, lines_of(rect).name.width(), scale)))
    paint_faces(painter, lines.picture, look, pictures, PICTURE_RADIUS * scale)
    _paint_name(painter, lines.name, look, scale)
    _paint_caption(painter, lines.caption, look, scale)
    if look.decided is not None:
        _paint_coverage(painter, lines.coverage, look.decided)


def _paint_small(
    painter: QPainter, body: QRectF, look: CardLook, pictures: Pictures, scale: float
) -> None:
    inset = max(2.0, PADDING * scale)
    room = body.adjusted(inset, inset, -inset, -inset)
    font = text_font(0.0)
    height = QFontMetricsF(font).height()
    line = QRectF(room.left(), room.bottom() - height + 1, room.width(), height)
    _write(
        painter, line, look.name, font, tokens().colours.text, flags=Qt.AlignmentFlag.AlignCenter
    )
    room.setBottom(line.top() - 1)
    paint_faces(painter, room, look, pictures, max(2.0, PICTURE_RADIUS * scale))


@dataclass(frozen=True)
class CardLines:
    """Rectangles of the parts of a card, in logical pixels."""

    picture: QRectF
    name: QRectF
    caption: QRectF
    coverage: QRectF


def lines_of(rect: QRectF, *, name_lines: int = 1) -> CardLines:
    """Lay out a card; text keeps a readable size and the picture shrinks."""
    scale = rect.width() / CARD_WIDTH
    left, width = rect.left() + (PADDING + 2) * scale, rect.width() - 2 * (PADDING + 2) * scale
    coverage = QRectF(
        left, rect.top() + COVERAGE_TOP * scale, width, max(2.0, COVERAGE_HEIGHT * scale)
    )
    caption_height = max(CAPTION_HEIGHT * scale, LEAST_LINE)
    caption = QRectF(left, coverage.top() - GAP * scale - caption_height, width, caption_height)
    name_height = max(NAME_HEIGHT * scale, LEAST_LINE) * (1.0 + _MORE_LINES * (name_lines - 1))
    name = QRectF(left, caption.top() - name_height, width, name_height)
    inset, top = PADDING * scale, rect.top() + PADDING * scale
    picture = QRectF(
        rect.left() + inset, top, rect.width() - 2 * inset, name.top() - top - GAP * scale
    )
    return CardLines(picture, name, caption, coverage)


def footer_of(rect: QRectF) -> QRectF:
    """The line that expands and collapses a branch."""
    return lines_of(rect).caption


def _paint_body(painter: QPainter, rect: QRectF, look: CardLook, scale: float) -> QRectF:
    colours, radius = tokens().colours, max(3.0, RADIUS * scale)
    painter.setPen(QPen(QColor(colours.border), 1))
    body = rect.adjusted(0.5, 0.5, -0.5, -0.5)
    if look.hidden:
        depth = max(2.0, SHEETS * scale)
        for share in (1.0, 0.5):
            inset = depth * share * 1.2
            painter.setBrush(QColor(colours.sunken))
            sheet = body.adjusted(inset, 2 * radius, -inset, -depth * (1 - share))
            painter.drawRoundedRect(sheet, radius, radius)
        body = body.adjusted(0, 0, 0, -depth)
    painter.setBrush(QColor(colours.surface))
    painter.drawRoundedRect(body, radius, radius)
    return body


def paint_faces(
    painter: QPainter, room: QRectF, look: CardLook, pictures: Pictures, radius: float
) -> None:
    clip = QPainterPath()
    clip.addRoundedRect(room, radius, radius)
    painter.save()
    painter.setClipPath(clip)
    painter.fillRect(room, _ground_of_faces(look))
    if not look.faces:
        _paint_no_face(painter, room, look)
    for cell, path in zip(cells(room, len(look.faces)), look.faces, strict=False):
        side = 64 if cell.width() < 48 else 128 if cell.width() < 100 else 192  # noqa: PLR2004 (three cached sizes)
        if (picture := pictures(path, side)) is not None:
            painter.drawPixmap(placed(cell, room), picture, covering(picture, cell))
    painter.restore()


def cells(room: QRectF, count: int) -> Sequence[QRectF]:
    """Cells of the thumbnails: up to three side by side, more in two rows."""
    count = min(count, _MOST_FACES)
    if count == 0:
        return []
    rows = [count] if count <= _FACES_IN_ROW else [(count + 1) // 2, count // 2]
    height = (room.height() - _GAP * (len(rows) - 1)) / len(rows)
    found = []
    for row, columns in enumerate(rows):
        width = (room.width() - _GAP * (columns - 1)) / columns
        top = room.top() + row * (height + _GAP)
        found += [
            QRectF(room.left() + place * (width + _GAP), top, width, height)
            for place in range(columns)
        ]
    return found


def covering(picture: QPixmap, cell: QRectF) -> QRectF:
    """The centre part of a picture with the aspect ratio of its cell."""
    scale = max(cell.width() / picture.width(), cell.height() / picture.height())
    width, height = cell.width() / scale, cell.height() / scale
    return QRectF((picture.width() - width) / 2, (picture.height() - height) / 2, width, height)


def _ground_of_faces(look: CardLook) -> QColor:
    """Background colour of the thumbnails, or the class colour blended with it if there are none.

    Blended here, as a translucent fill with a clip path takes 2 ms.
    """
    ground, tint = QColor(tokens().colours.sunken), look.tint
    if look.faces:
        return ground
    return blended(ground, tint, WASH)


def _paint_no_face(painter: QPainter, room: QRectF, look: CardLook) -> None:
    if room.width() >= NAMED_FROM / 2 and not look.has_shots and not look.hidden:
        side = min(_ICON, room.height() / 2)
        ratio = painter.device().devicePixelRatio()
        place = room.center() - QPointF(side / 2, side / 2)
        painter.drawPixmap(
            place, icon_pixmap("images_add", round(side), colour="text_muted", ratio=ratio)
        )


def _paint_name(painter: QPainter, line: QRectF, look: CardLook, scale: float) -> None:
    radius, first = _dot_radius(scale), QRectF(line)
    first.setHeight(min(line.height(), max(NAME_HEIGHT * scale, LEAST_LINE)))
    dot = QRectF(first.left() + 1, first.center().y() - radius, 2 * radius, 2 * radius)
    centre = placed(dot, first).center()
    if look.has_shots:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(look.tint)
        painter.drawEllipse(centre, radius, radius)
    else:
        painter.setPen(QPen(look.tint, 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(centre, radius - 0.5, radius - 0.5)
    room = first.adjusted(2 * radius + _DOT_ROOM, 0, 0, 0)
    _paint_marks(painter, QRectF(room), first, look, scale)
    font = text_font(tokens().sizes.body * scale, is_strong=True)
    for text in name_lines(look, line.width(), scale):
        _write(painter, placed(room, line), text, font, tokens().colours.text)
        room.setRight(line.right())
        room.translate(0, _MORE_LINES * first.height())


def name_lines(look: CardLook, width: float, scale: float) -> Sequence[str]:
    """The lines of a wrapped class name; the last one is elided when painted."""
    font = text_font(tokens().sizes.body * scale, is_strong=True)
    room = width - 2 * _dot_radius(scale) - _DOT_ROOM
    layout = QTextLayout(look.name, font)
    layout.setTextOption(_wrapped())
    layout.beginLayout()
    starts = []
    for number in range(_MOST_LINES):
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(max(room - (0.0 if number else _width_of_marks(look, scale)), 1.0))
        starts.append(line.textStart())
    layout.endLayout()
    return [look.name[start:end].strip() for start, end in pairwise([*starts, len(look.name)])]


def _wrapped() -> QTextOption:
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    return option


def _dot_radius(scale: float) -> float:
    return _DOT * min(1.0, max(scale, 0.8))


def _mark_side(scale: float) -> float:
    return _MARK * min(1.0, max(scale, 0.8))


def _bar_text(look: CardLook, scale: float) -> tuple[str, QFont, float]:
    """The minimum confidence of a class, with font and width."""
    font, text = text_font(tokens().sizes.caption * scale), percent(look.bar or 0.0)
    return text, font, QFontMetricsF(font).horizontalAdvance(text)


def _width_of_marks(look: CardLook, scale: float) -> float:
    """Width of the marks after the name, gaps included."""
    width = (look.has_more_parents + look.is_deepest) * (_mark_side(scale) + 4)
    return width if look.bar is None else width + _bar_text(look, scale)[-1] + 4


def _paint_marks(
    painter: QPainter, room: QRectF, line: QRectF, look: CardLook, scale: float
) -> None:
    """Paint the marks of a class after its name, and reduce `room` by their width."""
    for icon, is_wanted in (("multi_parent", look.has_more_parents), (_DEEPEST, look.is_deepest)):
        if is_wanted:
            _paint_icon(painter, room, line, icon, _mark_side(scale), gap=4)
    if look.bar is not None:
        text, font, width = _bar_text(look, scale)
        place = QRectF(room.right() - width, room.top(), width + 1, room.height())
        _write(painter, placed(place, line), text, font, tokens().colours.text_muted)
        room.setRight(room.right() - width - 4)


def _paint_icon(
    painter: QPainter, room: QRectF, line: QRectF, icon: str, side: float, *, gap: float
) -> None:
    """Paint an icon at the end of a line, and reduce `room` by its width."""
    room.setRight(room.right() - side - gap)
    place = QRectF(room.right() + gap, line.center().y() - side / 2, side, side)
    ratio = painter.device().devicePixelRatio()
    picture = icon_pixmap(icon, round(side), colour="text_muted", ratio=ratio)
    painter.drawPixmap(placed(place, line).topLeft(), picture)


def _paint_caption(painter: QPainter, line: QRectF, look: CardLook, scale: float) -> None:
    room = QRectF(line)
    if look.hidden or look.is_open:
        icon = "chevron_down" if look.hidden else "chevron_up"
        _paint_icon(painter, room, line, icon, _mark_side(scale), gap=2)
    font = text_font(tokens().sizes.caption * scale)
    has_room = QFontMetricsF(font).horizontalAdvance(look.counts + look.more) <= room.width()
    text = look.counts + (look.more if has_room else "")
    _write(painter, placed(room, line), text, font, tokens().colours.text_muted)


def _write(
    painter: QPainter,
    room: QRectF,
    text: str,
    font: QFont,
    colour: str,
    *,
    flags: Qt.AlignmentFlag = _MIDDLE,
) -> None:
    painter.setFont(font)
    painter.setPen(QColor(colour))
    shown = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, room.width())
    painter.drawText(room, flags, isolated(shown))


def _paint_coverage(painter: QPainter, line: QRectF, share: float) -> None:
    colours, radius = tokens().colours, line.height() / 2
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colours.hairline))
    painter.drawRoundedRect(line, radius, radius)
    if share:
        painter.setBrush(QColor(colours.accent))
        filled = QRectF(line)
        filled.setWidth(max(line.height(), line.width() * share))
        painter.drawRoundedRect(placed(filled, line), radius, radius)
