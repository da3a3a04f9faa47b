"""Widths and texts of a table on paper."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engine.report.document import FigureTable
from engine.report.pdf.fonts import REGULAR, cut_to, width_of
from engine.report.shown import NUMBERS, printable, shown_rows, shown_value

SIZE: Final = 8.0
SMALLER: Final = 6.8  # of tables with many columns
MANY: Final = 7
GAP: Final = 12.0
MEASURED: Final = 400  # rows that widths are made from
WIDEST_HEAD: Final = 64.0


@dataclass(frozen=True)
class TableLayout:
    """What stands in each cell, cut to its column."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    widths: Sequence[float]  # points
    is_number: Sequence[bool]  # of each column
    size: float
    row_height: float


def lay_out(table: FigureTable, width: float) -> TableLayout:
    """Numbers get what they need, names share the rest."""
    size = SMALLER if len(table.columns) >= MANY else SIZE
    is_number = [column.kind in NUMBERS for column in table.columns]
    head = [printable(column.title) for column in table.columns]
    rows = [
        [
            printable(shown_value(column, value))
            for column, value in zip(table.columns, row, strict=True)
        ]
        for row in shown_rows(table)
    ]
    wanted = [
        max(
            min(width_of(title, REGULAR, size), WIDEST_HEAD),
            *(width_of(row[place], REGULAR, size) for row in rows[:MEASURED]),
            10.0,
        )
        + GAP
        for place, title in enumerate(head)
    ]
    widths = _fitting(wanted, is_number, width)
    cut = [
        [cut_to(cell, room - 6, REGULAR, size) for cell, room in zip(row, widths, strict=True)]
        for row in (head, *rows)
    ]
    return TableLayout(cut[0], cut[1:], widths, is_number, size, size + 7)


def _fitting(wanted: Sequence[float], is_number: Sequence[bool], width: float) -> list[float]:
    numbers = sum(each for each, number in zip(wanted, is_number, strict=True) if number)
    names = sum(each for each, number in zip(wanted, is_number, strict=True) if not number)
    room = max(width - numbers, 0.3 * width)
    shrink = min(1.0, room / names) if names else 1.0
    widths = [
        each if number else each * shrink for each, number in zip(wanted, is_number, strict=True)
    ]
    total = sum(widths)
    if total > width:
        return [each * width / total for each in widths]
    named = [place for place, number in enumerate(is_number) if not number] or list(
        range(len(widths))
    )
    for place in named:
        widths[place] += (width - total) / len(named)
    return widths
