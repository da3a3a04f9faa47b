"""Charts as SVG within a page: colours are classes of the page's style sheet, so they follow light and dark."""

from collections.abc import Sequence
from html import escape
from typing import Final, final

from engine.report.charts import Chart, Ink, Point, TextAlign, chart_height, paint

WIDTH: Final = 760.0
_FONT_PIXELS: Final = 12.0
_MEAN_ADVANCE: Final = 0.56  # of the font size; wide letters are `_WIDE_ADVANCE`
_WIDE_ADVANCE: Final = 1.0
_FIRST_WIDE: Final = 0x1100  # scripts from here on have mostly square letters
_ANCHORS: Final = {TextAlign.LEFT: "start", TextAlign.MIDDLE: "middle", TextAlign.RIGHT: "end"}


def svg_of(chart: Chart) -> str:
    """A chart as an element with its title and summary, for screen readers."""
    surface = _Svg()
    paint(chart, surface, WIDTH)
    height = chart_height(chart)
    title = escape(f"{chart.title}. {chart.summary}")
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH:.0f} {height:.0f}" role="img" aria-label="{title}">'
        f"<title>{title}</title>{''.join(surface.parts)}</svg>"
    )


def estimated_width(words: str, pixels: float = _FONT_PIXELS) -> float:
    """About the width of a text: nobody knows the font that a page will have."""
    return pixels * sum(
        _WIDE_ADVANCE if ord(each) >= _FIRST_WIDE else _MEAN_ADVANCE for each in words
    )


def cut(words: str, room: float, pixels: float = _FONT_PIXELS) -> str:
    """A text, or its beginning with an ellipsis."""
    if estimated_width(words, pixels) <= room:
        return words
    kept, used = [], pixels * _WIDE_ADVANCE
    for each in words:
        used += pixels * (_WIDE_ADVANCE if ord(each) >= _FIRST_WIDE else _MEAN_ADVANCE)
        if used > room:
            break
        kept.append(each)
    return "".join(kept).rstrip() + "…"


@final
class _Svg:
    """Collects the elements."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def line(
        self, start: Point, end: Point, ink: Ink, width: float = 1.0, *, is_dashed: bool = False
    ) -> None:
        dashes = ' stroke-dasharray="4 3"' if is_dashed else ""
        self.parts.append(
            f'<line class="s-{ink}" x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"'
            f' stroke-width="{width:g}"{dashes}/>'
        )

    def rect(self, corner: Point, size: Point, ink: Ink, radius: float = 0.0) -> None:
        self.parts.append(
            f'<rect class="f-{ink}" x="{corner[0]:.1f}" y="{corner[1]:.1f}" width="{size[0]:.1f}"'
            f' height="{size[1]:.1f}" rx="{radius:g}"/>'
        )

    def curve(self, points: Sequence[Point], ink: Ink, width: float) -> None:
        self.parts.append(
            f'<polyline class="s-{ink} c" points="{_joined(points)}" stroke-width="{width:g}"/>'
        )

    def area(self, points: Sequence[Point], ink: Ink) -> None:
        self.parts.append(f'<polygon class="f-{ink}" points="{_joined(points)}"/>')

    def text(
        self,
        at: Point,
        words: str,
        ink: Ink,
        side: TextAlign = TextAlign.LEFT,
        *,
        room: float | None = None,
    ) -> None:
        shown = words if room is None else cut(words, room)
        whole = f"<title>{escape(words)}</title>" if shown != words else ""
        self.parts.append(
            f'<text class="f-{ink}" x="{at[0]:.1f}" y="{at[1]:.1f}" text-anchor="{_ANCHORS[side]}">'
            f"{whole}<tspan>{escape(shown)}</tspan></text>"
        )

    def text_width(self, words: str) -> float:
        return estimated_width(words)


def _joined(points: Sequence[Point]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
