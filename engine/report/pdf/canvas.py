"""A surface for charts on a page of a PDF, and the colours of paper."""

from collections.abc import Sequence
from typing import Any, Final, final

from engine.report.charts import Ink, Point, TextAlign
from engine.report.pdf.fonts import REGULAR, cut_to, draw, width_of
from engine.report.shown import printable

COLOURS: Final = {
    "text": "#1a1f1a", "secondary": "#4f574d", "muted": "#667064", "line": "#e3e6e0", "sunken": "#eef0ec",
    "accent": "#2c7a4b", "soft": "#bfdcc9", "veil": "#d5e4db",
    "warning": "#8a5a00", "wrong": "#b95029",
}  # fmt: skip
_SIZE: Final = 12.0


def colour(name: str) -> Any:
    """A colour of the library."""
    from reportlab.lib.colors import HexColor

    return HexColor(COLOURS[name])


def mixed(name: str, share: float) -> Any:
    """A colour with white: its share of it."""
    from reportlab.lib.colors import Color

    whole = colour(name)
    return Color(*(1 - share * (1 - part) for part in (whole.red, whole.green, whole.blue)))


@final
class PageSurface:
    """Paints downwards from the canvas's origin; units are those of the canvas."""

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

    def rect(self, corner: Point, size: Point, ink: Ink, radius: float = 0.0) -> None:
        self._canvas.setFillColor(colour(ink))
        corners = min(radius, size[0] / 2, size[1] / 2)
        self._canvas.roundRect(
            corner[0], -corner[1] - size[1], size[0], size[1], corners, stroke=0, fill=1
        )

    def curve(self, points: Sequence[Point], ink: Ink, width: float) -> None:
        if not points:
            return
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
        words: str,
        ink: Ink,
        side: TextAlign = TextAlign.LEFT,
        *,
        room: float | None = None,
    ) -> None:
        shown = printable(words) if room is None else cut_to(printable(words), room, REGULAR, _SIZE)
        shift = {TextAlign.LEFT: 0.0, TextAlign.MIDDLE: 0.5, TextAlign.RIGHT: 1.0}[side] * width_of(
            shown, REGULAR, _SIZE
        )
        self._canvas.setFillColor(colour(ink))
        draw(self._canvas, (at[0] - shift, -at[1]), shown, REGULAR, _SIZE)

    def text_width(self, words: str) -> float:
        return width_of(printable(words), REGULAR, _SIZE)
