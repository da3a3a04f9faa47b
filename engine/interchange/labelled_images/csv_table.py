"""CSV of labelled images: UTF-8, safe in spreadsheets, and readable after one saved it."""

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import BinaryIO

from engine.errors import FormatError, StorageError
from engine.interchange.labelled_images.foreign_labels import ForeignLabels
from engine.interchange.labelled_images.label_tables import LabelRows
from engine.interchange.labelled_images.records import LabelledImage, LabelledImages, WrittenExport
from engine.interchange.labelled_images.table_rows import (
    COLUMNS,
    LABEL_COLUMNS,
    PLACED,
    Value,
    row_of,
    rows,
)
from engine.interchange.labelled_images.table_rows import Row as TypedRow
from engine.interchange.table_writer import write_table
from engine.interchange.tables.dialects import TablePurpose
from engine.interchange.tables.read_table import TABLE_FILES, opened_table
from engine.interchange.tables.recognise import Row, layout_of
from engine.interchange.tables.roles import column_key
from engine.interchange.text_file import SURROGATES, WESTERN
from engine.new_file import text_into

Given = Mapping[str, str]  # column by role, set by the user
OpenedLabels = tuple[LabelRows, Iterator[Row]]  # reader of an open table, and its rows
SEVERAL = " | "  # between the paths of a class; "|" in a name is escaped as "\|"
PLACED_COLUMNS = (PLACED, *LABEL_COLUMNS)  # of the table of a folder
_CROP = "crop"  # additional column: path of a cropped box in the folder
_SUFFIXES = TABLE_FILES | {".zip"}


def write(images: LabelledImages, file: BinaryIO) -> WrittenExport:
    """Write a table of all `COLUMNS`."""
    _write_rows(file, COLUMNS, rows(images))
    return WrittenExport(len(images.images))


def write_placed(
    images: LabelledImages, file: BinaryIO, placed: Mapping[int, str], cut_out: Container[int] = ()
) -> None:
    """Write the table of a folder, with the path of each image in it as the first column.

    Crops have a column of their own: the content hash is not theirs.

    Args:
        images: the collection.
        file: is written.
        placed: path in the folder by image id.
        cut_out: ids of cropped images.
    """
    has_crops = any(image.image_id in cut_out for image in images.images)
    columns = (PLACED, _CROP, *LABEL_COLUMNS) if has_crops else PLACED_COLUMNS
    _write_rows(
        file, columns, (_placed_row(images, image, placed, cut_out) for image in images.images)
    )


def _placed_row(
    images: LabelledImages, image: LabelledImage, placed: Mapping[int, str], cut_out: Container[int]
) -> TypedRow:
    place, is_crop = placed.get(image.image_id), image.image_id in cut_out
    return {
        PLACED: None if is_crop else place,
        _CROP: place if is_crop else None,
        **row_of(images, image),
    }


def read(source: Path, given: Given | None = None) -> ForeignLabels:
    """Read a table with columns of images and classes.

    Args:
        source: text, a workbook, or an archive with one table.
        given: column by role, set by the user.
    """
    with opened_labels(source, given) as (table, found):
        return table.labels(found)


@contextmanager
def opened_labels(
    source: Path, given: Given | None = None, called: str = ""
) -> Iterator[OpenedLabels]:
    """Open a table of labels; file names in our own tables may be any bytes.

    Raises:
        UsageError, FormatError, StorageError: see `opened_table` and `recognised`.
    """
    for fallback in (SURROGATES, WESTERN):
        with opened_table(source, partial(_fits, given), called=called, fallback=fallback) as found:
            is_last = fallback == WESTERN
            if not (is_last or _fits(given, found.columns, found.sample)):
                continue  # column names may need the other encoding
            table = LabelRows(source, found.columns, found.sample, given, called)
            if table.is_ours or is_last:
                yield table, found.rows if table.has_header else found.all_rows
                return


def fits(source: Path) -> bool:
    """Whether it is a table with columns of images and classes."""
    if not source.is_file() or source.suffix.casefold() not in _SUFFIXES:
        return False
    try:
        with opened_labels(source):
            return True
    except (FormatError, StorageError):
        return False


def _fits(given: Given | None, columns: Sequence[str], rows: Sequence[Row]) -> bool:
    is_named = {column_key(each) for each in (given or {}).values()} <= {
        column_key(each) for each in columns
    }
    return is_named and layout_of(columns, rows, TablePurpose.LABELS, given) is not None


def _write_rows(file: BinaryIO, columns: Sequence[str], all_rows: Iterable[TypedRow]) -> None:
    with text_into(file, errors="surrogateescape") as text:
        values = ((row[name] for name in columns) for row in all_rows)
        write_table(
            text,
            columns,
            ((None if each is None else cell(each) for each in row) for row in values),
        )


def cell(value: Value) -> str:
    """Format a cell for formats without types."""
    match value:
        case None:
            return ""
        case bool() | Mapping():
            return json.dumps(value, ensure_ascii=False)
        case float():
            return f"{value:.6f}"
        case datetime():
            return value.isoformat()
        case int() | str():
            return str(value)
        case _:
            return SEVERAL.join(each.replace("|", "\\|") for each in value)
