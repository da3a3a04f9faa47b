"""CSV: UTF-8, safe to open in a spreadsheet; read back also after a spreadsheet saved it."""

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final

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
from engine.interchange.tables.recognise import Row, layout_of, recognised
from engine.interchange.tables.roles import column_key
from engine.interchange.text_file import SURROGATES, WESTERN
from engine.new_file import text_into

Given = Mapping[str, str]  # column by role, as a person named them
OpenedLabels = tuple[
    LabelRows, Iterator[Row]
]  # what reads the rows of an open table of labels, and these
SEVERAL: Final = (
    " | "  # between the paths of a class with several parents; a "|" in a name is written "\|"
)
PLACED_COLUMNS: Final = (PLACED, *LABEL_COLUMNS)  # of the table of a folder
_CROP: Final = (
    "crop"  # further column: where in the folder a box lies that was cut out of its image
)
_SUFFIXES: Final = TABLE_FILES | {".zip"}


def write(images: LabelledImages, file: BinaryIO) -> WrittenExport:
    """Write the table with every column of `COLUMNS`."""
    _write_rows(file, COLUMNS, rows(images))
    return WrittenExport(len(images.images))


def write_placed(
    images: LabelledImages, file: BinaryIO, placed: Mapping[int, str], cut_out: Container[int] = ()
) -> None:
    """Write the table of a folder, with the path of each image within it by image id as the first column.

    What is cut out of a file has a column of its own: it is not the file whose content the table names.
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
    """Read a table with a column of images and one of classes: ours, one of `classify`, or of another program.

    Args:
        source: text, a workbook, or an archive with one table.
        given: column by role, as a person named them.
    """
    with opened_labels(source, given) as (table, table_rows):
        return table.labels(table_rows)


@contextmanager
def opened_labels(
    source: Path, given: Given | None = None, called: str = ""
) -> Iterator[OpenedLabels]:
    """Open a table of labels; bytes of names that are no Unicode stay in tables of ours.

    Raises:
        UsageError, FormatError, StorageError: see `opened_table` and `recognised`.
    """
    for fallback in (SURROGATES, WESTERN):
        with opened_table(source, partial(_fits, given), called=called, fallback=fallback) as found:
            is_last = fallback == WESTERN
            if not (is_last or _fits(given, found.columns, found.sample)):
                continue  # names of columns may need the other encoding
            layout = recognised(
                found.columns, found.sample, TablePurpose.LABELS, given, name=called or source.name
            )
            table = LabelRows(source, found.columns, layout)
            if table.is_ours or is_last:
                yield table, found.rows if layout.has_header else found.all_rows
                return


def fits(source: Path) -> bool:
    """Whether it is a table whose columns name images and classes."""
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
    """A cell as text, as it is written where there are no types."""
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
