"""Paints a card: a rounded thumbnail, below it the label or the prediction."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import final

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QGuiApplication,
    QImage,
    QPainter,
    QPainterPath,
    QPixmap,
)

from app.actions.keys import keys_in_use
from app.image_grid.card_words import Card, Mark
from app.image_grid.geometry import CAPTION_HEIGHT, PADDING
from app.images.pixels import fitted
from app.mirroring import placed
from app.painting import (
    colour_of,
    font_of,
    paint_box,
    paint_chip,
    paint_icon,
    paint_text,
    set_colours,
)
from app.theme.tokens import Tokens, tokens

RADIUS = 8.0  # of rounded corners, in pixels
LINE_GAP = 2  # between the lines of the caption, in pixels
_APART = 6  # least gap between two texts in a line, in pixels
ICON = 14  # pixels
_DRAWINGS = {Mark.WAITING: "waiting", Mark.FAILED: "broken_image"}
_GREYED = 0.4
_MOST_BOXES = 100
"""Boxes painted on a card, at most. Chosen: more would blur at this size."""
_BADGE = 24  # diameter in pixels
STACK = 4  # vertical offset of each card of a stack, in pixels
CHIP = 22  # height of the count badge, in pixels
# Share of its frame from which on a picture needs no background. Chosen by eye.
_FILLED = 0.9
_CENTRE_ICON = 28
_MISSING_ICON = "unlink"
_TITLE_COLOURS = {
    Mark.LABELLED: "text",
    Mark.SURE: "text",
    Mark.FAILED: "danger",
    Mark.LABELLED_UNKNOWN: "warning",
    Mark.COARSE: "text_secondary",
    Mark.GUESS: "text_secondary",
    Mark.UNKNOWN: "text_secondary",
}
"""Muted for other marks."""
_STAR = "star"
NOTE_ICON = 12  # pixels
NOTE_INSET = 4  # padding of the icons on their background, in pixels
NOTE_OPACITY = 225  # alpha, 0-255
MEMORY_BYTES = 40 * 1024 * 1024  # fits a full-screen window at 4K
_BYTES_PER_PIXEL = 4


@dataclass(frozen=True)
class CardPlace:
    """Geometry of a card: the frame of its picture, below it the caption."""

    whole: QRect
    caption_height: int

    @property
    def frame(self) -> QRect:
        """Rectangle into which the picture is fitted."""
        return self.whole.adjusted(PADDING, PADDING, -PADDING, -PADDING - self.caption_height)

    @property
    def caption(self) -> QRect:
        """Rectangle of the caption lines."""
        frame = self.frame
        return QRect(
            frame.left() + 2,
            frame.bottom() + 4,
            frame.width() - 4,
            self.whole.bottom() - frame.bottom() - 6,
        )


@dataclass(frozen=True)
class Look:
    """Selection and hover state of a card."""

    is_selected: bool
    is_current: bool  # described by the inspector; only this card has a frame
    is_hovered: bool


def paint_card(
    painter: QPainter, place: CardPlace, card: Card, picture: QPixmap | None, look: Look
) -> None:
    _paint_ground(painter, place.whole, look)
    _paint_picture(painter, place, card, picture)
    if card.chip:
        chip = QRectF(chip_rect(place, card, picture)).adjusted(0.5, 0.5, -0.5, -0.5)
        paint_chip(
            painter,
            chip,
            CHIP / 2,
            card.chip,
            colour="text_secondary",
            fill="raised",
            edge="border",
            is_strong=True,
        )
    _paint_caption(painter, place.caption, card, look)


def paint_words(
    painter: QPainter, place: CardPlace, ground: QColor, card: Card, look: Look
) -> None:
    below = place.whole.adjusted(0, place.frame.bottom() + 1 - place.whole.top(), 0, 0)
    painter.setClipRect(below)
    painter.fillRect(below, ground)
    _paint_ground(painter, place.whole, look)
    _paint_caption(painter, place.caption, card, look)


def picture_rect(place: CardPlace, card: Card, picture: QPixmap | None) -> QRectF:
    """Rectangle of the picture, centred in its frame and as large as fits."""
    frame = place.frame
    if card.stack:
        frame = frame.adjusted(STACK, 2 * STACK, -STACK, 0)
    return QRectF(frame) if picture is None else fitted(picture.size(), frame)


def chip_rect(place: CardPlace, card: Card, picture: QPixmap | None) -> QRect:
    """Rectangle of the count badge in a corner of the picture; clickable."""
    metrics = QFontMetrics(font_of("caption", is_strong=True))
    width = metrics.horizontalAdvance(card.chip) + 4 * PADDING
    target = picture_rect(place, card, picture).toRect()
    right = min(max(target.right() - PADDING, target.left() + width), place.frame.right())
    return placed(QRect(right - width + 1, target.top() + PADDING, width, CHIP), place.whole)


def _paint_ground(painter: QPainter, rect: QRect, look: Look) -> None:
    if not (look.is_selected or look.is_hovered):
        return
    paint_box(painter, rect, RADIUS + 2, "accent_soft" if look.is_selected else "hover")
    if look.is_current:
        inner = rect.adjusted(1, 1, -1, -1)
        paint_box(painter, inner, RADIUS + 1, edge="accent", width=2)


def _paint_picture(
    painter: QPainter, place: CardPlace, card: Card, picture: QPixmap | None
) -> None:
    target = picture_rect(place, card, picture)
    if card.stack:
        _paint_stack(painter, target)
    if picture is None:
        paint_box(painter, target, RADIUS, "sunken")
        _paint_sign(painter, target, card)
        _paint_notes(painter, target, card)
        return
    if not card.stack and not _fills(target, place.frame):
        paint_box(painter, place.frame, RADIUS, "sunken")
    path = QPainterPath()
    path.addRoundedRect(target, RADIUS, RADIUS)
    painter.save()
    painter.setClipPath(path)
    if card.is_missing:
        painter.setOpacity(_GREYED)
        painter.drawImage(
            target, picture.toImage().convertToFormat(QImage.Format.Format_Grayscale8)
        )
    else:
        painter.drawPixmap(target, picture, QRectF(picture.rect()))
    _paint_boxes(painter, target, card)
    painter.restore()
    if card.is_missing:
        _paint_badge(painter, target)
    _paint_notes(painter, target, card)


def _fills(target: QRectF, frame: QRect) -> bool:
    return min(target.width() / frame.width(), target.height() / frame.height()) > _FILLED


def _paint_sign(painter: QPainter, well: QRectF, card: Card) -> None:
    """Paint an icon that explains why there is no picture."""
    name = _MISSING_ICON if card.is_missing else _DRAWINGS.get(card.mark)
    if name is not None:
        spot = QRectF(0, 0, _CENTRE_ICON, _CENTRE_ICON)
        spot.moveCenter(well.center())
        paint_icon(painter, spot, name, "text_disabled")


def _paint_boxes(painter: QPainter, target: QRectF, card: Card) -> None:
    for box in card.boxes[:_MOST_BOXES]:
        left, top, width, height = box
        place = QRectF(
            target.left() + left * target.width(),
            target.top() + top * target.height(),
            width * target.width(),
            height * target.height(),
        )
        for edge, width in ((QColor(0, 0, 0, 110), 3.0), ("warning", 1.5)):
            set_colours(painter, edge=edge, width=width)
            painter.drawRect(place)


def _paint_notes(painter: QPainter, target: QRectF, card: Card) -> None:
    """Paint flag, comment and stars on a small plate in a lower corner, if there are any."""
    names = [
        name
        for name, is_there in (("flag", card.is_flagged), ("comment", card.has_comment))
        if is_there
    ]
    names += [_STAR] * card.stars
    if not names:
        return
    step, room = NOTE_ICON + 2, int(target.width() - 2 * PADDING)
    names = names[: max(1, (room - 2 * NOTE_INSET) // step)]
    left, top = (
        round(target.left()) + PADDING,
        round(target.bottom()) - PADDING - NOTE_ICON - 2 * NOTE_INSET,
    )
    plate = placed(
        QRectF(left, top, len(names) * step - 2 + 2 * NOTE_INSET, NOTE_ICON + 2 * NOTE_INSET),
        target,
    )
    ground = colour_of("raised")
    ground.setAlpha(NOTE_OPACITY)
    paint_box(painter, plate, plate.height() / 2, ground)
    for place, name in enumerate(names):
        spot = QRectF(
            plate.left() + NOTE_INSET + place * step, top + NOTE_INSET, NOTE_ICON, NOTE_ICON
        )
        colour = "warning" if name == _STAR else "accent_text"
        paint_icon(painter, placed(spot, plate), name, colour)


def _paint_stack(painter: QPainter, front: QRectF) -> None:
    """Paint two edges above the picture, like cards behind it."""
    for depth, colour in ((2, "sunken"), (1, "hover")):
        behind = front.adjusted(depth * STACK, -depth * STACK, -depth * STACK, -front.height() / 2)
        paint_box(painter, behind.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, colour, edge="border")


def _paint_badge(painter: QPainter, target: QRectF) -> None:
    place = QRect(round(target.left()) + PADDING, round(target.top()) + PADDING, _BADGE, _BADGE)
    place, inset = placed(place, target.toRect()), (_BADGE - ICON) // 2
    paint_box(painter, place, _BADGE / 2, "raised")
    spot = place.adjusted(inset, inset, -inset, -inset)
    paint_icon(painter, spot, _MISSING_ICON, "text_secondary")


def _paint_caption(painter: QPainter, rect: QRect, card: Card, look: Look) -> None:
    font, metrics = font_of("body", is_strong=card.mark is Mark.LABELLED), _caption_metrics()
    title = QFontMetrics(font)
    line = QRect(rect.left(), rect.top(), rect.width(), title.height())
    left = line.left()
    if card.mark in {Mark.LABELLED, Mark.LABELLED_UNKNOWN}:
        person = QRect(left, line.center().y() - ICON // 2, ICON, ICON)
        paint_icon(painter, placed(person, line), "person", "accent_text")
        left += ICON + 4
    room = line.width() - title.horizontalAdvance(card.title)
    score = _score_text(card, look, room, metrics)
    room = line.right() + 1 - left - _paint_at_end(painter, line, score)
    between = QRect(left, line.top(), room, line.height())
    colour = "text_muted" if card.is_missing else _TITLE_COLOURS.get(card.mark, "text_muted")
    paint_text(painter, placed(between, rect), card.title, font, colour)
    below = QRect(rect.left(), line.bottom() + LINE_GAP, rect.width(), metrics.height())
    if card.detail and rect.height() >= line.height() + LINE_GAP + below.height() - 4:
        _paint_detail(painter, below, card, look)


def _score_text(card: Card, look: Look, room: int, metrics: QFontMetrics) -> str:
    """The score, and on the current card the keys that accept its class, if they fit."""
    label_key = (
        keys_in_use().text_of_class(card.label_key, is_short=True) if look.is_current else ""
    )
    with_key = "  ".join(filter(None, (card.score, _key(card, look, "accept"), label_key)))
    return with_key if metrics.horizontalAdvance(with_key) + _APART <= room else card.score


def _key(card: Card, look: Look, name: str) -> str:
    """Key of an action, for a current card with two acceptable answers."""
    return keys_in_use().short_text_of(name) if look.is_current and card.mark is Mark.COARSE else ""


def _paint_at_end(painter: QPainter, line: QRect, text: str) -> int:
    """Paint text at the end of a line.

    Returns:
        Its width, gap included.
    """
    if not text:
        return 0
    side = Qt.AlignmentFlag.AlignRight
    return paint_text(painter, line, text, font_of("caption"), "text_muted", side=side) + _APART


def _paint_detail(painter: QPainter, line: QRect, card: Card, look: Look) -> None:
    width_of, key = _caption_metrics().horizontalAdvance, _key(card, look, "accept_top_class")
    has_room = width_of(card.detail) + _APART + width_of(key) <= line.width()
    used = _paint_at_end(painter, line, key if has_room else "")
    colour = "warning" if card.is_replaced or card.mark is Mark.UNKNOWN else "text_muted"
    room = placed(line.adjusted(0, 0, -used, 0), line)
    paint_text(painter, room, card.detail, font_of("caption"), colour)


def _caption_metrics() -> QFontMetrics:
    return QFontMetrics(font_of("caption"))


_Key = tuple[int, int, Look, int, int]


@dataclass
class _Finished:
    """A rendered card in the cache."""

    card: Card  # values as painted
    pixmap: QPixmap
    place: CardPlace  # in the pixmap


@final
class FinishedCards:
    """LRU cache of rendered cards."""

    def __init__(self, limit_bytes: int = MEMORY_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._kept: OrderedDict[_Key, _Finished] = OrderedDict()
        self._applied_look: Tokens | None = None
        self._ground = QColor()
        self._ratio = 1.0
        self.used_bytes = 0

    def apply_look(self, ground: QColor, ratio: float) -> None:
        """Set background and pixel ratio; a change of these or of the theme clears the cache."""
        if self._applied_look is not tokens() or (self._ground, self._ratio) != (ground, ratio):
            self._applied_look, self._ground, self._ratio = tokens(), ground, ratio
            self._kept.clear()
            self.used_bytes = 0

    def of(
        self,
        card: Card,
        picture: QPixmap | None,
        look: Look,
        size: QSize,
        caption_height: int = CAPTION_HEIGHT,
    ) -> QPixmap:
        picture_key = 0 if picture is None else picture.cacheKey()
        key = (card.image_id, picture_key, look, size.width(), size.height())
        kept = self._kept.get(key)
        if kept is None:
            pixmap = QPixmap(size * self._ratio)
            pixmap.setDevicePixelRatio(self._ratio)
            finished = _Finished(card, pixmap, CardPlace(QRect(QPoint(), size), caption_height))
            self._paint(finished, card, picture, look)
            self._keep(key, finished)
            return pixmap
        self._kept.move_to_end(key)
        if kept.card != card:
            self._follow(kept, card, picture, look)
        return kept.pixmap

    def _keep(self, key: _Key, finished: _Finished) -> None:
        self._kept[key] = finished
        self.used_bytes += _size_bytes(finished.pixmap)
        while self.used_bytes > self._limit_bytes and len(self._kept) > 1:
            _, oldest = self._kept.popitem(last=False)
            self.used_bytes -= _size_bytes(oldest.pixmap)

    def _follow(self, kept: _Finished, card: Card, picture: QPixmap | None, look: Look) -> None:
        """Repaint a cached card; if only the caption changed, the picture is not repainted."""
        if picture is None or _on_picture(kept.card) != _on_picture(card):
            self._paint(kept, card, picture, look)
        else:
            painter = _painter(kept.pixmap)
            paint_words(painter, kept.place, self._ground, card, look)
            painter.end()
        kept.card = card

    def _paint(self, finished: _Finished, card: Card, picture: QPixmap | None, look: Look) -> None:
        """Paint a card on an opaque background, which keeps text antialiasing sharp."""
        finished.pixmap.fill(self._ground)
        painter = _painter(finished.pixmap)
        paint_card(painter, finished.place, card, picture, look)
        painter.end()


def _on_picture(card: Card) -> tuple[object, ...]:
    """The values that are painted on the picture."""
    return (
        card.is_missing,
        card.stars,
        card.is_flagged,
        card.has_comment,
        card.stack,
        card.chip,
        card.boxes,
    )


def _painter(pixmap: QPixmap) -> QPainter:
    painter = QPainter(pixmap)
    # A painter on a pixmap does not inherit it from a widget.
    painter.setLayoutDirection(QGuiApplication.layoutDirection())
    painter.setRenderHints(
        QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform
    )
    return painter


def _size_bytes(picture: QPixmap) -> int:
    return picture.width() * picture.height() * _BYTES_PER_PIXEL
