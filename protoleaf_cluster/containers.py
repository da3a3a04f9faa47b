"""Sequential readers of images in WebDataset tar files and in Parquet tables with image bytes."""

import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from engine.errors import ImageError, InputError
from engine.images.kinds import IMAGE_SUFFIXES
from engine.images.read_file import MAX_FILE_BYTES
from engine.runtime.sessions import one_line
from engine.texts import Message, enumerated
from protoleaf_cluster.storage import is_address, opened, refusal

TAR = ".tar"
PARQUET = ".parquet"
_BYTES_NAMES = (
    "bytes",
    "image",
    "image_bytes",
    "img",
    "jpg",
    "jpeg",
    "png",
    "webp",
    "content",
    "data",
)
_KEY_NAMES = ("path", "key", "__key__", "file_name", "filename", "image_id", "id", "url")
_ROWS = 32  # per batch of a table
_INSIDE = ("bytes", "path")  # fields of an image column in Hugging Face's format


@dataclass(frozen=True)
class ReadImage:
    """Bytes of an image, or the error of reading it."""

    path: str  # identifier of its row
    data: bytes | None
    error: ImageError | None = None


@dataclass(frozen=True)
class TableColumns:
    """Columns of a table that have image bytes and names."""

    # Name of the column with the bytes, and of its field if it is a struct.
    data: tuple[str, ...]
    key: tuple[str, ...] = ()  # the same for image names; empty: row numbers


def each_in_tar(name: str) -> Iterator[ReadImage]:
    """Yield the images of a tar file, by path or address; other members are skipped.

    Members after a damaged position cannot be read; one result with an error stands for them.

    Raises:
        StorageError, NetworkError: reading failed.
    """
    with opened(name) as file:
        try:
            with tarfile.open(fileobj=file, mode="r|") as archive:
                for member in archive:
                    if (
                        member.isfile()
                        and PurePosixPath(member.name).suffix.lower() in IMAGE_SUFFIXES
                    ):
                        yield _member(name, archive, member)
        except (tarfile.TarError, EOFError) as error:
            reason = one_line(error)
            yield ReadImage(
                name, None, ImageError("the archive is damaged or incomplete", found=reason)
            )
        except OSError as error:
            raise refusal(name, error) from error


def _member(name: str, archive: tarfile.TarFile, member: tarfile.TarInfo) -> ReadImage:
    path = f"{name}/{member.name}"
    if member.size > MAX_FILE_BYTES:
        return ReadImage(
            path, None, ImageError("the file is too large", found=f"{member.size // 1024**2} MB")
        )
    file = archive.extractfile(member)
    data = b"" if file is None else file.read()
    if len(data) != member.size:
        raise tarfile.ReadError(f"{member.name} is cut short")
    return ReadImage(path, data) if data else ReadImage(path, None, ImageError("the file is empty"))


def rows_by_group(name: str) -> list[int]:
    """Number of rows in each row group of a Parquet table with images.

    Raises:
        InputError: not a table with images.
        StorageError, NetworkError: it cannot be read.
    """
    with _table(name) as table:
        _columns(name, table.schema_arrow)
        metadata = table.metadata
        return [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]


def each_in_table(name: str, first: int, stop: int) -> Iterator[ReadImage]:
    """Yield the images of row groups `first` to `stop` (exclusive) of a Parquet table.

    Args:
        name: path or address.
        first: first row group.
        stop: row group after the last.

    Raises:
        InputError: not a table with images.
        StorageError, NetworkError: it cannot be read.
    """
    import pyarrow as pa

    with _table(name) as table:
        columns = _columns(name, table.schema_arrow)
        row = sum(table.metadata.row_group(group).num_rows for group in range(first))
        names = list(dict.fromkeys(column[0] for column in (columns.data, columns.key) if column))
        try:
            for batch in table.iter_batches(
                _ROWS, row_groups=list(range(first, stop)), columns=names
            ):
                for data, key in zip(
                    _values(batch, columns.data), _values(batch, columns.key), strict=True
                ):
                    yield _row(f"{name}/{row if key is None else key}", data)
                    row += 1
        except (pa.ArrowException, OSError) as error:
            if is_address(name) and not isinstance(error, pa.ArrowException):
                raise refusal(name, error) from error
            yield ReadImage(name, None, ImageError("the table is damaged", found=one_line(error)))


def _row(path: str, data: bytes | None) -> ReadImage:
    return ReadImage(path, data) if data else ReadImage(path, None, ImageError("the file is empty"))


def _values(batch: Any, column: Sequence[str]) -> list[Any]:
    if not column:
        return [None] * batch.num_rows
    values = batch.column(column[0]).to_pylist()
    return (
        [None if value is None else value[column[1]] for value in values]
        if len(column) > 1
        else values
    )


@contextmanager
def _table(name: str) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with opened(name) as file:
        try:
            table = pq.ParquetFile(file)
        except (pa.ArrowException, OSError) as error:
            found = f"{name}: {one_line(error)}"
            raise InputError("this is not a Parquet file, or it is damaged", found=found) from error
        yield table


def _columns(name: str, schema: Any) -> TableColumns:
    """Find the columns by name and type."""
    import pyarrow as pa

    kinds = {field.name: field.type for field in schema}
    for column, kind in kinds.items():
        fields = (
            {kind.field(place).name for place in range(kind.num_fields)}
            if pa.types.is_struct(kind)
            else set()
        )
        if set(_INSIDE) <= fields:
            return TableColumns((column, "bytes"), (column, "path"))
    binary = [
        each
        for each, kind in kinds.items()
        if pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
    ]
    named = [each for each in _BYTES_NAMES if each in binary] or (
        binary if len(binary) == 1 else []
    )
    if not named:
        raise InputError(
            "this table has no column with images",
            expected="bytes in a column such as {expected_names}",
            found="{columns} in {name}",
            expected_names=enumerated(_BYTES_NAMES[:3]),
            columns=enumerated(kinds) or Message("no column"),
            name=name,
        )
    key = next((each for each in _KEY_NAMES if each in kinds and each != named[0]), None)
    return TableColumns((named[0],), () if key is None else (key,))
