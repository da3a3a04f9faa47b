"""The plan of a data set: which images belong to which shard. Written once, before the first shard; never changed.

It is a Parquet file with one row group for each shard, so a worker reads its shard's part alone, and memory does not
grow with the number of images.
"""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

import pyarrow as pa
import pyarrow.parquet as pq

from engine.dataset.manifest import PLAN_FILE
from engine.errors import FormatError, found_at
from engine.events import CancelToken
from engine.files import open_regular
from engine.full_disk import writing
from engine.new_file import ORDINARY_FILE, new_file

IMAGE: Final = "image"
TAR_FILE: Final = "tar"
TABLE: Final = "parquet"
_TOTALS: Final = b"protoleaf"  # of the footer's metadata
_SCHEMA: Final = pa.schema(
    [
        pa.field("kind", pa.string(), nullable=False),
        pa.field("name", pa.binary(), nullable=False),  # names of files need not be valid Unicode
        pa.field("size_bytes", pa.int64()),
        pa.field("first", pa.int32()),
        pa.field("stop", pa.int32()),
        pa.field("images", pa.int64()),
    ]
)


@dataclass(frozen=True)
class Piece:
    """What is read at once for a shard: an image file, a tar file, or some row groups of a table."""

    kind: str  # IMAGE, TAR_FILE or TABLE
    name: str  # absolute path or address
    size_bytes: int | None = None  # of the file; None of an image in a list, which is not looked up
    # first, stop: row groups of a table, `first` to before `stop`
    first: int | None = None
    stop: int | None = None
    images: int | None = 1  # None where only reading it tells


@dataclass(frozen=True)
class PlanTotals:
    """What a plan holds."""

    shards: int
    images: int | None  # None where tar files are among the sources: only reading them tells


def write_plan(
    folder: Path, pieces: Iterable[Piece], shard_images: int, cancel: CancelToken
) -> PlanTotals:
    """Write the plan; a tar file is a shard by itself, other pieces share shards of at most so many images.

    Raises:
        StorageError: the disk refuses.
        Cancelled: `cancel` was set; nothing is left.
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
        totals = PlanTotals(shards, images if is_counted else None)
        writer.add_key_value_metadata({_TOTALS: json.dumps(vars(totals)).encode()})
    return totals


def grouped(pieces: Iterable[Piece], shard_images: int) -> Iterator[list[Piece]]:
    """Pieces by shard: in order, at most `shard_images` each, unless one piece alone has more."""
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
    columns = [[os.fsencode(piece.name) if field == "name" else getattr(piece, field) for piece in shard]
               for field in _SCHEMA.names]  # fmt: skip
    return pa.record_batch(
        [pa.array(values, field.type) for values, field in zip(columns, _SCHEMA, strict=True)],
        schema=_SCHEMA,
    )


@final
class ShardPlan:
    """A plan that is read shard by shard; from several threads at once."""

    def __init__(self, folder: Path) -> None:
        """Read its footer; raises `FormatError` where it is damaged."""
        self._path = folder / PLAN_FILE
        self._metadata: Any = None
        with self._opened() as table:
            self._metadata = table.metadata
            self.totals = PlanTotals(**json.loads(table.metadata.metadata[_TOTALS]))

    def pieces(self, number: int) -> list[Piece]:
        """What a shard is made of, in order.

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
