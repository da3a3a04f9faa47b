"""A report as a document: sections of facts, tables, charts and the matrix, the same for every page that shows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Final

from engine.report.confusion import Confusion

MOST_ROWS: Final = 1_000
"""Rows of a table that a page shows. Chosen: a page of 10,000 classes stays below 3 MB."""


class ValueKind(StrEnum):
    """What the values of a column are."""

    TEXT = "text"
    CLASS = "class"  # a `ClassName`, or None
    COUNT = "count"
    SHARE = "share"  # in [0, 1]; NaN for none
    INTERVAL = "interval"  # two shares
    NUMBER = "number"


@dataclass(frozen=True)
class ClassName:
    """A class as a value in a table."""

    name: str
    path: str
    class_id: int


Value = str | int | float | date | ClassName | tuple[float, float] | None


@dataclass(frozen=True)
class Fact:
    """One figure that stands large."""

    title: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Facts:
    """Figures side by side."""

    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class ReportText:
    """A few sentences."""

    text: str
    is_warning: bool = False


@dataclass(frozen=True)
class TableColumn:
    """Of a table."""

    title: str
    kind: ValueKind = ValueKind.TEXT
    name: str = ""  # in CSV; an interval has two
    is_detail: bool = False  # a narrow window leaves it out


def text_column(title: str, name: str) -> TableColumn:
    """A column of texts."""
    return TableColumn(title, ValueKind.TEXT, name)


def class_column(title: str, name: str) -> TableColumn:
    """A column of `ClassName`."""
    return TableColumn(title, ValueKind.CLASS, name)


def count_column(title: str, name: str, *, is_detail: bool = False) -> TableColumn:
    """A column of whole numbers."""
    return TableColumn(title, ValueKind.COUNT, name, is_detail)


def share_column(title: str, name: str, *, is_detail: bool = False) -> TableColumn:
    """A column of shares."""
    return TableColumn(title, ValueKind.SHARE, name, is_detail)


def interval_column(title: str, name: str) -> TableColumn:
    """A column of two shares each."""
    return TableColumn(title, ValueKind.INTERVAL, name, is_detail=True)


@dataclass(frozen=True)
class FigureTable:
    """Rows of values."""

    name: str  # of its CSV file
    title: str
    columns: tuple[TableColumn, ...]
    rows: Sequence[tuple[Value, ...]]
    note: str = ""
    most_rows: int = MOST_ROWS  # that a page shows; tables as CSV have all
    is_in_chart: bool = False  # a chart beside it shows all of it, so that a page need not


@dataclass(frozen=True)
class Bar:
    """A bar with what it stands for."""

    label: str
    value: float
    text: str  # the value for people
    part: float | None = None  # of the value, drawn darker
    interval: tuple[float, float] | None = None
    class_id: int | None = None


@dataclass(frozen=True)
class BarPlot:
    """Horizontal bars from 0 to the highest."""

    title: str
    summary: str  # for those who do not see it
    bars: tuple[Bar, ...]
    highest: float
    note: str = ""
    along: str = ""  # what the horizontal axis is


@dataclass(frozen=True)
class ColumnPlot:
    """Upright columns, as of a histogram."""

    title: str
    summary: str
    columns: tuple[Bar, ...]
    highest: float
    marks: tuple[float, ...] = ()  # of each column: where it should end
    along: str = ""  # what the horizontal axis is
    note: str = ""
    up: str = ""  # what the vertical axis is


@dataclass(frozen=True)
class PlotCurve:
    """A line of a chart, with its 95 % band if it has one."""

    name: str
    points: tuple[tuple[float, float], ...]  # both in [0, 1]
    band: tuple[tuple[float, float], ...] = ()
    is_main: bool = False


@dataclass(frozen=True)
class LinePlot:
    """Shares over a share."""

    title: str
    summary: str
    curves: tuple[PlotCurve, ...]
    low: float  # where the horizontal axis begins
    high: float
    along: str
    at: float | None = None  # a line upright, with what it is
    at_name: str = ""
    note: str = ""
    up: str = ""  # what the vertical axis is


@dataclass(frozen=True)
class Matrix:
    """The confusion matrix, folded."""

    title: str
    summary: str
    confusion: Confusion
    note: str = ""


Block = Facts | ReportText | FigureTable | BarPlot | ColumnPlot | LinePlot | Matrix


@dataclass(frozen=True)
class ReportSection:
    """A part with a heading."""

    key: str  # stable
    title: str
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True)
class Document:
    """The whole report."""

    title: str
    subtitle: str
    sections: tuple[ReportSection, ...]
    foot: str

    def tables(self) -> list[FigureTable]:
        """All tables, in order."""
        return [
            block
            for section in self.sections
            for block in section.blocks
            if isinstance(block, FigureTable)
        ]
