"""Geometry and painting of the confusion matrix: names, shaded cells and the focus frame."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen, QPolygonF

from app.texts import tr
from app.theme.tokens import tokens
from app.wording import number
from engine.report.confusion import Folded

# Logical pixels.
SMALLEST_SIDE = 26  # of a cell: fits three digits
LARGEST_SIDE = 44
WIDEST_NAMES = 260  # of row names
NARROWEST_NAMES = 110
HIGHEST_HEAD = 200  # of column names
TITLE = 24  # of the axes
TOTALS = 56
INDENT = 12
ARROW = 16
GAP = 8  # padding of names


@dataclass(frozen=True)
class MatrixSizes:
    """Sizes of the parts of a matrix, in logical pixels."""

    names: int  # width of the row names
    head: int  # height of the column names, with the axis title
    side: int  # of a cell

    @classmethod
    def fitting(
        cls, folded: Folded, name_of: Callable[[int], str], metrics: QFontMetrics, width: int
    ) -> MatrixSizes:
        """Give names the width they need, up to a limit, and cells the remaining width."""
        wide = [metrics.horizontalAdvance(name_of(row)) for row in range(len(folded.lines))]
        insets = [INDENT * line.depth + ARROW + GAP + 2 for line in folded.lines]
        wanted = max((sum(pair) for pair in zip(wide, insets, strict=True)), default=0)
        count = max(len(folded.lines), 1)
        names = min(max(wanted, NARROWEST_NAMES), WIDEST_NAMES, max(width // 2, NARROWEST_NAMES))
        side = min(max((width - names - TOTALS) // count, SMALLEST_SIDE), LARGEST_SIDE)
        return cls(names, min(max(wide, default=0) + 2 * GAP, HIGHEST_HEAD) + TITLE, side)


@final
@dataclass(frozen=True)
class MatrixScene:
    """A matrix as it is painted, with its geometry."""

    folded: Folded
    name_of: Callable[[int], str]  # class name of a row, and of the column of the same number
    sizes: MatrixSizes
    scrolled: int  # horizontal offset
    size: QSize  # of the viewport
    visible: QRect  # exposed part of the viewport
    hovered: tuple[int, int] | None = None  # row and column; column -1 is the name
    focused: tuple[int, int] | None = None

    def cell_rect(self, row: int, column: int) -> QRect:
        """Rectangle of a cell in the viewport."""
        sizes = self.sizes
        y = sizes.head + sizes.side * row
        if column < 0:
            return QRect(0, y, sizes.names, sizes.side)
        return QRect(sizes.names + sizes.side * column - self.scrolled, y, sizes.side, sizes.side)

    def place_at(self, point: QPoint) -> tuple[int, int] | None:
        """The cell or name at a point."""
        sizes = self.sizes
        row = (point.y() - sizes.head) // sizes.side
        if point.y() < sizes.head or not 0 <= row < len(self.folded.lines):
            return None
        if point.x() < sizes.names:
            return row, -1
        column = (point.x() - sizes.names + self.scrolled) // sizes.side
        return (row, column) if column < len(self.folded.lines) else None

    def seen(self) -> tuple[range, range]:
        """Visible rows and columns."""
        count, side = len(self.folded.lines), self.sizes.side
        top, left = max(0, self.visible.top() - self.sizes.head) // side, self.scrolled // side
        rows = range(min(top, count), min(count, top + self.visible.height() // side + 2))
        return rows, range(left, min(count, left + self.size.width() // side + 2))

    def paint(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_titles(painter)
        self._paint_cells(painter)
        self._paint_column_names(painter)
        self._paint_row_names(painter)

    def _paint_titles(self, painter: QPainter) -> None:
        """Paint the titles of the axes."""
        sizes, left = self.sizes, self.sizes.names
        painter.setPen(QColor(tokens().colours.text_muted))
        across = QRect(left, 0, self.size.width() - left, TITLE)
        painter.drawText(
            across,
            Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft,
            tr("Predicted class"),
        )
        down = QRect(GAP, sizes.head - TITLE, left - GAP, TITLE)
        painter.drawText(
            down, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, tr("Correct class")
        )

    def _paint_cells(self, painter: QPainter) -> None:
        rows, columns = self.seen()
        view = QRect(QPoint(), self.size)
        painter.save()
        painter.setClipRect(view.adjusted(self.sizes.names, self.sizes.head, 0, 0))
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

    def _paint_cell(
        self, painter: QPainter, rect: QRectF, count: int, total: int, *, is_right: bool
    ) -> None:
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
        head = self.sizes.head
        painter.setClipRect(view.adjusted(self.sizes.names, 0, 0, head - view.height()))
        for column in columns:
            is_current = self.hovered is not None and self.hovered[1] == column
            painter.setPen(
                QColor(tokens().colours.text if is_current else tokens().colours.text_secondary)
            )
            painter.save()
            middle = self.cell_rect(0, column).center().x()
            painter.translate(middle + metrics.ascent() / 2 - 1, head - 6)
            painter.rotate(-90)
            painter.drawText(
                0,
                0,
                metrics.elidedText(
                    self.name_of(column), Qt.TextElideMode.ElideRight, head - TITLE - GAP
                ),
            )
            painter.restore()
        painter.restore()

    def _paint_row_names(self, painter: QPainter) -> None:
        rows, _ = self.seen()
        view, metrics = QRect(QPoint(), self.size), painter.fontMetrics()
        painter.save()
        painter.setClipRect(view.adjusted(0, self.sizes.head, 0, 0))
        for row in rows:
            self._paint_row_name(painter, metrics, row)
            rect = self.cell_rect(row, len(self.folded.lines) - 1)
            painter.setPen(QColor(tokens().colours.text_muted))
            if rect.right() > self.sizes.names:
                room = QRect(rect.right() + 6, rect.top(), TOTALS - 6, rect.height())
                painter.drawText(
                    room, Qt.AlignmentFlag.AlignVCenter, number(int(self.folded.branch_totals[row]))
                )
        painter.restore()

    def _paint_row_name(self, painter: QPainter, metrics: QFontMetrics, row: int) -> None:
        colours, line, rect = tokens().colours, self.folded.lines[row], self.cell_rect(row, -1)
        left = min(INDENT * line.depth, self.sizes.names // 2)
        if self.hovered is not None and self.hovered[0] == row:
            painter.fillRect(rect, QColor(colours.hover))
        if line.can_open:
            self._paint_arrow(
                painter, QPointF(left + ARROW / 2, rect.center().y() + 0.5), is_open=line.is_open
            )
        room = rect.adjusted(left + ARROW, 0, -GAP, 0)
        painter.setPen(QColor(colours.text))
        name = metrics.elidedText(self.name_of(row), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, name)
        if self.focused == (row, -1):
            painter.setPen(QPen(QColor(colours.focus), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(rect).adjusted(1, 2, -4, -2), 4, 4)

    def _paint_arrow(self, painter: QPainter, middle: QPointF, *, is_open: bool) -> None:
        points = (
            ((-3.5, -2.0), (3.5, -2.0), (0.0, 3.0))
            if is_open
            else ((-2.0, -3.5), (-2.0, 3.5), (3.0, 0.0))
        )
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens().colours.text_muted))
        painter.drawPolygon(QPolygonF([middle + QPointF(*point) for point in points]))
