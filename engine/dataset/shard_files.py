"""Shards as Parquet files: written atomically with page checksums, read in batches.

The footer says which data set a shard belongs to and which number it has; every page has a
checksum. So a shard that is cut short, mixed up or damaged in one bit of its data is found by
reading it.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

import pyarrow as pa
import pyarrow.parquet as pq

from engine.dataset.described_folder import ShardFacts, facts_of, shard_path
from engine.errors import FormatError, StorageError, found_at
from engine.files import open_regular
from engine.full_disk import writing
from engine.new_file import ORDINARY_FILE, new_file

GROUP_ROWS = 1_000  # rows in memory at once, 2 MB of embeddings 1,000 wide. Chosen.
_KEY = b"protoleaf"  # of the footer's metadata
_EMBEDDING = "embedding"  # the column that does not compress


@dataclass(frozen=True)
class ShardSet:
    """The shards of one folder, all of one schema."""

    folder: Path
    owner_id: str  # id of the data set or the predictions, which each footer carries
    schema: pa.Schema
    remedy: str  # what to do about a missing or damaged shard

    def path(self, number: int) -> Path:
        return shard_path(self.folder, number)


@final
class ShardWriter:
    """Adds rows to a new shard; `facts` is filled by who writes before the shard is finished."""

    def __init__(self, writer: Any) -> None:
        self.facts = ShardFacts(0, 0)
        self._writer = writer

    def add(self, rows: pa.RecordBatch) -> None:
        """Write rows as one row group."""
        self._writer.write_batch(rows)


@contextmanager
def new_shard(shards: ShardSet, number: int) -> Iterator[ShardWriter]:
    """Write a shard that appears under its name whole and on disk, or not at all.

    Raises:
        StorageError: the disk refuses; a `DiskFullError` where it is full.
    """
    path = shards.path(number)
    with (
        writing(path, "the shard cannot be written"),
        new_file(path, replace=True, mode=ORDINARY_FILE) as draft,
        pq.ParquetWriter(draft.file, shards.schema, **_writing_options(shards.schema)) as writer,
    ):
        shard = ShardWriter(writer)
        yield shard
        footer = {"owner": shards.owner_id, "number": number, "facts": asdict(shard.facts)}
        writer.add_key_value_metadata({_KEY: json.dumps(footer).encode()})


def _writing_options(schema: pa.Schema) -> dict[str, Any]:
    compressed = {name: "none" if name == _EMBEDDING else "zstd" for name in schema.names}
    texts = [field.name for field in schema if pa.types.is_string(field.type)]
    # Statistics would be a part of the footer that nothing checks.
    return {
        "compression": compressed,
        "use_dictionary": texts,
        "write_page_checksum": True,
        "write_statistics": False,
    }


@contextmanager
def _opened(shards: ShardSet, number: int) -> Iterator[tuple[Any, ShardFacts]]:
    """The file and its facts; whatever is wrong with it inside the block becomes one error."""
    path = shards.path(number)
    try:
        with open_regular(path) as file:
            found = pq.ParquetFile(file, page_checksum_verification=True)
            yield found, _facts(found, shards, number)
    except FileNotFoundError as error:
        raise StorageError("a shard is missing", found=str(path), remedy=shards.remedy) from error
    except PermissionError as error:
        raise StorageError("a shard cannot be read", found=found_at(path, error)) from error
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError) as error:
        found_text = found_at(path, error)
        raise FormatError("a shard is damaged", found=found_text, remedy=shards.remedy) from error


def _facts(file: Any, shards: ShardSet, number: int) -> ShardFacts:
    footer = json.loads((file.metadata.metadata or {})[_KEY])
    if (footer["owner"], footer["number"]) != (shards.owner_id, number):
        raise ValueError("it belongs to another data set")
    if not file.schema_arrow.equals(shards.schema):
        raise ValueError("it has other columns")
    return facts_of([footer["facts"]])[0]


def each_batch(
    shards: ShardSet, number: int, columns: list[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """Read the rows of a shard, at most some thousands at once, checked.

    Raises:
        StorageError: the shard is missing or cannot be read.
        FormatError: it is damaged.
    """
    with _opened(shards, number) as (file, facts):
        rows = 0
        for batch in file.iter_batches(GROUP_ROWS, columns=columns, use_threads=False):
            rows += batch.num_rows
            yield batch
        if rows != facts.rows:
            raise ValueError(f"{rows} of {facts.rows} rows")


def check_shard(shards: ShardSet, number: int) -> ShardFacts:
    """Read a whole shard and check every page; raises as `each_batch`."""
    with _opened(shards, number) as (_file, facts):
        pass
    for _batch in each_batch(shards, number):
        pass
    return facts
