"""The one writer of tables: no cell of any table that the program writes is run by a spreadsheet.

A package by a standard (Camtrap DP, Darwin Core) goes through it as well: spreadsheets open those first of all. Numbers
stay numbers, and reading takes the apostrophe away. Decision 72.
"""

import csv
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, Protocol

from engine.interchange.table_text import guarded, storable

_NUMBER: Final = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
"""A coordinate south of the equator is no formula, and readers of a standard's tables take it for a number."""


class TextSink(Protocol):
    """What a table is written to."""

    def write(self, text: str, /) -> Any: ...


def write_table(
    text: TextSink,
    columns: Sequence[str],
    rows: Iterable[Iterable[str | None]],
    *,
    line_end: str = "\r\n",
    is_plain: bool = False,
) -> None:
    """Write a header and rows, separated by commas.

    Args:
        text: encodes with `surrogateescape` where cells may hold names of files.
        rows: cells in the order of the columns; None is an empty cell.
        is_plain: write texts as they are, also those that a spreadsheet would run: only where a person requests it.
    """
    table = csv.writer(text, lineterminator=line_end)
    table.writerow(columns)
    safe = storable if is_plain else table_cell
    for row in rows:
        table.writerow(["" if value is None else safe(value) for value in row])


def table_cell(text: str) -> str:
    """A text as it may stand in a table: storable, and guarded unless it is a plain number."""
    return text if _NUMBER.fullmatch(text) else guarded(storable(text))
