"""Immutable plan of a data set: the assignment of images to shards.

A Parquet file with one row group per shard. A worker reads only the row group of its shard, so
memory does not grow with the number of images.
"""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import pyarrow as pa
import pyarrow.parquet as pq

from engine.dataset.manifest import PLAN_FILE
from engine.errors import FormatError, found_at
from engine.events import CancelToken
from engine.files import open_regular
from engine.full_disk import writing
from engine.new_file import ORDINARY_FILE, new_file

IMAGE = "image"
TAR_FILE = "tar"
TABLE = "parquet"
_TOTALS = b"protoleaf"  # key in the metadata of the footer
_SCHEMA = pa.schema(
    [
        pa.field("kind", pa.string(), nullable=False),
        pa.field("name", pa.binary(), nullable=False),  # file names need not be valid Unicode
        pa.field("size_bytes", pa.int64()),
        pa.field("first", pa.int32()),
        pa.field("stop", pa.int32()),
        pa.field("images", pa.int64()),
    ]
)


@dataclass(frozen=True)
class Piece:
    """Smallest unit of a shard: an image file, a tar file, or row groups of a table."""

    kind: str  # IMAGE, TAR_FILE or TABLE
    name: str  # absolute path or address
    # Of the file; None for an image of a list, which is not looked up.
    size_bytes: int | None = None
    # Row groups of a table, `stop` excluded.
    first: int | None = None
    stop: int | None = None
    images: int | None = 1  # None if unknown before reading


def write_plan(
    folder: Path, pieces: Iterable[Piece], shard_images: int, cancel: CancelToken
) -> tuple[int, int | None]:
    """Write the plan; each tar file is a shard of its own, other pieces share shards.

    Returns:
        number of shards, and of images: None if there are tar files, whose images are counted
        while reading.

    Raises:
        StorageError: a write failed.
        Cancelled: `cancel` was set; no file is left.
    """
    path, shards, images, is_counted = folder / PLAN_FILE, 0, 0, True
    with (
        writing(path, "the plan cannot be written"),
        new_file(path, replace=False, mode=ORDINARY_FILE) as draft,
        pq.ParquetWriter(
            draft.file, _SCHEMA, compression="zstd", write_page_checksum=True
        ) as writer,
    ):
        for shard in grouped(pieces, shard_images):
            cancel.raise_if_cancelled()
            writer.write_batch(_batch(shard), row_group_size=len(shard))
            shards += 1
            images += sum(piece.images or 0 for piece in shard)
            is_counted &= all(piece.images is not None for piece in shard)
        counted = images if is_counted else None
        totals = {"shards": shards, "images": counted}
        writer.add_key_value_metadata({_TOTALS: json.dumps(totals).encode()})
    return shards, counted


def grouped(pieces: Iterable[Piece], shard_images: int) -> Iterator[list[Piece]]:
    """Group pieces in order into shards of at most `shard_images`, unless one piece has more."""
    shard: list[Piece] = []
    images = 0
    for piece in pieces:
        count = shard_images if piece.images is None else piece.images
        if shard and images + count > shard_images:
            yield shard
            shard, images = [], 0
        shard.append(piece)
        images += count
    if shard:
        yield shard


def _batch(shard: list[Piece]) -> pa.RecordBatch:
    columns = [
        [os.fsencode(piece.name) if field == "name" else getattr(piece, field) for piece in shard]
        for field in _SCHEMA.names
    ]
    return pa.record_batch(
        [pa.array(values, field.type) for values, field in zip(columns, _SCHEMA, strict=True)],
        schema=_SCHEMA,
    )


@final
class ShardPlan:
    """Thread-safe reader of a plan, shard by shard."""

    def __init__(self, folder: Path) -> None:
        """Read the footer; raises `FormatError` if it is damaged."""
        self._path = folder / PLAN_FILE
        self._metadata: Any = None
        with self._opened() as table:
            self._metadata = table.metadata
            totals = json.loads(table.metadata.metadata[_TOTALS])
            self.images: int | None = totals["images"]

    def pieces(self, number: int) -> list[Piece]:
        """Pieces of a shard, in order.

        Raises:
            FormatError: the plan is damaged.
        """
        with self._opened() as table:
            rows = table.read_row_group(number).to_pylist()
        return [Piece(**{**row, "name": os.fsdecode(row["name"])}) for row in rows]

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        try:
            with open_regular(self._path) as file:
                yield pq.ParquetFile(file, metadata=self._metadata, page_checksum_verification=True)
        except (pa.ArrowException, OSError, ValueError, KeyError, TypeError) as error:
            raise FormatError(
                "the plan of the data set cannot be read",
                found=found_at(self._path, error),
                remedy="embed the sources into a new folder",
            ) from error
