"""CSV: UTF-8, safe to open in a spreadsheet; read back also after a spreadsheet saved it."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Final

from engine.errors import FormatError, StorageError
from engine.interchange.labelled_images.records import ForeignLabels, LabelledImages, WrittenExport
from engine.interchange.labelled_images.table_rows import (
    CLASS_COLUMNS,
    COLUMNS,
    IMAGE_COLUMNS,
    PLACED,
    Row,
    Value,
    has_columns,
    labels_in,
    row_of,
    rows,
)
from engine.interchange.spreadsheet_cells import guarded, storable, unguarded
from engine.interchange.table_text import header_separator, is_preamble, table_text
from engine.new_file import text_into

SEVERAL: Final = " | "
"""Between the paths of a class with several parents; a "|" in a name is written "\\|"."""
PLACED_COLUMNS: Final = (PLACED, *COLUMNS)
"""Of the table of a folder."""
_SUFFIXES: Final = frozenset({".csv", ".tsv", ".txt"})


def write(images: LabelledImages, file: BinaryIO) -> WrittenExport:
    """Write the table with every column of `COLUMNS`."""
    _write_rows(file, COLUMNS, rows(images))
    return WrittenExport(len(images.images))


def write_placed(images: LabelledImages, file: BinaryIO, placed: Mapping[int, str]) -> None:
    """Write the table of a folder, with a first column that says where in it each image lies.

    Args:
        images: the collection; progress is not told.
        file: open for writing.
        placed: path within the folder by image id; an image that is not in the folder has a row without one.
    """
    all_rows = ({PLACED: placed.get(image.image_id), **row_of(images, image)} for image in images.images)
    _write_rows(file, PLACED_COLUMNS, all_rows)


def read(source: Path) -> ForeignLabels:
    """Read a table with a column of images and one of classes: ours, one of `classify`, or of another program."""
    return labels_in(((f"line {line}", row) for line, row in _rows(source)), source.parent)


def fits(source: Path) -> bool:
    """Whether it is a text file whose first line names images and classes."""
    if not source.is_file() or source.suffix.casefold() not in _SUFFIXES:
        return False
    try:
        return _separator(table_text(source)) is not None
    except (FormatError, StorageError):
        return False


def _write_rows(file: BinaryIO, columns: Sequence[str], all_rows: Iterable[Row]) -> None:
    with text_into(file, errors="surrogateescape") as text:
        table = csv.writer(text)
        table.writerow(columns)
        for row in all_rows:
            table.writerow(guarded(storable(cell(row[name]))) for name in columns)


def _separator(text: str) -> str | None:
    return header_separator(text, has_columns)


def _rows(source: Path) -> Iterator[tuple[int, dict[str, str]]]:
    text = table_text(source)
    separator = _separator(text)
    if separator is None:
        raise FormatError(
            f"{source.name} is no table of labels",
            expected=f"a column {' or '.join(IMAGE_COLUMNS)}, and one {' or '.join(CLASS_COLUMNS)}",
            found=text.split("\n", 1)[0][:60] or "an empty file",
            remedy="write these names above the columns, with commas, semicolons or tabs between the cells",
        )
    table = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        header = [cell.strip().casefold() for cell in next(cells for cells in table if not is_preamble(cells))]
        for cells in table:
            if any(cells):
                filled = [*map(unguarded, cells), *[""] * (len(header) - len(cells))]
                yield table.line_num, dict(zip(header, filled, strict=False))
    except csv.Error as error:
        raise FormatError(f"{source.name} is not a CSV file", found=f"line {table.line_num}: {error}") from error


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
        case str():
            return value
        case _:
            return SEVERAL.join(each.replace("|", "\\|") for each in value)
