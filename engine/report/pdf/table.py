"""Layout of a table on paper."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.report.document import FigureTable
from engine.report.pdf.fonts import REGULAR, width_of
from engine.report.words import NUMBERS, printable, shown_rows, shown_value

SIZE = 8.0
SMALL_SIZE = 6.8  # of tables with many columns
MANY_COLUMNS = 7
GAP = 12.0
MEASURED_ROWS = 400  # that determine the widths
MAX_HEAD_WIDTH = 64.0


@dataclass(frozen=True)
class TableLayout:
    """Texts of the cells, and the widths of the columns in points."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    widths: Sequence[float]
    is_number: Sequence[bool]  # of each column
    size: float


def lay_out(table: FigureTable, width: float) -> TableLayout:
    """Columns of numbers are as wide as they need; the others share the rest."""
    size = SMALL_SIZE if len(table.columns) >= MANY_COLUMNS else SIZE
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
            min(width_of(title, REGULAR, size), MAX_HEAD_WIDTH),
            *(width_of(row[place], REGULAR, size) for row in rows[:MEASURED_ROWS]),
            10.0,
        )
        + GAP
        for place, title in enumerate(head)
    ]
    return TableLayout(head, rows, _fitting(wanted, is_number, width), is_number, size)


def _fitting(wanted: Sequence[float], is_number: Sequence[bool], width: float) -> list[float]:
    """Widths that add up to the page's: shrink or stretch the names, at last shrink all."""
    places = range(len(wanted))
    named = [place for place in places if not is_number[place]]
    names = sum(wanted[place] for place in named)
    numbers = sum(wanted[place] for place in places if is_number[place])
    shrink = min(1.0, max(width - numbers, 0.3 * width) / names) if names else 1.0
    widths = [
        each if number else each * shrink for each, number in zip(wanted, is_number, strict=True)
    ]
    total = sum(widths)
    if total > width:
        return [each * width / total for each in widths]
    stretched = named or places
    for place in stretched:
        widths[place] += (width - total) / len(stretched)
    return widths
