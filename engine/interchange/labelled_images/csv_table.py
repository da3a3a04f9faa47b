"""CSV: UTF-8, safe to open in a spreadsheet; read back also after a spreadsheet saved it."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Final

from engine.errors import FormatError, StorageError
from engine.interchange.labelled_images.foreign_labels import ForeignLabels
from engine.interchange.labelled_images.records import LabelledImages, WrittenExport
from engine.interchange.labelled_images.table_rows import (
    CLASS_COLUMNS,
    COLUMNS,
    IMAGE_COLUMNS,
    PLACED,
    READ_COLUMNS,
    Row,
    Value,
    has_columns,
    labels_in,
    row_of,
    rows,
)
from engine.interchange.table_text import first_line, header_separator, table_lines, table_rows
from engine.interchange.table_writer import write_table
from engine.new_file import text_into
from engine.texts import either

SEVERAL: Final = " | "  # between the paths of a class with several parents; a "|" in a name is written "\|"
PLACED_COLUMNS: Final = (PLACED, *COLUMNS)  # of the table of a folder
_SUFFIXES: Final = frozenset({".csv", ".tsv", ".txt"})


def write(images: LabelledImages, file: BinaryIO) -> WrittenExport:
    """Write the table with every column of `COLUMNS`."""
    _write_rows(file, COLUMNS, rows(images))
    return WrittenExport(len(images.images))


def write_placed(images: LabelledImages, file: BinaryIO, placed: Mapping[int, str]) -> None:
    """Write the table of a folder, with the path of each image within it by image id as the first column."""
    all_rows = ({PLACED: placed.get(image.image_id), **row_of(images, image)} for image in images.images)
    _write_rows(file, PLACED_COLUMNS, all_rows)


def read(source: Path) -> ForeignLabels:
    """Read a table with a column of images and one of classes: ours, one of `classify`, or of another program."""
    return labels_in(_rows(source), source)


def fits(source: Path) -> bool:
    """Whether it is a text file whose first line names images and classes."""
    if not source.is_file() or source.suffix.casefold() not in _SUFFIXES:
        return False
    try:
        return _separator(source) is not None
    except (FormatError, StorageError):
        return False


def _write_rows(file: BinaryIO, columns: Sequence[str], all_rows: Iterable[Row]) -> None:
    with text_into(file, errors="surrogateescape") as text:
        values = ((row[name] for name in columns) for row in all_rows)
        write_table(text, columns, ((None if each is None else cell(each) for each in row) for row in values))


def _separator(source: Path) -> str | None:
    try:
        with table_lines(source) as lines:
            return header_separator(lines, has_columns)
    except csv.Error:
        return None


def _rows(source: Path) -> Iterator[tuple[int, dict[str, str]]]:
    separator = _separator(source)
    if separator is None:
        raise FormatError(
            "{source} is no table of labels",
            expected="a column {image_columns}, and one {class_columns}",
            found=first_line(source)[:60] or "an empty file",
            remedy="write these names above the columns, with commas, semicolons or tabs between the cells",
            source=source.name,
            image_columns=either(IMAGE_COLUMNS),
            class_columns=either(CLASS_COLUMNS),
        )
    line = 0
    try:
        for line, row in table_rows(source, separator, READ_COLUMNS):
            yield line, row
    except csv.Error as error:
        raise FormatError(
            "{source} is not a CSV file",
            found="after line {line}: {reason}",
            source=source.name,
            line=line,
            reason=error,
        ) from error


def cell(value: Value) -> str:
    """A cell as text, as it is written where there are no types."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:.6f}"
        case datetime():
            return value.isoformat()
        case int() | str():
            return str(value)
        case _:
            return SEVERAL.join(each.replace("|", "\\|") for each in value)
