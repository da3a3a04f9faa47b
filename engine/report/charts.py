"""Painter of the charts: onto an SVG, a page of a PDF, or a widget of the window."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isnan
from typing import Protocol

from engine.report.document import Bar, BarPlot, ColumnPlot, LinePlot, ReportChart

Point = tuple[float, float]


class Ink(StrEnum):
    """Colour roles."""

    TEXT = "text"
    MUTED = "muted"
    LINE = "line"  # hairlines of the grid
    ACCENT = "accent"
    SOFT = "soft"  # bars
    VEIL = "veil"  # confidence bands


START = 0.0
MIDDLE = 0.5
END = 1.0
"""Anchors: which part of a text is at its point."""


class Surface(Protocol):
    """Drawing operations that charts need, in pixels with y downwards."""

    def line(
        self, start: Point, end: Point, ink: Ink, width: float = 1.0, *, is_dashed: bool = False
    ) -> None: ...

    def rect(self, corner: Point, size: Point, ink: Ink, radius: float) -> None: ...

    def curve(self, points: Sequence[Point], ink: Ink, width: float) -> None: ...

    def area(self, points: Sequence[Point], ink: Ink) -> None: ...

    def text(
        self,
        at: Point,
        text: str,
        ink: Ink,
        anchor: float = START,
        *,
        max_width: float | None = None,
    ) -> None:
        """Write on a baseline; a text that is too wide ends in an ellipsis."""

    def text_width(self, text: str) -> float: ...


ROW = 24.0  # height of a bar with its gap
BAR = 14.0
LABEL_SHARE = 0.34  # maximum width of the labels of bars, of the whole width
GAP = 12.0
PLOT = 190.0  # height of plots
FOOTER = 44.0  # below plots: tick labels and title of the horizontal axis
HEAD = 26.0  # above plots: title of the vertical axis
TITLE = 18.0  # below bars: title of their axis
SCALE = 44.0  # left of plots: tick labels of the vertical axis
BASE = 4.0  # from the middle of a line of text down to its baseline
QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
KEY_WIDTH = 0.35  # of the plot; a reference line within it moves the key to the right


def chart_height(chart: ReportChart) -> float:
    """Height of a chart; it does not depend on the width."""
    return ROW * len(chart.bars) + TITLE if isinstance(chart, BarPlot) else HEAD + PLOT + FOOTER


def paint(chart: ReportChart, surface: Surface, width: float) -> None:
    """Paint a chart from the top left corner."""
    if isinstance(chart, BarPlot):
        _paint_bars(chart, surface, width)
    elif isinstance(chart, ColumnPlot | LinePlot):
        right = GAP if isinstance(chart, ColumnPlot) else 2 * GAP
        plot = _Plot(SCALE, HEAD, width - SCALE - right, PLOT)
        if isinstance(chart, ColumnPlot):
            _paint_columns(chart, surface, plot)
        else:
            _paint_lines(chart, surface, plot)
        surface.text((0.0, HEAD - 3 * BASE), chart.y_title, Ink.MUTED)
        x, floor = plot.at(0.5, 0)
        surface.text((x, floor + 36), chart.x_title, Ink.MUTED, MIDDLE)


@dataclass(frozen=True)
class _Plot:
    """The rectangle between the axes."""

    left: float
    top: float
    width: float
    height: float

    def at(self, x: float, y: float) -> Point:
        return self.left + x * self.width, self.top + (1 - y) * self.height


def _paint_bars(chart: BarPlot, surface: Surface, width: float) -> None:
    labels = max((surface.text_width(bar.label) for bar in chart.bars), default=0.0)
    left = min(labels, LABEL_SHARE * width) + GAP
    values = max((surface.text_width(bar.text) for bar in chart.bars), default=0.0) + GAP
    length = max(width - left - values, 1.0)
    for place, bar in enumerate(chart.bars):
        top = place * ROW + (ROW - BAR) / 2
        base = top + BAR / 2 + BASE
        surface.text((left - GAP, base), bar.label, Ink.TEXT, END, max_width=left - GAP)
        end = _paint_bar(bar, surface, (left, top), length, chart.highest)
        surface.text((end + GAP / 2, base), bar.text, Ink.MUTED)
    footer = ROW * len(chart.bars) + TITLE - 2 * BASE
    surface.text((left, footer), chart.x_title, Ink.MUTED)


def _paint_bar(bar: Bar, surface: Surface, corner: Point, length: float, highest: float) -> float:
    """Paint a bar on an axis of this length; return the x of its end."""
    left, top = corner
    end = length * _part(bar.value, highest)
    if bar.interval is not None:
        surface.rect(corner, (length, BAR), Ink.LINE, 3)
    surface.rect(corner, (max(end, 1.5), BAR), Ink.ACCENT if bar.part is None else Ink.SOFT, 3)
    if bar.part:
        surface.rect(corner, (max(length * _part(bar.part, highest), 1.5), BAR), Ink.ACCENT, 3)
    if bar.interval is None:
        return left + end
    low, high = (left + length * _part(value, highest) for value in bar.interval)
    middle = top + BAR / 2
    surface.line((low, middle), (high, middle), Ink.TEXT, 1.5)
    for x in (low, high):
        surface.line((x, middle - 3), (x, middle + 3), Ink.TEXT, 1.5)
    return left + length


def _part(value: float, highest: float) -> float:
    """Share of the axis in [0, 1]; 0 for NaN."""
    return 0.0 if highest <= 0 or isnan(value) else min(max(value / highest, 0.0), 1.0)


def _paint_grid(surface: Surface, plot: _Plot, texts: Sequence[str]) -> None:
    for part, text in zip(QUARTERS, texts, strict=True):
        start, end = plot.at(0, part), plot.at(1, part)
        surface.line(start, end, Ink.LINE)
        surface.text((start[0] - 8, start[1] + BASE), text, Ink.MUTED, END)


def _paint_columns(chart: ColumnPlot, surface: Surface, plot: _Plot) -> None:
    highest = 1.0 if chart.marks else _round_up(max(bar.value for bar in chart.columns))
    shown = [f"{100 * part:.0f}%" if chart.marks else f"{part * highest:,.4g}" for part in QUARTERS]
    _paint_grid(surface, plot, shown)
    step = 1 / len(chart.columns)
    thick = min(0.72 * step * plot.width, 56.0)
    widest = max(surface.text_width(bar.label) for bar in chart.columns) + 10
    label_every = max(1, -int(-widest // max(step * plot.width, 1.0)))
    for place, bar in enumerate(chart.columns):
        middle, floor = plot.at((place + 0.5) * step, 0)
        _paint_column(surface, plot, bar, (middle, thick), highest)
        if chart.marks:
            y = plot.at(0, chart.marks[place])[1]
            surface.line((middle - thick / 2 - 3, y), (middle + thick / 2 + 3, y), Ink.TEXT, 2)
        if place % label_every == 0:
            surface.text((middle, floor + 17), bar.label, Ink.MUTED, MIDDLE)


def _paint_column(surface: Surface, plot: _Plot, bar: Bar, where: Point, highest: float) -> None:
    middle, thick = where
    floor = plot.at(0, 0)[1]
    is_plain = bar.part is None and bar.interval is None
    values = [(bar.value, Ink.ACCENT if is_plain else Ink.SOFT)]
    if bar.part:
        values.append((bar.part, Ink.ACCENT))
    for value, ink in values:
        height = max(plot.height * _part(value, highest), 1.5)
        surface.rect((middle - thick / 2, floor - height), (thick, height), ink, 2)
    if bar.interval is not None:
        low, high = (plot.at(0, _part(value, highest))[1] for value in bar.interval)
        surface.line((middle, low), (middle, high), Ink.MUTED, 1.5)


def _round_up(value: float) -> float:
    """The next number with short quarters."""
    tens = 1.0
    while 20 * tens < value:
        tens *= 10
    return next(factor * tens for factor in (4, 8, 12, 16, 20) if factor * tens >= value)


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
        ink = Ink.ACCENT if curve.is_main else Ink.MUTED
        surface.curve([at(x, y) for x, y in curve.points], ink, 2.0)
    for tenth in range(round(10 * chart.low), round(10 * chart.high) + 1):
        x, floor = at(tenth / 10, 0)
        surface.text((x, floor + 17), f"{10 * tenth}%", Ink.MUTED, MIDDLE)
    reference = (chart.reference - chart.low) / length
    _paint_reference(chart, surface, plot, min(max(reference, 0.0), 1.0))
    left, floor = plot.at(0, 0)
    key = plot.at(0.62, 0)[0] if reference < KEY_WIDTH else left + 10
    _paint_key(chart, surface, key, floor)


def _paint_reference(chart: LinePlot, surface: Surface, plot: _Plot, across: float) -> None:
    """Paint the vertical line with its name on the side that has more room."""
    x, floor = plot.at(across, 0)
    surface.line((x, floor), plot.at(across, 1), Ink.TEXT, 1.2, is_dashed=True)
    anchor, shift = (END, -6) if across > MIDDLE else (START, 6)
    surface.text((x + shift, floor - 8), chart.reference_name, Ink.TEXT, anchor)


def _paint_key(chart: LinePlot, surface: Surface, x: float, floor: float) -> None:
    """Paint the key at the bottom, where the curves are not at the first confidences."""
    y = floor - 14 - 18 * (len(chart.curves) - 1)
    for place, curve in enumerate(chart.curves):
        ink, middle = Ink.ACCENT if curve.is_main else Ink.MUTED, y + 18 * place
        surface.line((x, middle), (x + 18, middle), ink, 2.5)
        surface.text((x + 26, middle + BASE), curve.name, Ink.TEXT)
