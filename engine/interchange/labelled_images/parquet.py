"""Parquet: the columns of `table_rows` with their types, by pyarrow; read by pandas, Polars, DuckDB and R."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from engine.errors import FormatError, StorageError
from engine.files import shown
from engine.interchange.labelled_images.json_lines import texts
from engine.interchange.labelled_images.parquet_rows import OUT_OF_RANGE, readable_columns, rows_in
from engine.interchange.labelled_images.records import ForeignLabels, LabelledImages, WrittenExport
from engine.interchange.labelled_images.table_rows import COLUMNS, KINDS, Row, has_columns, labels_in, rows
from engine.regular_file import open_regular

if TYPE_CHECKING:
    import pyarrow as pa

_GROUP_ROWS: Final = 10_000
"""Rows in memory at once; a row group, which readers can take by itself."""
_SHOWN: Final = 60  # characters of column names
_MARK: Final = b"PAR1"
"""The first four bytes of the format."""


def write(images: LabelledImages, file: BinaryIO) -> WrittenExport:
    r"""Write the table; a file name that is no valid Unicode stands with its bytes as `\xf6`."""
    write_rows(file, schema_of(COLUMNS), rows(images))
    return WrittenExport(len(images.images))


def write_rows(file: BinaryIO, schema: "pa.Schema", all_rows: Iterable[Row]) -> None:
    """Write rows as a table, some thousands at once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for group in _grouped(all_rows):
            writer.write_table(pa.Table.from_pylist([_plain(row) for row in group], schema=schema))


def read(source: Path) -> ForeignLabels:
    """Read a table with a column of images and one of classes; a time that no calendar has is left away, and told."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with open_regular(source) as opened, pq.ParquetFile(opened) as file:
            names = readable_columns(file.schema_arrow)
            if not has_columns(names):
                raise FormatError(
                    "{source} is no table of labels",
                    expected="columns image and class, of texts or numbers",
                    found=", ".join(file.schema_arrow.names[:_SHOWN])[:_SHOWN],
                    source=source.name,
                )
            return _labels(source, names)
    except pa.ArrowException as error:
        raise FormatError(
            "{source} is no Parquet file", found=str(error).split("\n", 1)[0][:200], source=source.name
        ) from error
    except OSError as error:
        raise StorageError(
            "{source} cannot be read", found=str(error), remedy="check the path", source=source.name
        ) from error


def fits(source: Path) -> bool:
    """Whether it begins as Parquet files do."""
    if not source.is_file():
        return False
    try:
        with open_regular(source) as file:
            return file.read(len(_MARK)) == _MARK
    except OSError:
        return False


def _labels(source: Path, names: Sequence[str]) -> ForeignLabels:
    problems: list[str] = []
    found = labels_in(_places(source, names, problems), source)
    return replace(found, problems=(*found.problems, *problems))


def _places(source: Path, names: Sequence[str], problems: list[str]) -> Iterator[tuple[str, dict[str, str]]]:
    for number, row in enumerate(rows_in(source, names), start=1):
        if any(value is OUT_OF_RANGE for value in row.values()):
            problems.append(f"row {number}: its time is outside of the years 1 to 9999, and was left away")
        kept = {name: None if value is OUT_OF_RANGE else value for name, value in row.items()}
        yield f"row {number}", texts(kept)


def schema_of(columns: Iterable[str]) -> "pa.Schema":
    """Columns with their types."""
    import pyarrow as pa

    types = {
        "float": pa.float32(),
        "flag": pa.bool_(),
        "time": pa.timestamp("us", "UTC"),
        "texts": pa.list_(pa.string()),
    }
    return pa.schema([(name, types.get(KINDS.get(name, ""), pa.string())) for name in columns])


def _plain(row: Row) -> dict[str, Any]:
    return {name: shown(value) if isinstance(value, str) else value for name, value in row.items()}


def _grouped(all_rows: Iterable[Row]) -> Iterator[list[Row]]:
    group: list[Row] = []
    for row in all_rows:
        group.append(row)
        if len(group) == _GROUP_ROWS:
            yield group
            group = []
    if group:
        yield group
