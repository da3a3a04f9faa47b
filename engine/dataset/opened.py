"""A data set opened for reading: its manifest, its shards row by row, and its embeddings as one array on disk."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.dataset.described_folder import shard_path
from engine.dataset.embedded_rows import EmbeddedRows, embeddings_in, from_arrow, schema_of
from engine.dataset.manifest import BACKBONE_FILE, Manifest, read_manifest
from engine.dataset.shard_files import ShardSet, each_batch
from engine.errors import InputError
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.full_disk import writing
from engine.new_file import new_file
from engine.texts import marked

AGAIN: Final = marked("run the same `protoleaf embed` again: it makes what is missing or damaged")


@dataclass(frozen=True)
class DataSet:
    """An embedded data set; from several threads and processes at once."""

    folder: Path
    manifest: Manifest

    @classmethod
    def open(cls, folder: Path) -> "DataSet":
        """Open a data set of which every shard is there.

        Raises:
            InputError: the folder is no data set, or shards are missing.
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
        """The backbone's file; its card lies beside it."""
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

    def embeddings(
        self,
        path: Path,
        *,
        on_progress: OnProgress = ignore_progress,
        cancel: CancelToken | None = None,
    ) -> NDArray[np.float16]:
        """All embeddings (rows, width) float16, zeros where there is none, as an array on disk that is read as needed.

        Args:
            path: the file that holds them, made when it is not there; row i is row i of the shards in their order.

        Raises:
            StorageError, FormatError: as `each_rows`, or the disk refuses.
            Cancelled: nothing is left.
        """
        shape = (self.manifest.rows, self.manifest.card.embedding_width)
        if not path.is_file() or path.stat().st_size != 2 * shape[0] * shape[1]:
            self._write_embeddings(
                path, ProgressMeter(shape[0], on_progress), cancel or CancelToken()
            )
        return np.memmap(path, dtype=np.float16, mode="r", shape=shape)

    def _write_embeddings(self, path: Path, meter: ProgressMeter, cancel: CancelToken) -> None:
        what = "the embeddings cannot be written"
        with writing(path, what), new_file(path, replace=True, durable=False) as draft:
            for number in range(self.manifest.shard_count):
                for batch in each_batch(self.shards, number, ["embedding"]):
                    cancel.raise_if_cancelled()
                    draft.file.write(embeddings_in(batch)[0].tobytes())
                    meter.advance(batch.num_rows)


def missing_numbers(folder: Path, count: int) -> list[int]:
    """Of so many shards the numbers of those that are not there, ascending; raises `StorageError`."""
    where = shard_path(folder, 0).parent
    with writing(where, "the folder cannot be read"), os.scandir(where) as entries:
        there = {entry.name for entry in entries}
    return [number for number in range(count) if shard_path(folder, number).name not in there]


def shards_of(folder: Path, manifest: Manifest) -> ShardSet:
    """The shards of a data set, whole or not."""
    return ShardSet(folder, manifest.data_set_id, schema_of(manifest.card.embedding_width), AGAIN)
