"""A report as a document: sections of facts, texts, tables, charts and the confusion matrix.

HTML, PDF, CSV and the window show the same document.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from engine.report.confusion import Confusion

MOST_ROWS = 1_000
"""Rows of a table that a page shows. Chosen: a page of 10,000 classes stays below 3 MB."""


class ValueKind(StrEnum):
    """Type of the values of a column."""

    TEXT = "text"
    CLASS = "class"  # a `ClassName`, or None
    COUNT = "count"
    SHARE = "share"  # in [0, 1]; NaN for none
    INTERVAL = "interval"  # two shares


@dataclass(frozen=True)
class ClassName:
    """A class as a value in a table."""

    name: str
    path: str
    class_id: int


Value = str | int | float | date | ClassName | tuple[float, float] | None


@dataclass(frozen=True)
class Fact:
    """A figure in large type with its title."""

    title: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Facts:
    """Figures in a row."""

    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class ReportText:
    """A paragraph."""

    text: str
    is_warning: bool = False


@dataclass(frozen=True)
class TableColumn:
    """A column of a table."""

    title: str
    name: str  # in CSV; intervals and classes have two columns there
    kind: ValueKind
    is_detail: bool = False  # hidden in a narrow window


@dataclass(frozen=True)
class FigureTable:
    """A table of figures."""

    name: str  # of its CSV file
    title: str
    columns: Sequence[TableColumn]
    rows: Sequence[tuple[Value, ...]]
    note: str = ""
    most_rows: int = MOST_ROWS  # that a page shows; CSV has all
    is_in_chart: bool = False  # collapsed in pages, since the chart above it shows the same figures


@dataclass(frozen=True)
class Bar:
    """A bar or column of a chart."""

    label: str
    value: float
    text: str  # the formatted value
    part: float | None = None  # of the value, drawn darker
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class ReportChart:
    """Texts of a chart."""

    title: str
    summary: str  # for screen readers
    note: str
    x_title: str


@dataclass(frozen=True)
class BarPlot(ReportChart):
    """Horizontal bars."""

    bars: tuple[Bar, ...]
    highest: float  # end of the axis


@dataclass(frozen=True)
class ColumnPlot(ReportChart):
    """Vertical bars; with marks, shares."""

    y_title: str
    columns: tuple[Bar, ...]
    marks: tuple[float, ...] = ()  # expected value of each column


@dataclass(frozen=True)
class PlotCurve:
    """A line of a chart, optionally with its 95 % band."""

    name: str
    points: tuple[tuple[float, float], ...]  # both in [0, 1]
    band: tuple[tuple[float, float], ...] = ()
    is_main: bool = False


@dataclass(frozen=True)
class LinePlot(ReportChart):
    """Shares over a share, with a vertical reference line."""

    y_title: str
    curves: tuple[PlotCurve, ...]
    low: float  # limits of the horizontal axis
    high: float
    reference: float
    reference_name: str


@dataclass(frozen=True)
class Matrix:
    """The confusion matrix."""

    title: str
    summary: str
    confusion: Confusion
    note: str


Block = Facts | ReportText | FigureTable | ReportChart | Matrix


@dataclass(frozen=True)
class ReportSection:
    """Blocks below a heading."""

    key: str  # stable
    title: str
    blocks: Sequence[Block] = ()


@dataclass(frozen=True)
class Document:
    """The whole report."""

    title: str
    subtitle: str
    sections: tuple[ReportSection, ...]
    footer: str

    def tables(self) -> list[FigureTable]:
        """All tables, in order."""
        return [
            block
            for section in self.sections
            for block in section.blocks
            if isinstance(block, FigureTable)
        ]
