"""The whole drawing in a corner, with a frame around what is seen; gone when all is in sight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.graph_view.camera import Camera, Rect
from app.graph_view.overview import HIGHEST, WIDEST
from app.texts import tr
from app.theme.tokens import tokens

if TYPE_CHECKING:
    from app.graph_view.sheet import GraphSheet

MARGIN: Final = 8  # logical pixels around the picture
_FRAME_FILL: Final = 0.10  # how opaque the part that is seen is washed over
_SEEN: Final = 0.995  # share of the drawing from which on all counts as seen


@final
class MiniMap(QWidget):
    """Where one is; a click goes there."""

    def __init__(self, sheet: GraphSheet) -> None:
        super().__init__(sheet)
        self._sheet = sheet
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setToolTip(tr("Click or drag to look elsewhere"))
        self.setAccessibleName(tr("The whole graph"))
        sheet.looked.connect(self.follow)
        self.hide()

    def sizeHint(self) -> QSize:
        picture = self._sheet.picture.overview.picture
        size = picture.deviceIndependentSize().toSize() if not picture.isNull() else QSize(WIDEST, HIGHEST)
        return size + QSize(2 * MARGIN, 2 * MARGIN)

    def follow(self) -> None:
        """Show where one looks, or go where nothing is out of sight."""
        overview = self._sheet.picture.overview
        is_wanted = overview.is_complete and len(self._sheet.drawing) > 1 and not self._sees_all(overview.bounds)
        if is_wanted:
            size, gap = self.sizeHint(), tokens().spacing.medium
            self.setGeometry(self._sheet.width() - size.width() - gap, self._sheet.height() - size.height() - gap,
                             size.width(), size.height())  # fmt: skip
        self.setVisible(is_wanted)
        self.update()

    def _sees_all(self, bounds: Rect) -> bool:
        seen = QRectF(*_corner_and_size(self._sheet.viewport.goal.seen(self._sheet.size_seen)))
        whole = QRectF(*_corner_and_size(bounds))
        part = seen.intersected(whole)
        return part.width() * part.height() >= _SEEN * whole.width() * whole.height()

    @property
    def _scale(self) -> float:
        """Logical pixels for one unit of the drawing."""
        left, _top, right, _bottom = self._sheet.picture.overview.bounds
        return (self.width() - 2 * MARGIN) / max(1.0, right - left)

    def paintEvent(self, _event: QPaintEvent) -> None:
        colours, radius = tokens().colours, tokens().spacing.radius
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(colours.hairline), 1))
        painter.setBrush(QColor(colours.window))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
        painter.drawPixmap(QPointF(MARGIN, MARGIN), self._sheet.picture.overview.picture)
        frame, fill = self._frame(), QColor(colours.accent)
        painter.setPen(QPen(fill, 1.5))
        fill.setAlphaF(_FRAME_FILL)
        painter.setBrush(fill)
        painter.drawRoundedRect(frame.intersected(QRectF(self.rect()).adjusted(2, 2, -2, -2)), 3, 3)
        painter.end()

    def _frame(self) -> QRectF:
        left, top, _right, _bottom = self._sheet.picture.overview.bounds
        seen, scale = self._sheet.viewport.camera.seen(self._sheet.size_seen), self._scale
        return QRectF(
            MARGIN + (seen[0] - left) * scale, MARGIN + (seen[1] - top) * scale,
            (seen[2] - seen[0]) * scale, (seen[3] - seen[1]) * scale,
        )  # fmt: skip

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._look_at(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._look_at(event.position())

    def _look_at(self, place: QPointF) -> None:
        left, top, _right, _bottom = self._sheet.picture.overview.bounds
        x, y = left + (place.x() - MARGIN) / self._scale, top + (place.y() - MARGIN) / self._scale
        self._sheet.viewport.look(Camera(x, y, self._sheet.viewport.camera.scale))


def _corner_and_size(rect: Rect) -> Rect:
    return rect[0], rect[1], rect[2] - rect[0], rect[3] - rect[1]
