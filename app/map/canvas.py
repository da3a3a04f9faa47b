"""Canvas of the map: painting, and mouse gestures; edges are antialiased once it is at rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, final

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QApplication

from app.jobs.background_thread import BackgroundThread
from app.map.marks import Marks
from app.map.plane import MapPlane
from app.map.point_painter import PointPainter
from app.map.thumbs import Thumbs
from app.theme.tokens import tokens
from engine.arrays import Flags
from engine.file_parts import ImageSource

if TYPE_CHECKING:
    from app.images.thumbnails import Thumbnails

REACH = 9.0  # hit radius of a point, in logical pixels
_RING = 2.0  # width in pixels, around the hovered image
_DROPS_MOVES = Qt.ApplicationAttribute.AA_CompressHighFrequencyEvents
_NEAR = 3.0  # pixels between two corners of a lasso
_SHIFT, _CONTROL, _ALT = (
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
)


class Tool(StrEnum):
    """Effect of dragging with the left button."""

    MOVE = "move"
    LASSO = "lasso"
    RECTANGLE = "rectangle"


@final
class MapCanvas(MapPlane):
    """Interactive canvas of the map: drag to pan, Shift+drag to select, click an image."""

    row_clicked = Signal(int)  # row of a point
    row_opened = Signal(int)  # row of a double-clicked point
    row_hovered = Signal(int)  # row, or -1 for none
    tool_changed = Signal(str)

    def __init__(
        self, thumbnails: Thumbnails, source_of: Callable[[int], ImageSource | None]
    ) -> None:
        super().__init__()
        self.tool = Tool.MOVE
        self._pressed: QPointF | None = None
        self._drawing: Tool | None = None  # lasso or rectangle that a drag draws
        self._outline: Sequence[QPointF] = ()
        self._thread = BackgroundThread("map edges", self)
        self._marks = Marks(self)
        self._thumbs = Thumbs(self, thumbnails, source_of)
        self._points = PointPainter(self, self._thread)
        self._rest.timeout.connect(self._on_rest)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def stop(self) -> None:
        """Stop the antialiasing thread."""
        self._rest.stop()
        self._thread.stop()

    def row_at(self, point: QPointF) -> int | None:
        """Row of the thumbnail at a point of the widget, else of the nearest point within reach."""
        shown = self._thumbs.row_at(point)
        if shown is not None:
            return shown
        place = self.camera.to_plane(point.x(), point.y())
        return self.scene.points.nearest(*place, (REACH + self.radius) / self.camera.scale)

    def sizeHint(self) -> QSize:
        return QSize(640, 480)

    # -- painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(tokens().colours.sunken))
        if self.scene.order is not None:
            self._points.paint(painter)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, not self.moved_recently)
            if self.shows_edges and self.shows_prototypes:
                self._marks.paint_edges(painter)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._thumbs.paint(painter)
            if self.shows_prototypes:
                self._marks.paint_prototypes(painter)
            if self.shows_names:
                self._marks.paint_names(painter)
            self._paint_rings(painter)
        self._paint_outline(painter)
        painter.end()

    def _paint_rings(self, painter: QPainter) -> None:
        colours, reach = tokens().colours, self.radius + 3
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for row, colour in ((self.current, colours.accent), (self.hovered, colours.text)):
            if row is not None and not self._thumbs.shows(row):
                painter.setPen(QPen(QColor(colour), _RING))
                painter.drawEllipse(self.point_of(row), reach, reach)

    def _paint_outline(self, painter: QPainter) -> None:
        if len(self._outline) > 1:
            veil = QColor(tokens().colours.accent)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(veil, 1.5))
            veil.setAlpha(36)
            painter.setBrush(veil)
            painter.drawPolygon(QPolygonF(list(self._outline)))

    def _on_rest(self) -> None:
        self.update()
        self._points.smooth_edges()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self.look_again()
        super().changeEvent(event)

    # -- gestures

    def use(self, tool: Tool) -> None:
        if tool is not self.tool:
            self.tool = tool
            self.show_cursor()
            self.tool_changed.emit(tool.value)

    def cancel_outline(self) -> bool:
        """Cancel a lasso being drawn; False if there is none."""
        was_drawing = self._drawing is not None
        self._drawing, self._pressed, self._outline = None, None, ()
        QApplication.setAttribute(_DROPS_MOVES)
        self.update()
        return was_drawing

    def show_cursor(self) -> None:
        super().show_cursor()
        if not self.is_space_down and self.tool is not Tool.MOVE:
            self.setCursor(Qt.CursorShape.CrossCursor)

    def grab_plane(self, at: QPointF) -> None:
        self._hover(None)
        super().grab_plane(at)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        super().mousePressEvent(event)

    def on_press(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed = event.position()
            if self.tool is not Tool.MOVE:
                self._drawing = self.tool
            elif event.modifiers() & _SHIFT:
                self._drawing = Tool.LASSO
            # On a busy computer Qt drops moves, and the line would cut corners.
            QApplication.setAttribute(_DROPS_MOVES, self._drawing is None)

    def on_move(self, event: QMouseEvent) -> None:
        at = event.position()
        if self._pressed is None:
            self._hover(self.row_at(at))
        elif self._outline:
            self._draw_to(self._pressed, at)
        elif (at - self._pressed).manhattanLength() >= QApplication.startDragDistance() // 2:
            if self._drawing is None:
                self.grab_plane(self._pressed)
                self._pressed = None
            else:
                self._hover(None)
                self._draw_to(self._pressed, at)

    def _draw_to(self, start: QPointF, at: QPointF) -> None:
        if self._drawing is Tool.RECTANGLE:
            self._outline = (start, QPointF(at.x(), start.y()), at, QPointF(start.x(), at.y()))
        elif not self._outline or (at - self._outline[-1]).manhattanLength() >= _NEAR:
            self._outline = [*(self._outline or [start]), at]
        self.update()

    def on_release(self, event: QMouseEvent) -> None:
        if self._outline:
            corners = [self.camera.to_plane(each.x(), each.y()) for each in self._outline]
            self._select(self.scene.points.enclosed(corners), event.modifiers())
        elif self._pressed is not None:
            self._click(event)
        self.cancel_outline()
        self.show_cursor()

    def _click(self, event: QMouseEvent) -> None:
        row, keys = self.row_at(event.position()), event.modifiers()
        wanted = np.zeros(len(self.scene.points), dtype=bool)
        if row is None:
            if not keys & (_CONTROL | _ALT):
                self.choose(wanted)
            return
        wanted[row] = True
        is_removed = keys & _CONTROL and self.chosen[row]
        self._select(wanted, _ALT if is_removed else keys)
        self.row_clicked.emit(row)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        row = self.row_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and row is not None:
            self.row_opened.emit(row)

    def _select(self, wanted: Flags, keys: Qt.KeyboardModifier) -> None:
        """Select points; Ctrl adds them to the selection, Alt removes them."""
        if keys & _ALT:
            wanted = self.chosen & ~wanted
        elif keys & _CONTROL:
            wanted = self.chosen | wanted
        self.choose(wanted)

    def _hover(self, row: int | None) -> None:
        if row != self.hovered:
            self.hovered = row
            self.update()
            self.row_hovered.emit(-1 if row is None else row)

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(None)
        super().leaveEvent(event)
