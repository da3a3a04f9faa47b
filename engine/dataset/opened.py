"""A data set opened for reading: its manifest, and its shards row by row."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.dataset.described_folder import shard_path
from engine.dataset.embedded_rows import EmbeddedRows, from_arrow, schema_of
from engine.dataset.manifest import BACKBONE_FILE, Manifest, read_manifest
from engine.dataset.shard_files import ShardSet, each_batch
from engine.errors import InputError
from engine.full_disk import writing
from engine.texts import marked

AGAIN = marked("run the same `protoleaf embed` again: it makes what is missing or damaged")


@dataclass(frozen=True)
class DataSet:
    """An embedded data set; from several threads and processes at once."""

    folder: Path
    manifest: Manifest

    @classmethod
    def open(cls, folder: Path) -> "DataSet":
        """Open a data set of which every shard is there.

        Raises:
            InputError: the folder is not a data set, or shards are missing.
            FormatError: it was made by a newer program, or its manifest is damaged.
        """
        opened = cls(folder, read_manifest(folder))
        missing = opened.missing_shards()
        if missing or not opened.manifest.is_whole:
            raise InputError(
                "the data set is not whole",
                expected="{all} shards",
                found="{there} in {folder}",
                remedy=AGAIN,
                all=f"{opened.manifest.shard_count:,}",
                there=f"{opened.manifest.shard_count - len(missing):,}",
                folder=folder,
            )
        return opened

    @property
    def shards(self) -> ShardSet:
        return shards_of(self.folder, self.manifest)

    @property
    def backbone(self) -> Path:
        """The backbone's file, next to its card."""
        return self.folder / BACKBONE_FILE

    def missing_shards(self) -> list[int]:
        """Numbers of the shards that are not there, ascending; names alone are looked at."""
        return missing_numbers(self.folder, self.manifest.shard_count)

    def each_rows(self, number: int) -> Iterator[EmbeddedRows]:
        """The rows of a shard in order, at most some thousands at once.

        Raises:
            StorageError: the shard is missing or cannot be read.
            FormatError: it is damaged.
        """
        return (from_arrow(batch) for batch in each_batch(self.shards, number))


def missing_numbers(folder: Path, count: int) -> list[int]:
    """Numbers of missing shards out of so many, ascending; raises `StorageError`."""
    where = shard_path(folder, 0).parent
    with writing(where, "the folder cannot be read"), os.scandir(where) as entries:
        there = {entry.name for entry in entries}
    return [number for number in range(count) if shard_path(folder, number).name not in there]


def shards_of(folder: Path, manifest: Manifest) -> ShardSet:
    """The shards of a data set, whole or not."""
    return ShardSet(folder, manifest.data_set_id, schema_of(manifest.card.embedding_width), AGAIN)
