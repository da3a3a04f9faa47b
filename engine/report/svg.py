"""Charts as inline SVG; colours are CSS classes, so they follow the light and the dark theme."""

from collections.abc import Sequence
from html import escape
from typing import final

from engine.report.charts import END, MIDDLE, START, Ink, Point, chart_height, paint
from engine.report.document import ReportChart

WIDTH = 760.0
_FONT_PIXELS = 12.0
_MEAN_ADVANCE = 0.56  # of the font size
_WIDE_ADVANCE = 1.0
_FIRST_WIDE = 0x1100  # scripts from here on have mostly square letters
_ANCHORS = {START: "start", MIDDLE: "middle", END: "end"}


def svg_of(chart: ReportChart) -> str:
    """A chart as an element with its title and summary, for screen readers."""
    surface = _Svg()
    paint(chart, surface, WIDTH)
    box = f"0 0 {WIDTH:.0f} {chart_height(chart):.0f}"
    title = escape(f"{chart.title}. {chart.summary}")
    return (
        f'<svg class="chart" viewBox="{box}" role="img" aria-label="{title}">'
        f"<title>{title}</title>{''.join(surface.parts)}</svg>"
    )


def _width(text: str) -> float:
    """Estimated width; the font of the page is not known."""
    return _FONT_PIXELS * sum(
        _WIDE_ADVANCE if ord(each) >= _FIRST_WIDE else _MEAN_ADVANCE for each in text
    )


def _cut(text: str, max_width: float) -> str:
    """A text, or its beginning with an ellipsis."""
    if _width(text) <= max_width:
        return text
    lengths = range(len(text), 0, -1)
    room = max_width - _FONT_PIXELS * _WIDE_ADVANCE
    fitting = next((length for length in lengths if _width(text[:length]) <= room), 0)
    return text[:fitting].rstrip() + "…"


@final
class _Svg:
    """A surface that collects SVG elements."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def line(
        self, start: Point, end: Point, ink: Ink, width: float = 1.0, *, is_dashed: bool = False
    ) -> None:
        dashes = ' stroke-dasharray="4 3"' if is_dashed else ""
        self.parts.append(
            f'<line class="s-{ink}" x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}"'
            f' y2="{end[1]:.1f}" stroke-width="{width:g}"{dashes}/>'
        )

    def rect(self, corner: Point, size: Point, ink: Ink, radius: float) -> None:
        self.parts.append(
            f'<rect class="f-{ink}" x="{corner[0]:.1f}" y="{corner[1]:.1f}" width="{size[0]:.1f}"'
            f' height="{size[1]:.1f}" rx="{radius:g}"/>'
        )

    def curve(self, points: Sequence[Point], ink: Ink, width: float) -> None:
        shape = f'points="{_joined(points)}" stroke-width="{width:g}"'
        self.parts.append(f'<polyline class="s-{ink} c" {shape}/>')

    def area(self, points: Sequence[Point], ink: Ink) -> None:
        self.parts.append(f'<polygon class="f-{ink}" points="{_joined(points)}"/>')

    def text(
        self,
        at: Point,
        text: str,
        ink: Ink,
        anchor: float = START,
        *,
        max_width: float | None = None,
    ) -> None:
        shown = text if max_width is None else _cut(text, max_width)
        whole = f"<title>{escape(text)}</title>" if shown != text else ""
        place = f'x="{at[0]:.1f}" y="{at[1]:.1f}" text-anchor="{_ANCHORS[anchor]}"'
        self.parts.append(
            f'<text class="f-{ink}" {place}>{whole}<tspan>{escape(shown)}</tspan></text>'
        )

    def text_width(self, text: str) -> float:
        return _width(text)


def _joined(points: Sequence[Point]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
