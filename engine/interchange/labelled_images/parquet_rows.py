"""The rows of a Parquet file from outside, some thousands at once: 24 kB of it may stand for gigabytes.

Columns of texts stay dictionaries while they are read, so that a text that all rows share is in memory once. Only the
columns that labels are read from are read. Times are counted here: Arrow's own way knows neither nanoseconds nor the
years beyond 9999.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from engine.errors import FormatError
from engine.interchange import limits
from engine.interchange.labelled_images.table_rows import READ_COLUMNS
from engine.regular_file import open_regular

if TYPE_CHECKING:
    import pyarrow as pa

OUT_OF_RANGE: Final = object()
"""In the place of a time that no calendar of ours has."""
_BATCH_ROWS: Final = 10_000  # in memory at once
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""From which Arrow counts."""
_DAY_SECONDS: Final = 86_400
"""Of a day in which no second is put in or left out, as Arrow counts."""
_PER_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
"""How many of a unit are a second."""


def readable_columns(schema: "pa.Schema") -> list[str]:
    """The columns that labels are read from, those of one name and lists, records and the like are passed over."""
    once = [name for name, count in Counter(schema.names).items() if count == 1 and name in READ_COLUMNS]
    return [name for name in once if _is_plain(schema.field(name).type)]


def rows_in(source: Path, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The rows, with these columns; a time is one of UTC, or `OUT_OF_RANGE`.

    Raises:
        FormatError: there are too many rows, or more and longer texts than tables have.
        pa.ArrowException, OSError: it cannot be read.
    """
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
    """What the file says of the needed columns before any is read."""
    size_bytes = 0
    for group_index in range(metadata.num_row_groups):
        group = metadata.row_group(group_index)
        chunks = map(group.column, range(group.num_columns))
        size_bytes += sum(chunk.total_uncompressed_size for chunk in chunks if chunk.path_in_schema in names)
    limits.check_bytes(size_bytes, source_name)


def _values(column: "pa.Array", source_name: str) -> list[Any]:
    """The cells of a column; those of a dictionary that are alike are one and the same object."""
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
    if pa.types.is_date32(kind):
        counts, per_second = (None if day is None else day * _DAY_SECONDS for day in _counts(column, pa.int32())), 1
        return _from_seconds(counts, per_second)
    unit = "ms" if pa.types.is_date64(kind) else kind.unit
    return _from_seconds(_counts(column, pa.int64()), _PER_SECOND[unit])


def _counts(column: "pa.Array", kind: Any) -> list[int | None]:
    return list(column.view(kind).to_pylist())


def _from_seconds(counts: Iterable[int | None], per_second: int) -> list[Any]:
    return [None if count is None else _time(count, per_second) for count in counts]


def _time(count: int, per_second: int) -> Any:
    try:
        return _EPOCH + timedelta(microseconds=count * 10**6 // per_second)
    except OverflowError:
        return OUT_OF_RANGE


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    types = pa.types
    return any(
        is_one(kind) for is_one in (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    )


def _is_plain(kind: Any) -> bool:
    """Whether a cell is one text, number or time; one of a fixed length of bytes may be of any length."""
    import pyarrow as pa

    types = pa.types
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return _is_text(kind) or any(
        is_one(kind) for is_one in (types.is_primitive, types.is_boolean, types.is_null, types.is_decimal)
    )
