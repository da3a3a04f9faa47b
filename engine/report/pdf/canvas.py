"""Writing and painting on a page of a PDF, with the colours of paper."""

from collections.abc import Sequence
from typing import Any, final

from engine.report.charts import START, Ink, Point
from engine.report.pdf.fonts import REGULAR, cut_to, runs_of, width_of
from engine.report.words import printable

COLOURS = {
    "text": "#1a1f1a",
    "secondary": "#4f574d",
    "muted": "#667064",
    "line": "#e3e6e0",
    "sunken": "#eef0ec",
    "accent": "#2c7a4b",
    "soft": "#bfdcc9",
    "veil": "#d5e4db",
    "warning": "#8a5a00",
    "wrong": "#b95029",
}
_CHART_FONT_SIZE = 12.0


def colour(name: str) -> Any:
    """A colour of ReportLab."""
    from reportlab.lib.colors import HexColor

    return HexColor(COLOURS[name])


def mixed(name: str, share: float) -> Any:
    """A colour blended with white."""
    from reportlab.lib.colors import Color

    whole = colour(name)
    return Color(*(1 - share * (1 - part) for part in (whole.red, whole.green, whole.blue)))


def write(
    canvas: Any,
    at: Point,
    text: str,
    size: float,
    ink: str,
    *,
    font: str = REGULAR,
    anchor: float = START,
    max_width: float | None = None,
) -> None:
    """Write a line of text on a baseline; one that is too wide ends in an ellipsis."""
    shown = printable(text)
    if max_width is not None:
        shown = cut_to(shown, max_width, font, size)
    x, y = at
    if anchor:
        x -= anchor * width_of(shown, font, size)
    canvas.setFillColor(colour(ink))
    for name, part in runs_of(shown, font):
        canvas.setFont(name, size)
        canvas.drawString(x, y, part)
        x += canvas.stringWidth(part, name, size)


@final
class PageSurface:
    """A surface for charts, downwards from the canvas's origin, in its units."""

    def __init__(self, canvas: Any) -> None:
        self._canvas = canvas

    def line(
        self, start: Point, end: Point, ink: Ink, width: float = 1.0, *, is_dashed: bool = False
    ) -> None:
        self._canvas.setStrokeColor(colour(ink))
        self._canvas.setLineWidth(width)
        self._canvas.setDash(*((4, 3) if is_dashed else ()))
        self._canvas.line(start[0], -start[1], end[0], -end[1])
        self._canvas.setDash()

    def rect(self, corner: Point, size: Point, ink: Ink, radius: float) -> None:
        self._canvas.setFillColor(colour(ink))
        (x, y), (width, height) = corner, size
        radius = min(radius, width / 2, height / 2)
        self._canvas.roundRect(x, -y - height, width, height, radius, stroke=0, fill=1)

    def curve(self, points: Sequence[Point], ink: Ink, width: float) -> None:
        if points:
            self._canvas.setStrokeColor(colour(ink))
            self._canvas.setLineWidth(width)
            self._canvas.drawPath(self._path(points), stroke=1, fill=0)

    def area(self, points: Sequence[Point], ink: Ink) -> None:
        self._canvas.setFillColor(colour(ink))
        self._canvas.drawPath(self._path(points), stroke=0, fill=1)

    def _path(self, points: Sequence[Point]) -> Any:
        path = self._canvas.beginPath()
        path.moveTo(points[0][0], -points[0][1])
        for x, y in points[1:]:
            path.lineTo(x, -y)
        return path

    def text(
        self,
        at: Point,
        text: str,
        ink: Ink,
        anchor: float = START,
        *,
        max_width: float | None = None,
    ) -> None:
        point = at[0], -at[1]
        write(self._canvas, point, text, _CHART_FONT_SIZE, ink, anchor=anchor, max_width=max_width)

    def text_width(self, text: str) -> float:
        return width_of(printable(text), REGULAR, _CHART_FONT_SIZE)
