"""The only writer of tables, so that spreadsheets run no cell of them as a formula.

It writes packages of standards (Camtrap DP, Darwin Core), too, which are opened in spreadsheets.
Numbers are not changed, and the reader removes the guarding apostrophe. Decision 72.
"""

import csv
import re
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
"""A negative coordinate is not a formula, and must stay a number."""


APOSTROPHE = "'"
_RUNS = re.compile(r"'*\s*[=+\-@\t\r\n＝＋－＠]")  # noqa: RUF001 (wide signs)


def guarded(text: str) -> str:
    """Prefix a text with an apostrophe if a spreadsheet would run it as a formula."""
    return APOSTROPHE + text if _RUNS.match(text) else text


def unguarded(cell: str) -> str:
    """Undo `guarded`; other cells are unchanged."""
    return cell[1:] if cell.startswith(APOSTROPHE) and _RUNS.match(cell) else cell


def storable(text: str) -> str:
    """Make a text writable as UTF-8 with `surrogateescape`, preserving its bytes.

    Windows allows unpaired surrogates in file names; that handler only those that are bytes.
    """
    if text.isascii():
        return text
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
    return text


class TextSink(Protocol):
    """Target of a table."""

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
        text: encodes with `surrogateescape` if cells may be names of files.
        columns: the header.
        rows: cells in the order of the columns; None is an empty cell.
        line_end: of each row.
        is_plain: whether to write formulas unguarded, on request of the user.
    """
    table = csv.writer(text, lineterminator=line_end)
    table.writerow(columns)
    safe = storable if is_plain else table_cell
    for row in rows:
        table.writerow(["" if value is None else safe(value) for value in row])


def table_cell(text: str) -> str:
    """A storable text, guarded unless it is a number."""
    return text if _NUMBER.fullmatch(text) else guarded(storable(text))
