"""What a page shows of a table: which rows, and values for people."""

from collections.abc import Sequence
from datetime import date
from typing import Final
from unicodedata import category

from engine.interchange.table_text import storable
from engine.report.document import ClassName, FigureTable, TableColumn, Value, ValueKind
from engine.report.words import NOTHING, amount, phrase, share, span
from engine.texts import day_text, number_text, paragraph

_JOINERS: Final = (
    "\u200c\u200d"  # which scripts need within words; other invisible letters may deceive
)
_ISOLATES: Final = "\u2066\u2068\u2069"  # around values in words that are read from right to left: they turn nothing
NUMBERS: Final = frozenset({ValueKind.COUNT, ValueKind.SHARE, ValueKind.INTERVAL, ValueKind.NUMBER})


def shown_rows(table: FigureTable) -> Sequence[tuple[Value, ...]]:
    """All rows; of very many those with the largest counts, in their order."""
    if len(table.rows) <= table.most_rows:
        return table.rows
    places = [at for at, column in enumerate(table.columns) if column.kind is ValueKind.COUNT]

    def size(row: tuple[Value, ...]) -> float:
        return sum(value for value in (row[at] for at in places) if isinstance(value, int | float))

    kept = sorted(range(len(table.rows)), key=lambda at: -size(table.rows[at]))[: table.most_rows]
    return [table.rows[at] for at in sorted(kept)]


def note_of(table: FigureTable) -> str:
    """The note of a table, and how many rows are left out."""
    notes = [table.note] if table.note else []
    if len(table.rows) > table.most_rows:
        left_out = phrase(
            "{shown:,} of {count:,} rows, those with the most images; the tables as CSV have all.",
            shown=table.most_rows, count=len(table.rows),
        )  # fmt: skip
        notes.append(left_out)
    return paragraph(*notes)


def shown_value(column: TableColumn, value: Value) -> str:
    """A value for people."""
    match value:
        case None:
            return NOTHING
        case ClassName():
            return value.name
        case date() | tuple():
            return day_text(value) if isinstance(value, date) else span(value)
        case float() if column.kind is ValueKind.SHARE:
            return share(value)
        case int() | float():
            return amount(value) if column.kind is ValueKind.COUNT else number_text(value, "g")
    return value


def printable(words: str) -> str:
    """A text as a page can show it: names of files may hold bytes that are no Unicode."""
    shown = storable(words).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join(each if _is_printable(each) else "\ufffd" for each in shown)


def _is_printable(letter: str) -> bool:
    """Also joiners, and the blanks that languages have before signs such as "%" and ":"."""
    return letter.isprintable() or letter in _JOINERS + _ISOLATES or category(letter) == "Zs"
