"""The look of the confusion matrix: names, cells shaded by their share of the row, and what the keyboard is on."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen, QPolygonF

from app.theme.tokens import tokens
from app.wording import number
from engine.collection.report.confusion import Folded

# Logical pixels.
SIDE: Final = 30
HEAD: Final = 116
TOTALS: Final = 56
INDENT: Final = 12
ARROW: Final = 16


@final
@dataclass(frozen=True)
class MatrixScene:
    """What is painted of a matrix, and where."""

    folded: Folded
    name_of: Callable[[int], str]  # of a row and the column of the same classes
    names_width: int  # of the names of rows
    scrolled: QPoint
    size: QSize  # of the viewport
    hovered: tuple[int, int] | None = None  # row and column; column -1 is the name
    focused: tuple[int, int] | None = None

    def cell_rect(self, row: int, column: int) -> QRect:
        """Where a cell is in the viewport."""
        y = HEAD + SIDE * row - self.scrolled.y()
        if column < 0:
            return QRect(0, y, self.names_width, SIDE)
        return QRect(self.names_width + SIDE * column - self.scrolled.x(), y, SIDE, SIDE)

    def place_at(self, point: QPoint) -> tuple[int, int] | None:
        """The cell or name at a point."""
        row = (point.y() - HEAD + self.scrolled.y()) // SIDE
        if point.y() < HEAD or not 0 <= row < len(self.folded.lines):
            return None
        if point.x() < self.names_width:
            return row, -1
        column = (point.x() - self.names_width + self.scrolled.x()) // SIDE
        return (row, column) if column < len(self.folded.lines) else None

    def seen(self) -> tuple[range, range]:
        """Rows and columns in the viewport."""
        count, top, left = len(self.folded.lines), self.scrolled.y() // SIDE, self.scrolled.x() // SIDE
        rows = range(top, min(count, top + self.size.height() // SIDE + 2))
        return rows, range(left, min(count, left + self.size.width() // SIDE + 2))

    def paint(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_cells(painter)
        self._paint_column_names(painter)
        self._paint_row_names(painter)

    def _paint_cells(self, painter: QPainter) -> None:
        rows, columns = self.seen()
        view = QRect(QPoint(), self.size)
        painter.save()
        painter.setClipRect(view.adjusted(self.names_width, HEAD, 0, 0))
        cells, totals = self.folded.cells, self.folded.row_totals
        colours = tokens().colours
        for row in rows:
            for column in columns:
                rect = QRectF(self.cell_rect(row, column)).adjusted(1, 1, -1, -1)
                count = cells.get((row, column), 0)
                self._paint_cell(painter, rect, count, int(totals[row]), is_right=row == column)
                if (row, column) == self.hovered and count:
                    painter.setPen(QPen(QColor(colours.text_secondary), 1))
                    painter.setBrush(Qt.BrushStyle.NoBrush)
                    painter.drawRoundedRect(rect, 3, 3)
        self._paint_focus(painter)
        painter.restore()

    def _paint_cell(self, painter: QPainter, rect: QRectF, count: int, total: int, *, is_right: bool) -> None:
        colours = tokens().colours
        painter.fillRect(rect, QColor(colours.sunken))
        if not count:
            return
        painter.setPen(Qt.PenStyle.NoPen)
        shade = QColor(colours.accent if is_right else colours.danger)
        shade.setAlphaF(0.14 + 0.56 * math.sqrt(count / total))
        painter.setBrush(shade)
        painter.drawRoundedRect(rect, 3, 3)
        words = number(count)
        if painter.fontMetrics().horizontalAdvance(words) > rect.width():
            words = "…"
        painter.setPen(QColor(colours.text))
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, words)

    def _paint_focus(self, painter: QPainter) -> None:
        if self.focused is None or self.focused[1] < 0:
            return
        painter.setPen(QPen(QColor(tokens().colours.focus), 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(self.cell_rect(*self.focused)).adjusted(1, 1, -1, -1), 4, 4)

    def _paint_column_names(self, painter: QPainter) -> None:
        _, columns = self.seen()
        view, metrics = QRect(QPoint(), self.size), painter.fontMetrics()
        painter.save()
        painter.setClipRect(view.adjusted(self.names_width, 0, 0, HEAD - view.height()))
        for column in columns:
            is_current = self.hovered is not None and self.hovered[1] == column
            painter.setPen(QColor(tokens().colours.text if is_current else tokens().colours.text_secondary))
            painter.save()
            middle = self.cell_rect(0, column).center().x()
            painter.translate(middle + metrics.ascent() / 2 - 1, HEAD - 6)
            painter.rotate(-90)
            painter.drawText(0, 0, metrics.elidedText(self.name_of(column), Qt.TextElideMode.ElideRight, HEAD - 12))
            painter.restore()
        painter.restore()

    def _paint_row_names(self, painter: QPainter) -> None:
        rows, _ = self.seen()
        view, metrics = QRect(QPoint(), self.size), painter.fontMetrics()
        painter.save()
        painter.setClipRect(view.adjusted(0, HEAD, 0, 0))
        for row in rows:
            self._paint_row_name(painter, metrics, row)
            rect = self.cell_rect(row, len(self.folded.lines) - 1)
            painter.setPen(QColor(tokens().colours.text_muted))
            if rect.right() > self.names_width:
                room = QRect(rect.right() + 6, rect.top(), TOTALS - 6, SIDE)
                painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, number(int(self.folded.branch_totals[row])))
        painter.restore()

    def _paint_row_name(self, painter: QPainter, metrics: QFontMetrics, row: int) -> None:
        colours, line, rect = tokens().colours, self.folded.lines[row], self.cell_rect(row, -1)
        left = min(INDENT * line.depth, self.names_width // 2)
        if self.hovered is not None and self.hovered[0] == row:
            painter.fillRect(rect, QColor(colours.hover))
        if line.can_open:
            self._paint_arrow(painter, QPointF(left + ARROW / 2, rect.center().y() + 0.5), is_open=line.is_open)
        room = rect.adjusted(left + ARROW, 0, -8, 0)
        painter.setPen(QColor(colours.text))
        name = metrics.elidedText(self.name_of(row), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, name)
        if self.focused == (row, -1):
            painter.setPen(QPen(QColor(colours.focus), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(rect).adjusted(1, 2, -4, -2), 4, 4)

    def _paint_arrow(self, painter: QPainter, middle: QPointF, *, is_open: bool) -> None:
        points = ((-3.5, -2.0), (3.5, -2.0), (0.0, 3.0)) if is_open else ((-2.0, -3.5), (-2.0, 3.5), (3.0, 0.0))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens().colours.text_muted))
        painter.drawPolygon(QPolygonF([middle + QPointF(*point) for point in points]))
