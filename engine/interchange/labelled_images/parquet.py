"""Parquet: the columns of `table_rows` with their types, by pyarrow; read by pandas, Polars, DuckDB and R.

A file of 24 kB may unpack to gigabytes: only the columns that labels are read from are read, some thousands of rows at
once, and texts stay dictionaries, so that a text that all rows share is in memory once. Times are counted here: Arrow's
own conversion knows neither nanoseconds nor the years beyond 9999.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from engine.errors import FormatError
from engine.files import open_regular, shown
from engine.interchange import limits
from engine.interchange.archives import reading
from engine.interchange.labelled_images import table_rows
from engine.interchange.labelled_images.foreign_labels import ForeignLabels
from engine.interchange.labelled_images.json_lines import texts
from engine.interchange.labelled_images.label_tables import LabelRows
from engine.interchange.labelled_images.records import LabelledImages, WrittenExport
from engine.interchange.tables.dialects import TablePurpose
from engine.interchange.tables.recognise import recognised
from engine.texts import Message, marked

if TYPE_CHECKING:
    import pyarrow as pa


_GROUP_ROWS: Final = 10_000  # rows in memory at once; a row group, which readers can take by itself
_MARK: Final = b"PAR1"  # the first four bytes of the format


def write(images: LabelledImages, file: BinaryIO) -> WrittenExport:
    r"""Write the table; a file name that is no valid Unicode stands with its bytes as `\xf6`."""
    write_rows(file, schema_of(table_rows.COLUMNS), table_rows.rows(images))
    return WrittenExport(len(images.images))


def write_rows(file: BinaryIO, schema: "pa.Schema", all_rows: Iterable[table_rows.Row]) -> None:
    """Write rows as a table, some thousands at once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    plain = (
        {name: shown(value) if isinstance(value, str) else value for name, value in row.items()} for row in all_rows
    )
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for group in iter(lambda: list(islice(plain, _GROUP_ROWS)), []):
            writer.write_table(pa.Table.from_pylist(group, schema=schema))


def read(source: Path, given: Mapping[str, str] | None = None) -> ForeignLabels:
    """Read a table with a column of images and one of classes; a time out of range is dropped, and reported.

    Args:
        source: the file.
        given: column by role, as a person named them.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with (
        reading(source, "{source} is no Parquet file", (pa.ArrowException,)),
        open_regular(source) as opened,
        pq.ParquetFile(opened) as file,
    ):
        columns = _readable_columns(file.schema_arrow)
        layout = recognised(columns, (), TablePurpose.LABELS, given, name=source.name)
        names = LabelRows(source, columns, layout).needed
        layout = recognised(names, (), TablePurpose.LABELS, given, name=source.name)
        table = LabelRows(source, names, layout)
        problems: list[str] = []
        labels = table.labels(_places(source, names, problems), marked("row {place}: {reason}"))
        return replace(labels, problems=(*labels.problems, *problems))


def fits(source: Path) -> bool:
    """Whether it begins as Parquet files do."""
    if not source.is_file():
        return False
    try:
        with open_regular(source) as file:
            return file.read(len(_MARK)) == _MARK
    except OSError:
        return False


def _places(source: Path, names: Sequence[str], problems: list[str]) -> Iterator[tuple[int, list[str]]]:
    for number, row in enumerate(_rows_in(source, names), start=1):
        if any(value is _OUT_OF_RANGE for value in row.values()):
            template = marked("row {number}: its time is outside of the years 1 to 9999, and was left away")
            problems.append(Message(template, {"number": number}))
        kept = {name: None if value is _OUT_OF_RANGE else value for name, value in row.items()}
        yield number, list(texts(kept).values())


def schema_of(columns: Iterable[str]) -> "pa.Schema":
    """Columns with their types."""
    import pyarrow as pa

    types = {
        "float": pa.float32(),
        "whole": pa.int32(),
        "flag": pa.bool_(),
        "time": pa.timestamp("us", "UTC"),
        "texts": pa.list_(pa.string()),
    }
    return pa.schema([(name, types.get(table_rows.KINDS.get(name, ""), pa.string())) for name in columns])


_OUT_OF_RANGE: Final = object()  # in the place of a time that no calendar of ours has
_BATCH_ROWS: Final = 10_000  # in memory at once
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)  # from which Arrow counts
_DAY_SECONDS: Final = 86_400  # of a day in which no second is put in or left out, as Arrow counts
_PER_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}  # how many of a unit are a second


def _readable_columns(schema: "pa.Schema") -> list[str]:
    """The columns that labels are read from; nested types and repeated names are ignored."""
    once = [name for name, count in Counter(schema.names).items() if count == 1]
    return [name for name in once if _is_plain(schema.field(name).type)]


def _rows_in(source: Path, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The rows, with these columns; a time is in UTC, or `_OUT_OF_RANGE`."""
    import pyarrow.parquet as pq

    with open_regular(source) as opened, pq.ParquetFile(opened, read_dictionary=list(names)) as file:
        limits.check_count(file.metadata.num_rows, source.name)
        _check_unpacked(file.metadata, names, source.name)
        yield from limits.at_most(_rows(file, names, source.name), source.name)


def _rows(file: Any, names: Sequence[str], source_name: str) -> Iterator[dict[str, Any]]:
    for batch in file.iter_batches(_BATCH_ROWS, columns=list(names), use_threads=False):
        columns = {name: _values(batch.column(name), source_name) for name in names}
        for cells in zip(*columns.values(), strict=True):
            yield dict(zip(columns, cells, strict=True))


def _check_unpacked(metadata: Any, names: Sequence[str], source_name: str) -> None:
    """Refuse needed columns that are too large, by the metadata of the file."""
    size_bytes = 0
    for group_index in range(metadata.num_row_groups):
        group = metadata.row_group(group_index)
        chunks = map(group.column, range(group.num_columns))
        size_bytes += sum(chunk.total_uncompressed_size for chunk in chunks if chunk.path_in_schema in names)
    limits.check_bytes(size_bytes, source_name)


def _values(column: "pa.Array", source_name: str) -> list[Any]:
    """The cells of a column; equal cells of a dictionary are one and the same object."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        values = _plain_values(column.dictionary, source_name)
        return [None if place is None else values[place] for place in column.indices.to_pylist()]
    return _plain_values(column, source_name)


def _plain_values(column: "pa.Array", source_name: str) -> list[Any]:
    import pyarrow as pa

    kind = column.type
    if _is_text(kind):
        _check_lengths(column, source_name)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return _times(column)
    try:
        return list(column.to_pylist())
    except (ValueError, OverflowError):  # durations and hours of the day beyond Python's
        return [None] * len(column)


def _check_lengths(column: "pa.Array", source_name: str) -> None:
    import pyarrow.compute as pc

    longest = pc.max(pc.binary_length(column)).as_py() or 0
    if longest > limits.LONGEST_CELL:
        raise FormatError(
            "a cell of {source_name} is too long",
            expected="at most {limit:,} bytes",
            found=f"{longest:,}",
            remedy="take that column out",
            source_name=source_name,
            limit=limits.LONGEST_CELL,
        )


def _times(column: "pa.Array") -> list[Any]:
    import pyarrow as pa

    kind = column.type
    is_days = pa.types.is_date32(kind)
    resolution = "s" if is_days else "ms" if pa.types.is_date64(kind) else kind.unit
    factor = _DAY_SECONDS if is_days else 1
    counts = column.view(pa.int32() if is_days else pa.int64()).to_pylist()
    return [None if count is None else _time(count * factor, _PER_SECOND[resolution]) for count in counts]


def _time(count: int, per_second: int) -> Any:
    try:
        return _EPOCH + timedelta(microseconds=count * 10**6 // per_second)
    except OverflowError:
        return _OUT_OF_RANGE


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    types = pa.types
    kinds = types.is_string, types.is_large_string, types.is_binary, types.is_large_binary
    return any(is_one(kind) for is_one in kinds)


def _is_plain(kind: Any) -> bool:
    """Whether a cell is one text, number or time; bytes of a fixed length may be of any length."""
    import pyarrow as pa

    types = pa.types
    kind = kind.value_type if types.is_dictionary(kind) else kind
    kinds = types.is_primitive, types.is_boolean, types.is_null, types.is_decimal
    return _is_text(kind) or any(is_one(kind) for is_one in kinds)
