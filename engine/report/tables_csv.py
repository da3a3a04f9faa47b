"""The tables of a report as CSV: one file of all values, or an archive with a file per table."""

import io
import math
import zipfile
from collections.abc import Iterable, Iterator
from datetime import date
from typing import BinaryIO

from engine.interchange.table_writer import write_table
from engine.new_file import text_into
from engine.report.document import ClassName, Document, FigureTable, TableColumn, Value, ValueKind

HEADER = ("table", "row", "column", "value")
ABOUT = "about.txt"
_EARLIEST = (1980, 1, 1, 0, 0, 0)
"""Earliest time of ZIP entries, so that equal reports are equal files; their time is in a table."""


def write_values(document: Document, file: BinaryIO) -> None:
    """Write all values, one per line, with table, number of the row, and column."""
    with text_into(file, errors="surrogateescape") as text:
        cells = (
            (table.name, str(number), name, value)
            for table in document.tables()
            for number, row in enumerate(table.rows, start=1)
            for name, value in _cells(table.columns, row)
        )
        write_table(text, HEADER, cells)


def write_archive(document: Document, file: BinaryIO) -> None:
    """Write a ZIP archive of CSV files, in UTF-8 with a byte order mark for spreadsheets."""
    about = f"Written by Protoleaf\n{document.title}\n{document.subtitle}\n"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, ABOUT, about.encode(errors="replace"))
        for table in document.tables():
            _add(archive, f"{table.name}.csv", _csv_of(table))


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name, _EARLIEST), content, zipfile.ZIP_DEFLATED)


def _csv_of(table: FigureTable) -> bytes:
    text = io.StringIO(newline="")
    columns = [name for column in table.columns for name in _names(column)]
    rows = ([value for _, value in _cells(table.columns, row)] for row in table.rows)
    write_table(text, columns, rows)
    return text.getvalue().encode("utf-8-sig", "surrogateescape")


def _names(column: TableColumn) -> tuple[str, ...]:
    match column.kind:
        case ValueKind.INTERVAL:
            return f"{column.name}_low", f"{column.name}_high"
        case ValueKind.CLASS:
            return column.name, f"{column.name}_path"
    return (column.name,)


def _cells(columns: Iterable[TableColumn], row: tuple[Value, ...]) -> Iterator[tuple[str, str]]:
    for column, value in zip(columns, row, strict=True):
        names = _names(column)
        yield from zip(names, _texts(value, len(names)), strict=True)


def _texts(value: Value, count: int) -> tuple[str, ...]:
    match value:
        case None:
            return ("",) * count
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
    if isinstance(value, int):
        return str(value)
    return "" if math.isnan(value) else f"{value:.6f}"
