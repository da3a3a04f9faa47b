"""Cards of one group: sized to fit, toggled by a click or a key, dimmed if left out."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import final

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QToolTip

from app.image_grid.card import CardPlace, FinishedCards, Look, picture_rect
from app.image_grid.card_words import Card
from app.image_grid.geometry import KEYS, GridGeometry, row_after
from app.images.pixels import on_pixels
from app.images.thumbnails import Thumbnails
from app.mirroring import key_in_reading_order, placed
from app.texts import plain_tip, tr
from app.theme.icons import icon_pixmap
from app.theme.tokens import tokens
from app.wording import image_name
from engine.file_parts import ImageSource

MOST_SIDE = 480
"""Maximum side in pixels. Chosen: two of them fill the width of a window of 1,440 pixels."""
LEAST_SIDE = 72  # minimum side in pixels; smaller ones cannot be judged
SIDE_STEP = 4  # step in pixels by which the side is reduced until a group fits
CAPTION = 24  # height of one line, in pixels
NO_CAPTION = 4
INSET = 6  # distance of a badge from the edge, in pixels
DIMMED = 0.28  # opacity of cards that are left out
BADGE = 22  # diameter in pixels
REPAINT_MS = 30  # minimum time between repaints while thumbnails load
AHEAD_S = 0.004  # time slice for painting cards of the next group
BETWEEN_MS = 10  # pause between time slices


@final
class GroupCards(QAbstractScrollArea):
    """Scroll area of cards with a current one; cards may be left out."""

    toggled = Signal(int)  # image id
    open_requested = Signal(int)
    current_changed = Signal(int)

    def __init__(self, thumbnails: Thumbnails) -> None:
        super().__init__()
        self._thumbnails = thumbnails
        self._cards: Sequence[Card] = ()
        self._left_out: Collection[int] = frozenset()
        self._outlier_count = 0
        self._current = 0
        self._hovered = -1
        self._side = MOST_SIDE
        self._finished = FinishedCards()
        self._ahead: Sequence[Card] = ()  # of the next group
        self._unpainted: list[int] = []  # indices of its cards that are not painted yet
        self.setObjectName("groupCards")
        self.setAccessibleName(tr("Images of the group"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the page handles the keys
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setMouseTracking(True)
        self._repaint = QTimer(self, singleShot=True, interval=REPAINT_MS)
        self._repaint.timeout.connect(self.viewport().update)
        self._paint_ahead = QTimer(self, singleShot=True, interval=BETWEEN_MS)
        self._paint_ahead.timeout.connect(self._paint_some_ahead)
        thumbnails.ready.connect(self._on_ready)

    @property
    def current_id(self) -> int | None:
        return self._cards[self._current].image_id if self._cards else None

    @property
    def image_ids(self) -> tuple[int, ...]:
        return tuple(card.image_id for card in self._cards)

    def show_cards(
        self,
        cards: Sequence[Card],
        left_out: Collection[int],
        *,
        odd: int = 0,
        is_other_group: bool = True,
    ) -> None:
        """Show a group, whose first `odd` cards are outliers."""
        self._cards, self._left_out, self._outlier_count = cards, left_out, odd
        if is_other_group or self._current >= len(cards):
            self._current = 0
            self.verticalScrollBar().setValue(0)
        self._lay_out()
        self.viewport().update()

    def prepare(self, cards: Sequence[Card]) -> None:
        """Request the thumbnails of the next group, and paint its cards while idle.

        Later groups are requested first, as the newest request is served first.
        """
        self._ahead, self._unpainted = cards, list(range(len(cards)))
        side = self._fitted(cards).picture_side
        for card in reversed(cards):
            self._thumbnails.pixmap(card.source, side, self.devicePixelRatioF())
        self._paint_ahead.start()

    def _paint_some_ahead(self) -> None:
        """Paint cards with loaded thumbnails for one time slice, so that keys are not delayed."""
        layout, ratio = self._fitted(self._ahead), self.devicePixelRatioF()
        waiting, until_s = [], time.perf_counter() + AHEAD_S
        for place in self._unpainted:
            card, is_late = self._ahead[place], time.perf_counter() > until_s
            picture = (
                None
                if is_late
                else self._thumbnails.pixmap(card.source, layout.picture_side, ratio)
            )
            if picture is None:
                waiting.append(place)
            else:
                size, look = layout.rect(0).size(), _look(is_current=place == 0)
                self._finished.of(card, picture, look, size, layout.caption)
        self._unpainted = waiting
        if waiting and time.perf_counter() > until_s:
            self._paint_ahead.start()

    def select(self, image_id: int) -> None:
        place = next(
            (place for place, card in enumerate(self._cards) if card.image_id == image_id), None
        )
        if place is not None:
            self._go_to(place)

    def step(self, step: int) -> None:
        if self._cards:
            self._go_to(max(0, min(len(self._cards) - 1, self._current + step)))

    def press_arrow(self, event: QKeyEvent) -> bool:
        """Move by arrows, Page Up, Page Down, Home or End; False for other keys."""
        action = KEYS.get(key_in_reading_order(event.key()))
        if (
            action is None
            or not self._cards
            or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        ):
            return False
        self._go_to(row_after(action, self._current, self._geometry(), self.viewport().height()))
        return True

    def _go_to(self, place: int) -> None:
        self._current = place
        rect = self._geometry().rect(place)
        bar, height = self.verticalScrollBar(), self.viewport().height()
        if rect.top() < bar.value():
            bar.setValue(rect.top() - INSET)
        elif rect.bottom() > bar.value() + height:
            bar.setValue(rect.bottom() - height + INSET)
        self.viewport().update()
        self.current_changed.emit(self._cards[place].image_id)

    # -- layout

    def rect_of(self, place: int) -> QRect:
        """Rectangle of a card in viewport coordinates."""
        return self._geometry().rect(place).translated(0, -self.verticalScrollBar().value())

    def _geometry(self) -> GridGeometry:
        return self._laid_out(self._cards, self._side)

    def _laid_out(self, cards: Sequence[Card], side: int) -> GridGeometry:
        width, shape = self.viewport().width(), self._thumbnails.shape.value
        return GridGeometry(width, side, len(cards), _caption_of(cards), shape=shape)

    def _fitted(self, cards: Sequence[Card]) -> GridGeometry:
        """Layout with the largest cards that fit without scrolling, else the smallest."""
        sides = (*range(MOST_SIDE, LEAST_SIDE, -SIDE_STEP), LEAST_SIDE)
        layouts = (self._laid_out(cards, side) for side in sides)
        fitting = (each for each in layouts if each.total_height <= self.viewport().height())
        return next(fitting, self._laid_out(cards, LEAST_SIDE))

    def _lay_out(self) -> None:
        self._side, height = self._fitted(self._cards).side, self.viewport().height()
        bar, total = self.verticalScrollBar(), self._geometry().total_height
        bar.setRange(0, max(0, total - height))
        bar.setPageStep(height)
        bar.setSingleStep(max(1, self._geometry().row_height // 3))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def scrollContentsBy(self, _x: int, _y: int) -> None:
        self.viewport().update()

    # -- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        geometry, offset, ratio = (
            self._geometry(),
            self.verticalScrollBar().value(),
            self.devicePixelRatioF(),
        )
        self._finished.apply_look(self.palette().color(self.viewport().backgroundRole()), ratio)
        for place in reversed(geometry.places_between(offset, offset + self.viewport().height())):
            rect = geometry.rect(place).translated(0, -offset)
            if event.region().intersects(rect):
                self._paint_card(
                    painter, place, CardPlace(rect, geometry.caption), geometry.picture_side
                )
        painter.end()

    def _paint_card(self, painter: QPainter, number: int, place: CardPlace, side: int) -> None:
        card, ratio = self._cards[number], self.devicePixelRatioF()
        is_out = card.image_id in self._left_out
        picture = self._thumbnails.pixmap(card.source, side, ratio)
        look = _look(is_current=number == self._current, is_hovered=number == self._hovered)
        finished = self._finished.of(card, picture, look, place.whole.size(), place.caption_height)
        if is_out:
            painter.setOpacity(DIMMED)
        painter.drawPixmap(on_pixels(place.whole.topLeft(), ratio), finished)
        painter.setOpacity(1)
        target = picture_rect(place, card, picture).toRect()
        if is_out:
            corner = QRect(target.right() - BADGE - INSET, target.top() + INSET, BADGE, BADGE)
            _paint_badge(painter, placed(corner, target), "close", ratio)
        elif number < self._outlier_count:
            corner = QRect(target.left() + INSET, target.top() + INSET, BADGE, BADGE)
            _paint_badge(painter, placed(corner, target), "warning", ratio)

    def _on_ready(self, source: ImageSource) -> None:
        if not self._repaint.isActive() and any(card.source == source for card in self._cards):
            self._repaint.start()
        if (
            self._unpainted
            and not self._paint_ahead.isActive()
            and any(card.source == source for card in self._ahead)
        ):
            self._paint_ahead.start()

    # -- the mouse

    def _place_at(self, point: QPoint) -> int:
        place = self._geometry().place_at(point.x(), point.y() + self.verticalScrollBar().value())
        return -1 if place is None else place

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = self._place_at(event.position().toPoint())
        if place >= 0 and event.button() == Qt.MouseButton.LeftButton:
            self._go_to(place)
            self.toggled.emit(self._cards[place].image_id)
        event.ignore()  # the page takes the focus

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.mousePressEvent(event)  # a quick second click toggles the image again

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        hovered = self._place_at(event.position().toPoint())
        if hovered != self._hovered:
            self._hovered = hovered
            self.viewport().update()

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            place = self._place_at(event.pos())
            QToolTip.showText(
                event.globalPos(),
                plain_tip(image_name(self._cards[place].source)) if place >= 0 else "",
            )
            return True
        if event.type() == QEvent.Type.Leave and self._hovered >= 0:
            self._hovered = -1
            self.viewport().update()
        return super().viewportEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(640, 480)


def _look(*, is_current: bool, is_hovered: bool = False) -> Look:
    return Look(is_selected=is_current, is_current=is_current, is_hovered=is_hovered)


def _caption_of(cards: Sequence[Card]) -> int:
    return CAPTION if any(card.title for card in cards) else NO_CAPTION


def _paint_badge(painter: QPainter, place: QRect, icon_name: str, ratio: float) -> None:
    """Paint a badge: a cross if left out, a warning if an outlier."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(tokens().colours.raised))
    painter.drawEllipse(place)
    colour = "warning" if icon_name == "warning" else "text_secondary"
    picture = icon_pixmap(icon_name, BADGE - INSET, colour=colour, ratio=ratio)
    painter.drawPixmap(place.left() + INSET // 2, place.top() + INSET // 2, picture)
