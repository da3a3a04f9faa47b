"""Paints a card: a rounded thumbnail, below it the label or the prediction."""

from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, final

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QGuiApplication,
    QImage,
    QPainter,
    QPainterPath,
    QPen,
    QPixmap,
)

from app.actions.keys import keys_in_use
from app.image_grid.card_words import Card, Mark
from app.image_grid.geometry import CAPTION_HEIGHT, PADDING
from app.images.pixels import fitted
from app.mirroring import isolated, placed
from app.theme.icons import icon_pixmap
from app.theme.tokens import Tokens, tokens

RADIUS: Final = 8.0  # of rounded corners, in pixels
LINE_GAP: Final = 2  # between the lines of the caption, in pixels
_APART: Final = 6  # least gap between two texts in a line, in pixels
ICON: Final = 14  # pixels
_DRAWINGS: Final = {Mark.WAITING: "waiting", Mark.FAILED: "broken_image"}
_GREYED: Final = 0.4
_MOST_BOXES: Final = 100
"""Boxes painted on a card, at most. Chosen: more would blur at this size."""
_BADGE: Final = 24  # diameter in pixels
STACK: Final = 4  # vertical offset of each card of a stack, in pixels
CHIP: Final = 22  # height of the count badge, in pixels
# Share of its frame from which on a picture needs no background. Chosen by eye.
_FILLED: Final = 0.9
_CENTRE_ICON: Final = 28
_MISSING_ICON: Final = "unlink"
_STAR: Final = "star"
NOTE_ICON: Final = 12  # pixels
NOTE_INSET: Final = 4  # padding of the icons on their background, in pixels
NOTE_OPACITY: Final = 225  # alpha, 0-255
MEMORY_BYTES: Final = 40 * 1024 * 1024  # fits a full-screen window at 4K
_BYTES_PER_PIXEL: Final = 4


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
    worn = tokens()
    _paint_ground(painter, place.whole, look, worn)
    _paint_picture(painter, place, card, picture, worn)
    if card.chip:
        _paint_chip(painter, chip_rect(place, card, picture), card, worn)
    _paint_caption(painter, place.caption, card, look, worn)


def paint_words(
    painter: QPainter, place: CardPlace, ground: QColor, card: Card, look: Look
) -> None:
    worn = tokens()
    below = place.whole.adjusted(0, place.frame.bottom() + 1 - place.whole.top(), 0, 0)
    painter.setClipRect(below)
    painter.fillRect(below, ground)
    _paint_ground(painter, place.whole, look, worn)
    _paint_caption(painter, place.caption, card, look, worn)


def picture_rect(place: CardPlace, card: Card, picture: QPixmap | None) -> QRectF:
    """Rectangle of the picture, centred in its frame and as large as fits."""
    frame = place.frame
    if card.stack:
        frame = frame.adjusted(STACK, 2 * STACK, -STACK, 0)
    return QRectF(frame) if picture is None else fitted(picture.size(), frame)


def chip_rect(place: CardPlace, card: Card, picture: QPixmap | None) -> QRect:
    """Rectangle of the count badge in a corner of the picture; clickable."""
    metrics = QFontMetrics(_font(tokens().sizes.caption, is_strong=True))
    width = metrics.horizontalAdvance(card.chip) + 4 * PADDING
    target = picture_rect(place, card, picture).toRect()
    right = min(max(target.right() - PADDING, target.left() + width), place.frame.right())
    return placed(QRect(right - width + 1, target.top() + PADDING, width, CHIP), place.whole)


def _paint_ground(painter: QPainter, rect: QRect, look: Look, worn: Tokens) -> None:
    colours = worn.colours
    if not (look.is_selected or look.is_hovered):
        return
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colours.accent_soft if look.is_selected else colours.hover))
    painter.drawRoundedRect(QRectF(rect), RADIUS + 2, RADIUS + 2)
    if look.is_current:
        painter.setPen(QPen(QColor(colours.accent), 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(rect).adjusted(1, 1, -1, -1), RADIUS + 1, RADIUS + 1)


def _paint_picture(
    painter: QPainter, place: CardPlace, card: Card, picture: QPixmap | None, worn: Tokens
) -> None:
    target = picture_rect(place, card, picture)
    if card.stack:
        _paint_stack(painter, target, worn)
    if picture is None:
        _paint_well(painter, target, worn)
        _paint_sign(painter, target, card)
        _paint_notes(painter, target, card, worn)
        return
    if not card.stack and not _fills(target, place.frame):
        _paint_well(painter, QRectF(place.frame), worn)
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
    _paint_boxes(painter, target, card, worn)
    painter.restore()
    if card.is_missing:
        _paint_badge(painter, target, worn)
    _paint_notes(painter, target, card, worn)


def _fills(target: QRectF, frame: QRect) -> bool:
    return min(target.width() / frame.width(), target.height() / frame.height()) > _FILLED


def _paint_well(painter: QPainter, well: QRectF, worn: Tokens) -> None:
    path = QPainterPath()
    path.addRoundedRect(well, RADIUS, RADIUS)
    painter.fillPath(path, QColor(worn.colours.sunken))


def _paint_sign(painter: QPainter, well: QRectF, card: Card) -> None:
    """Paint an icon that explains why there is no picture."""
    name = _MISSING_ICON if card.is_missing else _DRAWINGS.get(card.mark)
    if name is not None:
        ratio = painter.device().devicePixelRatio()
        drawing = icon_pixmap(name, _CENTRE_ICON, colour="text_disabled", ratio=ratio)
        painter.drawPixmap(
            well.center() - QRectF(0, 0, _CENTRE_ICON, _CENTRE_ICON).center(), drawing
        )


def _paint_boxes(painter: QPainter, target: QRectF, card: Card, worn: Tokens) -> None:
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for box in card.boxes[:_MOST_BOXES]:
        left, top, width, height = box
        place = QRectF(
            target.left() + left * target.width(),
            target.top() + top * target.height(),
            width * target.width(),
            height * target.height(),
        )
        painter.setPen(QPen(QColor(0, 0, 0, 110), 3))
        painter.drawRect(place)
        painter.setPen(QPen(QColor(worn.colours.warning), 1.5))
        painter.drawRect(place)


def _paint_notes(painter: QPainter, target: QRectF, card: Card, worn: Tokens) -> None:
    """Paint flag, comment and stars on a small plate in a lower corner, if there are any."""
    names = [
        name
        for name, is_there in (("flag", card.is_flagged), ("comment", card.has_comment))
        if is_there
    ]
    names += [_STAR] * card.stars
    if not names:
        return
    ratio, step = painter.device().devicePixelRatio(), NOTE_ICON + 2
    room = int(target.width() - 2 * PADDING)
    names = names[: max(1, (room - 2 * NOTE_INSET) // step)]
    left, top = (
        round(target.left()) + PADDING,
        round(target.bottom()) - PADDING - NOTE_ICON - 2 * NOTE_INSET,
    )
    plate = placed(
        QRectF(left, top, len(names) * step - 2 + 2 * NOTE_INSET, NOTE_ICON + 2 * NOTE_INSET),
        target,
    )
    ground = QColor(worn.colours.raised)
    ground.setAlpha(NOTE_OPACITY)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ground)
    painter.drawRoundedRect(plate, plate.height() / 2, plate.height() / 2)
    for place, name in enumerate(names):
        colour = "warning" if name == _STAR else "accent_text"
        drawing = icon_pixmap(name, NOTE_ICON, colour=colour, ratio=ratio)
        spot = QRectF(
            plate.left() + NOTE_INSET + place * step, top + NOTE_INSET, NOTE_ICON, NOTE_ICON
        )
        painter.drawPixmap(placed(spot, plate).topLeft(), drawing)


def _paint_stack(painter: QPainter, front: QRectF, worn: Tokens) -> None:
    """Paint two edges above the picture, like cards behind it."""
    painter.setPen(QPen(QColor(worn.colours.border), 1))
    for depth, colour in ((2, worn.colours.sunken), (1, worn.colours.hover)):
        painter.setBrush(QColor(colour))
        behind = front.adjusted(depth * STACK, -depth * STACK, -depth * STACK, -front.height() / 2)
        painter.drawRoundedRect(behind.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)


def _paint_chip(painter: QPainter, chip: QRect, card: Card, worn: Tokens) -> None:
    place = QRectF(chip)
    painter.setPen(QPen(QColor(worn.colours.border), 1))
    painter.setBrush(QColor(worn.colours.raised))
    painter.drawRoundedRect(place.adjusted(0.5, 0.5, -0.5, -0.5), CHIP / 2, CHIP / 2)
    painter.setFont(_font(worn.sizes.caption, is_strong=True))
    painter.setPen(QColor(worn.colours.text_secondary))
    painter.drawText(place, Qt.AlignmentFlag.AlignCenter, card.chip)


def _paint_badge(painter: QPainter, target: QRectF, worn: Tokens) -> None:
    place = QRect(round(target.left()) + PADDING, round(target.top()) + PADDING, _BADGE, _BADGE)
    place = placed(place, target.toRect())
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(worn.colours.raised))
    painter.drawEllipse(place)
    ratio = painter.device().devicePixelRatio()
    inset = (_BADGE - ICON) // 2
    drawing = icon_pixmap(_MISSING_ICON, ICON, colour="text_secondary", ratio=ratio)
    painter.drawPixmap(place.left() + inset, place.top() + inset, drawing)


def _paint_caption(painter: QPainter, rect: QRect, card: Card, look: Look, worn: Tokens) -> None:
    title_font, detail_font = (
        _font(worn.sizes.body, is_strong=card.mark is Mark.LABELLED),
        _font(worn.sizes.caption),
    )
    title_metrics, detail_metrics = QFontMetrics(title_font), QFontMetrics(detail_font)
    line = QRect(rect.left(), rect.top(), rect.width(), title_metrics.height())
    left = line.left()
    if card.mark in {Mark.LABELLED, Mark.LABELLED_UNKNOWN}:
        _paint_person(painter, line)
        left += ICON + 4
    score = _score_text(
        card, look, line.width() - title_metrics.horizontalAdvance(card.title), detail_metrics
    )
    room = line.right() + 1 - left - _paint_at_end(painter, line, score, detail_font, worn)
    painter.setFont(title_font)
    painter.setPen(
        QColor(worn.colours.text_muted if card.is_missing else _title_colour(card.mark, worn))
    )
    title = title_metrics.elidedText(card.title, Qt.TextElideMode.ElideRight, max(0, room))
    between = QRect(left, line.top(), room, line.height())
    painter.drawText(placed(between, rect), Qt.AlignmentFlag.AlignVCenter, isolated(title))
    below = QRect(rect.left(), line.bottom() + LINE_GAP, rect.width(), detail_metrics.height())
    if card.detail and rect.height() >= line.height() + LINE_GAP + below.height() - 4:
        _paint_detail(painter, below, card, look, worn)


def _paint_person(painter: QPainter, line: QRect) -> None:
    """Paint the icon of a label given by a person."""
    ratio = painter.device().devicePixelRatio()
    corner = placed(QRect(line.left(), line.center().y() - ICON // 2, ICON, ICON), line).topLeft()
    painter.drawPixmap(corner, icon_pixmap("person", ICON, colour="accent_text", ratio=ratio))


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


def _paint_at_end(painter: QPainter, line: QRect, text: str, font: QFont, worn: Tokens) -> int:
    """Paint text at the end of a line.

    Returns:
        Its width, gap included.
    """
    if not text:
        return 0
    painter.setFont(font)
    painter.setPen(QColor(worn.colours.text_muted))
    painter.drawText(
        line, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, isolated(text)
    )
    return QFontMetrics(font).horizontalAdvance(text) + _APART


def _paint_detail(painter: QPainter, line: QRect, card: Card, look: Look, worn: Tokens) -> None:
    font = _font(worn.sizes.caption)
    metrics, key = QFontMetrics(font), _key(card, look, "accept_top_class")
    has_room = (
        metrics.horizontalAdvance(card.detail) + _APART + metrics.horizontalAdvance(key)
        <= line.width()
    )
    room = line.width() - _paint_at_end(painter, line, key if has_room else "", font, worn)
    painter.setFont(font)
    is_warning = card.is_replaced or card.mark is Mark.UNKNOWN
    painter.setPen(QColor(worn.colours.warning if is_warning else worn.colours.text_muted))
    detail = metrics.elidedText(card.detail, Qt.TextElideMode.ElideRight, max(0, room))
    painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, isolated(detail))


def _title_colour(mark: Mark, worn: Tokens) -> str:
    colours = worn.colours
    if mark in {Mark.LABELLED, Mark.SURE}:
        return colours.text
    if mark is Mark.FAILED:
        return colours.danger
    if mark is Mark.LABELLED_UNKNOWN:
        return colours.warning
    is_guess = mark in {Mark.COARSE, Mark.GUESS, Mark.UNKNOWN}
    return colours.text_secondary if is_guess else colours.text_muted


@lru_cache(maxsize=16)
def _font(pixels: int, *, is_strong: bool = False) -> QFont:
    font = QFont()
    font.setPixelSize(pixels)
    if is_strong:
        font.setWeight(QFont.Weight.DemiBold)
    return font


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
        self._worn: Tokens | None = None
        self._ground = QColor()
        self._ratio = 1.0
        self.used_bytes = 0

    def wear(self, ground: QColor, ratio: float) -> None:
        """Set background and pixel ratio; a change of these or of the theme clears the cache."""
        if self._worn is not tokens() or (self._ground, self._ratio) != (ground, ratio):
            self._worn, self._ground, self._ratio = tokens(), ground, ratio
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
