"""Charts of a report as widgets, painted by the engine's chart code in the window's colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.mirroring import keep_as_drawn
from app.theme.tokens import tokens
from engine.report.charts import START, Ink, Point, chart_height, paint
from engine.report.document import ReportChart

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST_WIDTH = 280  # logical pixels
MOST_WIDTH = 900  # logical pixels; wider charts are no easier to read
VEIL = 40  # alpha of confidence bands, 0-255
SOFT = 90  # alpha of bars with a darker part, 0-255


@final
class ChartView(QWidget):
    """A chart; its accessible name is the title."""

    def __init__(self, chart: ReportChart) -> None:
        super().__init__()
        self._chart = chart
        keep_as_drawn(self)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(LEAST_WIDTH)
        self.setMaximumWidth(MOST_WIDTH)
        self.setFixedHeight(round(chart_height(chart)))
        self.setAccessibleName(chart.title)
        self.setAccessibleDescription(chart.summary)

    def sizeHint(self) -> QSize:
        return QSize(MOST_WIDTH, round(chart_height(self._chart)))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setLayoutDirection(self.layoutDirection())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = QFont(self.font())
        font.setPixelSize(tokens().sizes.caption)
        painter.setFont(font)
        paint(self._chart, _Painted(painter), self.width())
        painter.end()


@final
class _Painted:
    """A `Surface` that paints with a `QPainter`."""

    def __init__(self, painter: QPainter) -> None:
        self._painter = painter
        self._metrics = QFontMetricsF(painter.font())

    def line(
        self, start: Point, end: Point, ink: Ink, width: float = 1.0, *, is_dashed: bool = False
    ) -> None:
        style = Qt.PenStyle.DashLine if is_dashed else Qt.PenStyle.SolidLine
        self._painter.setPen(QPen(ink_colour(ink), width, style))
        self._painter.drawLine(QPointF(*start), QPointF(*end))

    def rect(self, corner: Point, size: Point, ink: Ink, radius: float) -> None:
        self._fill(tokens().colours.sunken if ink is Ink.LINE else ink_colour(ink))
        self._painter.drawRoundedRect(QRectF(*corner, *size), radius, radius)

    def curve(self, points: Sequence[Point], ink: Ink, width: float) -> None:
        self._painter.setBrush(Qt.BrushStyle.NoBrush)
        self._painter.setPen(
            QPen(ink_colour(ink), width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
        )
        self._painter.drawPolyline(_polygon(points))

    def area(self, points: Sequence[Point], ink: Ink) -> None:
        self._fill(ink_colour(ink))
        self._painter.drawPolygon(_polygon(points))

    def text(
        self,
        at: Point,
        text: str,
        ink: Ink,
        anchor: float = START,
        *,
        max_width: float | None = None,
    ) -> None:
        shown = text
        if max_width is not None:
            shown = self._metrics.elidedText(text, Qt.TextElideMode.ElideRight, max_width)
        shift = anchor * self.text_width(shown)
        self._painter.setPen(ink_colour(ink))
        self._painter.drawText(QPointF(at[0] - shift, at[1]), shown)

    def text_width(self, text: str) -> float:
        return self._metrics.horizontalAdvance(text)

    def _fill(self, colour: QColor | str) -> None:
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(QColor(colour))


def _polygon(points: Sequence[Point]) -> QPolygonF:
    return QPolygonF([QPointF(*point) for point in points])


def ink_colour(ink: Ink) -> QColor:
    """The theme colour of an ink."""
    colours = tokens().colours
    named = {
        Ink.TEXT: colours.text,
        Ink.MUTED: colours.text_muted,
        Ink.LINE: colours.hairline,
        Ink.ACCENT: colours.accent,
        Ink.SOFT: colours.accent,
        Ink.VEIL: colours.accent,
    }
    colour = QColor(named[ink])
    if ink in (Ink.SOFT, Ink.VEIL):
        colour.setAlpha(SOFT if ink is Ink.SOFT else VEIL)
    return colour
