"""Parquet: the typed columns of `table_rows`, by pyarrow.

A file of 24 kB may unpack to gigabytes: only the needed columns are read, in batches, and texts
are dictionary-encoded, so that equal texts are in memory once. Cells are read as texts, since
Python has neither nanoseconds nor years after 9999.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from engine.errors import FormatError
from engine.files import open_regular, shown
from engine.interchange import limits
from engine.interchange.archives import reading
from engine.interchange.labelled_images import table_rows
from engine.interchange.labelled_images.foreign_labels import ForeignLabels
from engine.interchange.labelled_images.label_tables import LabelRows
from engine.interchange.labelled_images.records import LabelledImages, WrittenExport
from engine.interchange.text_file import head_of
from engine.texts import Message, marked

if TYPE_CHECKING:
    import pyarrow as pa


_GROUP_ROWS = 10_000  # of a row group
_MAGIC = b"PAR1"


def write(images: LabelledImages, file: BinaryIO) -> WrittenExport:
    r"""Write the table; invalid Unicode in file names becomes escapes such as `\xf6`."""
    write_rows(file, schema_of(table_rows.COLUMNS), table_rows.rows(images))
    return WrittenExport(len(images.images))


def write_rows(file: BinaryIO, schema: "pa.Schema", all_rows: Iterable[table_rows.Row]) -> None:
    """Write rows in row groups."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    plain = ({name: _value(each) for name, each in row.items()} for row in all_rows)
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for group in iter(lambda: list(islice(plain, _GROUP_ROWS)), []):
            writer.write_table(pa.Table.from_pylist(group, schema=schema))


def _value(value: table_rows.Value) -> table_rows.Value:
    if isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False)
    return shown(value) if isinstance(value, str) else value


def read(source: Path, given: Mapping[str, str] | None = None) -> ForeignLabels:
    """Read a table with columns of images and classes; times out of range are dropped.

    Args:
        source: the file.
        given: column by role, set by the user.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with (
        reading(source, "{source} is not a Parquet file", (pa.ArrowException,)),
        open_regular(source) as opened,
        pq.ParquetFile(opened) as file,
    ):
        schema = file.schema_arrow
        once = [name for name, count in Counter(schema.names).items() if count == 1]
        columns = [name for name in once if _is_plain(schema.field(name).type)]
        names = LabelRows(source, columns, given=given).needed
        table = LabelRows(source, names, given=given)
        problems: list[str] = []
        labels = table.labels(_rows_in(source, names, problems), marked("row {place}: {reason}"))
        return replace(labels, problems=(*labels.problems, *problems))


def fits(source: Path) -> bool:
    """Whether it begins as Parquet files do."""
    return head_of(source).startswith(_MAGIC)


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
    return pa.schema(
        [(name, types.get(table_rows.KINDS.get(name, ""), pa.string())) for name in columns]
    )


_OUT_OF_RANGE = "<out of range>"  # in place of such a time
_IN_RANGE = re.compile(r"(?!0000)\d{4}-")  # of other times
_BATCH_ROWS = 10_000  # in memory at once


def _rows_in(
    source: Path, names: Sequence[str], problems: list[str]
) -> Iterator[tuple[int, list[str]]]:
    """Number and cells of each row; times out of range are dropped and reported."""
    import pyarrow.parquet as pq

    with (
        open_regular(source) as opened,
        pq.ParquetFile(opened, read_dictionary=list(names)) as file,
    ):
        limits.RECORDS.check(file.metadata.num_rows, source.name)
        _check_unpacked(file.metadata, names, source.name)
        batches = file.iter_batches(_BATCH_ROWS, columns=list(names), use_threads=False)
        columns = ([_texts(batch.column(name), source.name) for name in names] for batch in batches)
        rows = chain.from_iterable(zip(*each, strict=True) for each in columns)
        for number, cells in enumerate(limits.at_most(rows, source.name), start=1):
            if any(cell is _OUT_OF_RANGE for cell in cells):
                template = marked(
                    "row {number}: its time is outside the years 1 to 9999 and was left out"
                )
                problems.append(Message(template, {"number": number}))
            yield number, ["" if cell is _OUT_OF_RANGE else cell for cell in cells]


def _check_unpacked(metadata: Any, names: Sequence[str], source_name: str) -> None:
    """Refuse columns that are too large, by the metadata of the file."""
    size_bytes = 0
    for group_index in range(metadata.num_row_groups):
        group = metadata.row_group(group_index)
        chunks = map(group.column, range(group.num_columns))
        size_bytes += sum(
            chunk.total_uncompressed_size for chunk in chunks if chunk.path_in_schema in names
        )
    limits.TABLE_BYTES.check(size_bytes, source_name)


def _texts(column: "pa.Array", source_name: str) -> list[str]:
    """Cells of a column as texts, times in UTC; equal cells of a dictionary share a text."""
    import pyarrow as pa

    is_dictionary = pa.types.is_dictionary(column.type)
    values = column.dictionary if is_dictionary else column
    kind = values.type
    if _is_text(kind):
        _check_lengths(values, source_name)
    is_time = pa.types.is_timestamp(kind) or pa.types.is_date(kind)
    if pa.types.is_timestamp(kind):
        values = values.view(pa.timestamp(kind.unit))  # in any time zone stored as UTC
    try:
        texts = values.cast(pa.string()).fill_null("").to_pylist()
    except pa.ArrowException:  # bytes that are not UTF-8, and intervals
        is_bytes = _is_text(kind)
        texts = [
            (each or b"").decode(errors="surrogateescape") if is_bytes else ""
            for each in values.to_pylist()
        ]
    if is_time:
        texts = [text if not text or _IN_RANGE.match(text) else _OUT_OF_RANGE for text in texts]
    places = column.indices.to_pylist() if is_dictionary else range(len(texts))
    return ["" if place is None else texts[place] for place in places]


def _check_lengths(column: "pa.Array", source_name: str) -> None:
    import pyarrow.compute as pc

    longest = pc.max(pc.binary_length(column)).as_py() or 0
    if longest > limits.LONGEST_CELL:
        raise FormatError(
            "a cell of {source_name} is too long",
            expected="at most {limit:,} bytes",
            found=f"{longest:,}",
            remedy="remove that column",
            source_name=source_name,
            limit=limits.LONGEST_CELL,
        )


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    types = pa.types
    kinds = types.is_string, types.is_large_string, types.is_binary, types.is_large_binary
    return any(is_one(kind) for is_one in kinds)


def _is_plain(kind: Any) -> bool:
    """Whether cells are texts, numbers or times; fixed-size bytes may be of any length."""
    import pyarrow as pa

    types = pa.types
    kind = kind.value_type if types.is_dictionary(kind) else kind
    kinds = types.is_primitive, types.is_boolean, types.is_null, types.is_decimal
    return _is_text(kind) or any(is_one(kind) for is_one in kinds)
