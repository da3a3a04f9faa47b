"""Texts of a report in the user's language: templates, numbers, shares, classes, table values."""

import math
from collections.abc import Iterable, Sequence
from datetime import date
from functools import partial
from unicodedata import category

from engine.graph.codes import UNKNOWN
from engine.interchange.table_writer import storable
from engine.report.branch_tree import BranchTree
from engine.report.document import Bar, ClassName, Fact, FigureTable, TableColumn, Value, ValueKind
from engine.report.figures import Proportion
from engine.texts import Message, day_text, enumerated, marked, number_text, paragraph, translated

MAX_COLUMNS = 60  # of a chart; more would be too thin
DASH = "\u2013"
NO_VALUE = DASH
NUMBERS = frozenset({ValueKind.COUNT, ValueKind.SHARE, ValueKind.INTERVAL})
_SETTINGS = {
    "ppn+": "PPN+",
    "ppn": "PPN",
    "prototypes": marked("prototypes"),
    "regression": marked("logistic regression"),
}
# Joiners, which some scripts need within words, and bidirectional isolates around values. Other
# invisible characters could be used to deceive.
_ALLOWED_INVISIBLE = "\u200c\u200d\u2066\u2068\u2069"


def phrase(template: str, **fields: object) -> str:
    """A template with its values, translated."""
    return Message(template, fields).translated()


def summary_of(bars: Iterable[Bar]) -> str:
    """Text alternative of a chart: `Labelled: 12, Unknown: 3`."""
    return translated(
        enumerated(
            Message("{title}: {value}", {"title": bar.label, "value": bar.text}) for bar in bars
        )
    )


def amount(count: float) -> str:
    """`1,234`."""
    return number_text(count, ",.0f")


def share(value: float) -> str:
    """`97.3%`; never `100%` below certainty, never `0%` above zero."""
    if math.isnan(value):
        return NO_VALUE
    if value in (0.0, 1.0):
        return number_text(value, ".0%")
    return number_text(min(max(value, 0.001), 0.999), ".1%")


def span(interval: tuple[float, float]) -> str:
    """`91.2%` to `96.0%` as a range with a dash."""
    return f"{number_text(100 * interval[0], '.1f')}{DASH}{number_text(interval[1], '.1%')}"


def share_fact(title: str, proportion: Proportion) -> Fact:
    """A share with its interval."""
    note = phrase("95% interval {span}", span=span(proportion.interval))
    return Fact(title, share(proportion.share), note)


def _column(title: str, name: str, kind: ValueKind, *, is_detail: bool = False) -> TableColumn:
    return TableColumn(phrase(title), name, kind, is_detail)


text_column = partial(_column, kind=ValueKind.TEXT)
class_column = partial(_column, kind=ValueKind.CLASS)
count_column = partial(_column, kind=ValueKind.COUNT)
share_column = partial(_column, kind=ValueKind.SHARE)
"""Columns by their titles, which are translated, and their names."""


def interval_column(name: str = "interval") -> TableColumn:
    """A column of 95 % confidence intervals."""
    return TableColumn(phrase("95% interval"), name, ValueKind.INTERVAL, is_detail=True)


def class_of(tree: BranchTree, class_id: int) -> ClassName:
    """A class of a report, or "none of the classes"."""
    if class_id == UNKNOWN:
        name = phrase("None of the classes")
        return ClassName(name, name, UNKNOWN)
    name = tree.names.get(class_id) or phrase("(removed)")
    return ClassName(name, tree.paths.get(class_id, name), class_id)


def level_name(level: int) -> str:
    """`Top level`, `Level 2` ... of the graph; 0 is the coarsest."""
    return phrase("Level {level}", level=level + 1) if level else phrase("Top level")


def setting_name(name: str) -> str:
    """The displayed name of a setting; the name of a model version is returned unchanged."""
    return translated(_SETTINGS[name]) if name in _SETTINGS else name


def shown_rows(table: FigureTable) -> Sequence[tuple[Value, ...]]:
    """The rows that a page shows: all, or of too many those with the largest counts, in order."""
    if len(table.rows) <= table.most_rows:
        return table.rows
    places = [at for at, column in enumerate(table.columns) if column.kind is ValueKind.COUNT]

    def size(row: tuple[Value, ...]) -> float:
        return sum(value for value in (row[at] for at in places) if isinstance(value, int | float))

    largest = sorted(range(len(table.rows)), key=lambda at: -size(table.rows[at]))
    return [table.rows[at] for at in sorted(largest[: table.most_rows])]


def note_of(table: FigureTable) -> str:
    """The note of a table, and how many rows are left out."""
    left_out = ""
    if len(table.rows) > table.most_rows:
        left_out = phrase(
            "{shown:,} of {count:,} rows, those with the most images; the tables as CSV have all.",
            shown=table.most_rows,
            count=len(table.rows),
        )
    return paragraph(table.note, left_out)


def shown_value(column: TableColumn, value: Value) -> str:
    """A formatted value of a table."""
    match value:
        case None:
            return NO_VALUE
        case ClassName():
            return value.name
        case date():
            return day_text(value)
        case tuple():
            return span(value)
        case int() | float():
            return share(value) if column.kind is ValueKind.SHARE else amount(value)
    return value


def printable(text: str) -> str:
    """Replace what cannot be displayed: file names may hold bytes that are not valid Unicode."""
    shown = storable(text).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join(each if _is_printable(each) else "\ufffd" for each in shown)


def _is_printable(letter: str) -> bool:
    """Include the spaces that languages put before signs such as "%" and ":"."""
    return letter.isprintable() or letter in _ALLOWED_INVISIBLE or category(letter) == "Zs"
