"""The tables of a report as CSV: one file of values, or an archive with a file for each table."""

import io
import math
import zipfile
from collections.abc import Iterator
from datetime import date
from typing import BinaryIO, Final

from engine.interchange.table_writer import write_table
from engine.new_file import text_into
from engine.report.document import ClassName, Document, FigureTable, TableColumn, Value, ValueKind

HEADER: Final = ("table", "row", "column", "value")
ABOUT: Final = "about.txt"
_EARLIEST: Final = (
    1980,
    1,
    1,
    0,
    0,
    0,
)  # archives know no earlier time; a report's own time is in its tables


def write_values(document: Document, file: BinaryIO) -> None:
    """Write all tables as one, a line for each value: table, number of its row, column, value."""
    with text_into(file, errors="surrogateescape") as text:
        cells = (
            (table.name, str(number), name, value)
            for table in document.tables()
            for number, row in enumerate(table.rows, start=1)
            for name, value in _named(table.columns, row)
        )
        write_table(text, HEADER, cells)


def write_archive(document: Document, file: BinaryIO) -> None:
    """Write a ZIP archive with a CSV file for each table, in UTF-8 with a byte order mark for spreadsheets."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(
            archive,
            ABOUT,
            f"Written by Protoleaf\n{document.title}\n{document.subtitle}\n".encode(
                errors="replace"
            ),
        )
        for table in document.tables():
            _add(archive, f"{table.name}.csv", _table(table))


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name, _EARLIEST), content, zipfile.ZIP_DEFLATED)


def _table(table: FigureTable) -> bytes:
    text = io.StringIO(newline="")
    columns = [name for column in table.columns for name in _names(column)]
    write_table(
        text, columns, ([value for _, value in _named(table.columns, row)] for row in table.rows)
    )
    return text.getvalue().encode("utf-8-sig", "surrogateescape")


def _names(column: TableColumn) -> Iterator[str]:
    if column.kind is ValueKind.INTERVAL:
        yield from (f"{column.name}_low", f"{column.name}_high")
    elif column.kind is ValueKind.CLASS:
        yield from (column.name, f"{column.name}_path")
    else:
        yield column.name


def _named(columns: tuple[TableColumn, ...], row: tuple[Value, ...]) -> Iterator[tuple[str, str]]:
    for column, value in zip(columns, row, strict=True):
        yield from zip(_names(column), _texts(column, value), strict=True)


def _texts(column: TableColumn, value: Value) -> tuple[str, ...]:
    match value:
        case None:
            return ("",) * len(list(_names(column)))
        case ClassName():
            return value.name, value.path
        case date():
            return (value.isoformat(),)
        case tuple():
            return _number(value[0]), _number(value[1])
        case int() | float():
            return (_number(value),)
    return (value,)


def _number(value: float) -> str:
    return "" if math.isnan(value) else str(value) if isinstance(value, int) else f"{value:.6f}"
