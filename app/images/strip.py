"""A strip of small thumbnails: examples of a class, or candidates to click."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.images.pixels import paint_frame, paint_square
from app.images.thumbnails import Thumbnails
from app.mirroring import placed
from app.texts import plain_tip
from app.theme.icons import icon_pixmap
from app.theme.tokens import tokens
from app.wording import image_name
from engine.file_parts import ImageSource

if TYPE_CHECKING:
    from engine.collection.state import CollectionState

GAP = 6
_TICK = 18
_TICK_ICON = 12
_TICK_MARGIN = 3


class ThumbnailStrip(QWidget):
    """Square thumbnails in rows, or as many as fit into one row."""

    image_clicked = Signal(int)

    def __init__(
        self, thumbnails: Thumbnails, *, side: int = 56, tip: str | None = "", is_row: bool = False
    ) -> None:
        super().__init__()
        self._is_row = is_row
        self._given: list[tuple[int, ImageSource]] = []
        self._images: list[tuple[int, ImageSource]] = []  # shown ones
        self._sources: set[ImageSource] = set()
        self._thumbnails = thumbnails
        self._side = side
        self._tip = tip
        self._hovered = -1
        self._ticked: frozenset[int] = frozenset()
        self.setMouseTracking(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        thumbnails.ready.connect(self._on_ready)

    def show_images(self, image_ids: Sequence[int], state: CollectionState) -> None:
        """Show images; those that were removed from the project are skipped."""
        self._given = list(_known(image_ids, state))
        self._hovered = -1
        self.setVisible(bool(self._given))
        self._fit(self.width())
        self.update()  # also of the same images: a repaint requests a thumbnail that failed

    def _fit(self, width: int) -> None:
        self._images = self._given[: self._columns(width)] if self._is_row else self._given
        self._sources = {source for _, source in self._images}
        self.setFixedHeight(self.heightForWidth(width))

    def show_ticked(self, image_ids: frozenset[int]) -> None:
        self._ticked = image_ids
        self.update()

    def _on_ready(self, source: ImageSource) -> None:
        if source in self._sources:
            self.update()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        columns = self._columns(width)
        rows = -(-len(self._images) // columns)
        return rows * (self._side + GAP) - GAP if rows else 0

    def sizeHint(self) -> QSize:
        width = self.width() or 4 * (self._side + GAP)
        return QSize(width, self.heightForWidth(width))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit(event.size().width())

    def _columns(self, width: int) -> int:
        return max(1, (width + GAP) // (self._side + GAP))

    def rect_of(self, place: int) -> QRect:
        row, column = divmod(place, self._columns(self.width()))
        step = self._side + GAP
        return placed(QRect(column * step, row * step, self._side, self._side), self.rect())

    @property
    def image_ids(self) -> tuple[int, ...]:
        return tuple(image_id for image_id, _ in self._images)

    def is_framed(self, place: int) -> bool:
        return place == self._hovered or self._images[place][0] in self._ticked

    def _place_at(self, point: QPoint) -> int:
        return next(
            (place for place in range(len(self._images)) if self.rect_of(place).contains(point)), -1
        )

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        for place, (image_id, source) in enumerate(self._images):
            rect = self.rect_of(place)
            paint_square(
                painter, rect, self._thumbnails.pixmap(source, self._side, self.devicePixelRatioF())
            )
            if self.is_framed(place):
                paint_frame(painter, rect)
            if image_id in self._ticked:
                self._paint_tick(painter, rect)

    def _paint_tick(self, painter: QPainter, rect: QRect) -> None:
        look = tokens()
        place = placed(
            QRect(rect.right() - _TICK - _TICK_MARGIN, rect.top() + _TICK_MARGIN, _TICK, _TICK),
            rect,
        )
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(look.colours.accent))
        painter.drawEllipse(place)
        inset = (_TICK - _TICK_ICON) // 2
        drawing = icon_pixmap(
            "check", _TICK_ICON, colour="on_accent", ratio=self.devicePixelRatioF()
        )
        painter.drawPixmap(place.left() + inset, place.top() + inset, drawing)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hovered = self._place_at(event.position().toPoint())
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._hovered = -1
        self.update()
        super().leaveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        place = self._place_at(event.position().toPoint())
        if place >= 0 and event.button() == Qt.MouseButton.LeftButton:
            self.image_clicked.emit(self._images[place][0])

    def event(self, event: QEvent) -> bool:
        """Show the file's name and the effect of a click as tooltip."""
        if isinstance(event, QHelpEvent) and self._tip is not None:
            place = self._place_at(event.pos())
            if place >= 0:
                name = image_name(self._images[place][1])
                QToolTip.showText(
                    event.globalPos(), plain_tip(f"{name}\n{self._tip}".strip()), self
                )
                return True
        return super().event(event)


def _known(image_ids: Sequence[int], state: CollectionState) -> Iterator[tuple[int, ImageSource]]:
    for image_id in image_ids:
        source = state.visible_source_of(image_id)
        if source is not None:
            yield image_id, source
