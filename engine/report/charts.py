"""Charts, painted once for every page: a surface is an SVG, a page of a PDF, or a widget of the window."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from engine.report.document import Bar, BarPlot, ColumnPlot, LinePlot

Point = tuple[float, float]
Chart = BarPlot | ColumnPlot | LinePlot


class Ink(StrEnum):
    """Colours by their use."""

    TEXT = "text"
    MUTED = "muted"
    LINE = "line"  # hairlines of the grid
    ACCENT = "accent"
    SOFT = "soft"  # bars
    VEIL = "veil"  # bands of uncertainty


class TextAlign(StrEnum):
    """Where a text stands beside its point."""

    LEFT = "left"  # begins there
    MIDDLE = "middle"
    RIGHT = "right"  # ends there


class Surface(Protocol):
    """What charts are painted on, in units of a pixel with y downwards."""

    def line(
        self, start: Point, end: Point, ink: Ink, width: float = 1.0, *, is_dashed: bool = False
    ) -> None: ...

    def rect(self, corner: Point, size: Point, ink: Ink, radius: float = 0.0) -> None: ...

    def curve(self, points: Sequence[Point], ink: Ink, width: float) -> None: ...

    def area(self, points: Sequence[Point], ink: Ink) -> None: ...

    def text(
        self,
        at: Point,
        words: str,
        ink: Ink,
        side: TextAlign = TextAlign.LEFT,
        *,
        room: float | None = None,
    ) -> None:
        """Write on a base line; cut with an ellipsis where it needs more than its room."""

    def text_width(self, words: str) -> float: ...


ROW: Final = 24.0  # height of a bar with its gap
BAR: Final = 14.0
LABEL_SHARE: Final = 0.34  # of the width: labels of bars at most
GAP: Final = 12.0
PLOT: Final = 190.0  # height of plots
FOOT: Final = 44.0  # below plots: values and what the axis is
HEAD: Final = 26.0  # above plots: what the vertical axis is
TITLE: Final = 18.0  # below bars: what their axis is
SCALE: Final = 44.0  # left of plots: values of the vertical axis
BASE: Final = 4.0  # from the middle of a line of text down to its base line
QUARTERS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)


def chart_height(chart: Chart) -> float:
    """Height of a chart, whatever its width."""
    return ROW * len(chart.bars) + TITLE if isinstance(chart, BarPlot) else HEAD + PLOT + FOOT


def paint(chart: Chart, surface: Surface, width: float) -> None:
    """Paint a chart of this width, from the top left corner."""
    match chart:
        case BarPlot():
            _paint_bars(chart, surface, width)
        case ColumnPlot():
            _paint_columns(chart, surface, _Plot(SCALE, HEAD, width - SCALE - GAP, PLOT))
            surface.text((0.0, HEAD - 3 * BASE), chart.up, Ink.MUTED)
        case LinePlot():
            _paint_lines(chart, surface, _Plot(SCALE, HEAD, width - SCALE - 2 * GAP, PLOT))
            surface.text((0.0, HEAD - 3 * BASE), chart.up, Ink.MUTED)


@dataclass(frozen=True)
class _Plot:
    """The rectangle between the axes."""

    left: float
    top: float
    width: float
    height: float

    def at(self, across: float, up: float) -> Point:
        return self.left + across * self.width, self.top + (1 - up) * self.height


def _paint_bars(chart: BarPlot, surface: Surface, width: float) -> None:
    labels = max((surface.text_width(bar.label) for bar in chart.bars), default=0.0)
    left = min(labels, LABEL_SHARE * width) + GAP
    values = max((surface.text_width(bar.text) for bar in chart.bars), default=0.0) + GAP
    room = max(width - left - values, 1.0)
    for place, bar in enumerate(chart.bars):
        top = place * ROW + (ROW - BAR) / 2
        middle = top + BAR / 2
        surface.text(
            (left - GAP, middle + BASE), bar.label, Ink.TEXT, TextAlign.RIGHT, room=left - GAP
        )
        end = _paint_bar(bar, surface, (left, top), room, chart.highest)
        surface.text((end + GAP / 2, middle + BASE), bar.text, Ink.MUTED, TextAlign.LEFT)
    foot = ROW * len(chart.bars) + TITLE - 2 * BASE
    surface.text((left, foot), chart.along, Ink.MUTED, TextAlign.LEFT)


def _paint_bar(bar: Bar, surface: Surface, corner: Point, room: float, highest: float) -> float:
    """Where the bar ends."""
    left, top = corner
    length = room * _part(bar.value, highest)
    if bar.interval is not None:
        surface.rect(corner, (room, BAR), Ink.LINE, 3)
    surface.rect(corner, (max(length, 1.5), BAR), Ink.ACCENT if bar.part is None else Ink.SOFT, 3)
    if bar.part:
        surface.rect(corner, (max(room * _part(bar.part, highest), 1.5), BAR), Ink.ACCENT, 3)
    if bar.interval is None:
        return left + length
    low, high = (left + room * _part(value, highest) for value in bar.interval)
    middle = top + BAR / 2
    surface.line((low, middle), (high, middle), Ink.TEXT, 1.5)
    for end in (low, high):
        surface.line((end, middle - 3), (end, middle + 3), Ink.TEXT, 1.5)
    return left + room


def _part(value: float, highest: float) -> float:
    return min(max(value / highest, 0.0), 1.0) if highest > 0 and value == value else 0.0  # noqa: PLR0124 (NaN)


def _paint_grid(surface: Surface, plot: _Plot, texts: Sequence[str]) -> None:
    for part, words in zip(QUARTERS, texts, strict=True):
        start, end = plot.at(0, part), plot.at(1, part)
        surface.line(start, end, Ink.LINE)
        surface.text((start[0] - 8, start[1] + BASE), words, Ink.MUTED, TextAlign.RIGHT)


def _paint_columns(chart: ColumnPlot, surface: Surface, plot: _Plot) -> None:
    highest = 1.0 if chart.marks else _round_up(chart.highest)
    shown = [f"{100 * part:.0f}%" if chart.marks else f"{part * highest:,.4g}" for part in QUARTERS]
    _paint_grid(surface, plot, shown)
    step = 1 / max(len(chart.columns), 1)
    thick = min(0.72 * step * plot.width, 56.0)
    for place, bar in enumerate(chart.columns):
        middle = plot.at((place + 0.5) * step, 0)[0]
        _paint_column(surface, plot, bar, (middle, thick), highest)
        if chart.marks:
            y = plot.at(0, chart.marks[place])[1]
            surface.line((middle - thick / 2 - 3, y), (middle + thick / 2 + 3, y), Ink.TEXT, 2)
    _paint_column_names(chart, surface, plot, step)


def _paint_column(surface: Surface, plot: _Plot, bar: Bar, where: Point, highest: float) -> None:
    middle, thick = where
    floor = plot.at(0, 0)[1]
    values = [
        (bar.value, Ink.SOFT if bar.part is not None or bar.interval is not None else Ink.ACCENT)
    ]
    if bar.part:
        values.append((bar.part, Ink.ACCENT))
    for value, ink in values:
        height = max(plot.height * _part(value, highest), 1.5)
        surface.rect((middle - thick / 2, floor - height), (thick, height), ink, 2)
    if bar.interval is not None:
        low, high = (plot.at(0, _part(value, highest))[1] for value in bar.interval)
        surface.line((middle, low), (middle, high), Ink.MUTED, 1.5)


def _paint_column_names(chart: ColumnPlot, surface: Surface, plot: _Plot, step: float) -> None:
    """As many names as fit beside each other."""
    widest = max((surface.text_width(bar.label) for bar in chart.columns), default=0.0) + 10
    every = max(1, -int(-widest // max(step * plot.width, 1.0)))
    floor = plot.at(0, 0)[1]
    for place, bar in enumerate(chart.columns):
        if place % every == 0:
            surface.text(
                (plot.at((place + 0.5) * step, 0)[0], floor + 17),
                bar.label,
                Ink.MUTED,
                TextAlign.MIDDLE,
            )
    surface.text((plot.at(0.5, 0)[0], floor + 36), chart.along, Ink.MUTED, TextAlign.MIDDLE)


def _round_up(value: float) -> float:
    """The next number whose quarters are short."""
    tens = 1.0
    while 20 * tens < value:
        tens *= 10
    return next(
        size for size in (4 * tens, 8 * tens, 12 * tens, 16 * tens, 20 * tens) if size >= value
    )


def _paint_lines(chart: LinePlot, surface: Surface, plot: _Plot) -> None:
    _paint_grid(surface, plot, [f"{100 * part:.0f}%" for part in QUARTERS])
    length = max(chart.high - chart.low, 1e-9)

    def at(x: float, y: float) -> Point:
        return plot.at((x - chart.low) / length, y)

    for curve in chart.curves:
        if curve.band:
            xs = [x for x, _ in curve.points]
            upper = [at(x, high) for x, (_, high) in zip(xs, curve.band, strict=True)]
            lower = [at(x, low) for x, (low, _) in zip(xs, curve.band, strict=True)]
            surface.area([*upper, *reversed(lower)], Ink.VEIL)
    for curve in chart.curves:
        surface.curve(
            [at(x, y) for x, y in curve.points], Ink.ACCENT if curve.is_main else Ink.MUTED, 2.0
        )
    floor = plot.at(0, 0)[1]
    for tenth in range(round(10 * chart.low), round(10 * chart.high) + 1):
        surface.text(
            (at(tenth / 10, 0)[0], floor + 17), f"{10 * tenth}%", Ink.MUTED, TextAlign.MIDDLE
        )
    surface.text((plot.at(0.5, 0)[0], floor + 36), chart.along, Ink.MUTED, TextAlign.MIDDLE)
    _paint_bar_in_use(chart, surface, plot, length)
    _paint_key(chart, surface, plot)


def _paint_bar_in_use(chart: LinePlot, surface: Surface, plot: _Plot, length: float) -> None:
    if chart.at is None:
        return
    across = min(max((chart.at - chart.low) / length, 0.0), 1.0)
    foot, top = plot.at(across, 0), plot.at(across, 1)
    surface.line(foot, top, Ink.TEXT, 1.2, is_dashed=True)
    is_right = across > 0.5  # noqa: PLR2004 (the half of it)
    side, x = (TextAlign.RIGHT, foot[0] - 6) if is_right else (TextAlign.LEFT, foot[0] + 6)
    surface.text((x, foot[1] - 8), chart.at_name, Ink.TEXT, side)


def _paint_key(chart: LinePlot, surface: Surface, plot: _Plot) -> None:
    """Which line is which, in the lower left where both are high, at the first confidences."""
    x, y = plot.at(0, 0)[0] + 10, plot.at(0, 0)[1] - 14 - 18 * (len(chart.curves) - 1)
    if chart.at is not None and (chart.at - chart.low) / max(chart.high - chart.low, 1e-9) < 0.35:  # noqa: PLR2004 (the key's width)
        x = plot.at(0.62, 0)[0]
    for place, curve in enumerate(chart.curves):
        ink, middle = Ink.ACCENT if curve.is_main else Ink.MUTED, y + 18 * place
        surface.line((x, middle), (x + 18, middle), ink, 2.5)
        surface.text((x + 26, middle + BASE), curve.name, Ink.TEXT)
