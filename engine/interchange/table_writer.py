"""The one writer of tables: no cell of any table that the program writes is run by a spreadsheet.

A package by a standard (Camtrap DP, Darwin Core) goes through it as well: spreadsheets open those first of all. Numbers
stay numbers, and reading takes the apostrophe away. Decision 72.
"""

import csv
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, Protocol

_NUMBER: Final = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
"""A coordinate south of the equator is no formula, and readers of a standard's tables take it for a number."""


APOSTROPHE: Final = "'"
_RUNS: Final = re.compile(r"'*\s*[=+\-@\t\r\n＝＋－＠]")  # noqa: RUF001 (spreadsheets read the wide signs as well)


def guarded(text: str) -> str:
    """A text as it may stand in a table: with an apostrophe before it where a spreadsheet would run it."""
    return APOSTROPHE + text if _RUNS.match(text) else text


def unguarded(cell: str) -> str:
    """The text that `guarded` was given; a cell that no apostrophe guards stays as it is."""
    return cell[1:] if cell.startswith(APOSTROPHE) and _RUNS.match(cell) else cell


def storable(text: str) -> str:
    """A text that UTF-8 with `surrogateescape` can write, and that is read back as the same bytes.

    Windows allows unpaired surrogates in file names; the handler knows only those which stand for bytes.
    """
    if text.isascii():
        return text
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
    return text


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
