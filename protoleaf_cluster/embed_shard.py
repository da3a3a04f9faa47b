"""Embedding of one shard of a plan: images are read, hashed, decoded and embedded in plan order.

The functions are those of the desktop. Results do not depend on the batch size: the backbone
gives the same bits for one image and for many (decision 89, held by a test).
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import final

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Pixels
from engine.dataset.described_folder import ShardFacts
from engine.dataset.embedded_rows import EMBEDDED, EmbeddedRows, to_arrow
from engine.dataset.manifest import BACKBONE_FILE, read_manifest
from engine.dataset.opened import shards_of
from engine.dataset.shard_files import GROUP_ROWS, new_shard
from engine.embedding.cache import to_halves
from engine.embedding.full_batches import FullBatches, Vectors
from engine.embedding.read_photo import network_input
from engine.errors import ImageError, ImageUnreachableError, InputError, StorageError
from engine.files import shown
from engine.images.read_file import content_hash, read_file
from engine.ordered_pool import in_order
from engine.runtime.backbone import BackboneSession
from engine.runtime.eight_bit import embedding_identity
from engine.runtime.providers import CPU_CHOICE, choose_providers
from protoleaf_cluster.containers import ReadImage, each_in_table, each_in_tar
from protoleaf_cluster.plan import IMAGE, TABLE, Piece, ShardPlan
from protoleaf_cluster.shard_work import DoShard, FinishedShard, Resources, finished
from protoleaf_cluster.storage import is_address, read_from_store, size_of

_READERS = 8  # threads for I/O. Chosen: a request to a store takes some 50 ms.
_READ_AHEAD = 32  # images read ahead
_CHUNK_BYTES = 64 * 1024**2  # maximum size of the files of a chunk
SURELY_AWAY = 10
"""Unreachable images of a shard that mean a lost mount, if no image can be reached. Chosen."""


@dataclass(frozen=True)
class EmbedShards:
    """Embed shards of the plan of a data set."""

    folder: Path  # of the data set; the same path on every node

    def open(self, resources: Resources) -> DoShard:
        """Load the backbone as on the desktop; raises `ModelError`, `InputError`, `FormatError`."""
        if not (self.folder / BACKBONE_FILE).is_file():
            raise InputError(
                "a node of the cluster cannot access the data set",
                expected="the same folder on every node, such as one of a shared disk",
                found=str(self.folder),
            )
        manifest, backbone = read_manifest(self.folder), self.folder / BACKBONE_FILE
        found = embedding_identity(backbone, manifest.backbone_hash)
        wanted = manifest.identity or manifest.backbone_hash
        if found != wanted:
            raise InputError(
                "the data set's backbone is not the one it was started with",
                expected=wanted,
                found=found,
                remedy=(
                    "restore the eight-bit version of the backbone, or embed the sources into a "
                    "new folder"
                ),
            )
        choice = choose_providers("cuda") if resources.has_gpu else CPU_CHOICE
        return ShardEmbedder(
            self.folder, BackboneSession(backbone, manifest.card, choice, resources.cores)
        )


@dataclass(frozen=True)
class _Embedded:
    """Embedding of an image, or the error."""

    path: str
    content_hash: bytes | None
    size_bytes: int | None
    embedding: NDArray[np.float16] | None
    error: ImageError | None


@final
class ShardEmbedder:
    """Callable that embeds shards of one data set."""

    def __init__(self, folder: Path, session: BackboneSession) -> None:
        manifest = read_manifest(folder)
        self._shards = shards_of(folder, manifest)
        self._plan = ShardPlan(folder)
        self._session = session

    def __call__(self, number: int) -> FinishedShard:
        """Embed a shard, unless a valid one exists.

        Raises:
            InputError: a source has changed since the plan was made.
            StorageError, NetworkError: the disk is full or unavailable, or the store does not
                answer.
            ModelError: the backbone fails.
        """
        done = finished(self._shards, number)
        if done is not None:
            return done
        with new_shard(self._shards, number) as shard:
            rows, failed, away = 0, 0, 0
            for group in _grouped(self._each_embedded(number)):
                shard.add(to_arrow(_rows_of(group, self._session.card.embedding_width)))
                rows += len(group)
                failed += sum(each.error is not None for each in group)
                away += sum(isinstance(each.error, ImageUnreachableError) for each in group)
            _refuse_when_away(rows, away, number)
            shard.facts = ShardFacts(rows, failed, self._computed_on)
        return FinishedShard(number, shard.facts, is_new=True)

    @property
    def _computed_on(self) -> str:
        return f"{self._session.device_name}{', eight-bit' if self._session.is_eight_bit else ''}"

    def _each_embedded(self, number: int) -> Iterator[_Embedded]:
        workers = self._session.parallel_runs
        with (
            self._network() as run,
            ThreadPoolExecutor(_READERS, "read") as readers,
            ThreadPoolExecutor(workers, "embed") as pool,
        ):
            chunks = self._chunks(each_image(self._plan.pieces(number), readers))
            for embedded in in_order(pool, partial(self._embed, run), chunks, ahead=workers + 1):
                yield from embedded

    @contextmanager
    def _network(self) -> Iterator[Callable[[Pixels], Vectors]]:
        """Function that embeds pixels; on a GPU serialized by a lock, with batches of one size."""
        if not self._session.is_on_gpu:
            yield self._session.embed
            return
        one_at_a_time = Lock()
        with FullBatches(self._session) as batches:

            def embed(pixels: Pixels) -> Vectors:
                with one_at_a_time:
                    future = batches.add(pixels)
                    batches.flush()
                return future.result()

            yield embed

    def _chunks(self, images: Iterator[ReadImage]) -> Iterator[list[ReadImage]]:
        chunk, size = list[ReadImage](), 0
        for image in images:
            chunk.append(image)
            size += len(image.data or b"")
            if len(chunk) >= self._session.batch_size or size >= _CHUNK_BYTES:
                yield chunk
                chunk, size = [], 0
        if chunk:
            yield chunk

    def _embed(
        self, run: Callable[[Pixels], Vectors], images: Sequence[ReadImage]
    ) -> list[_Embedded]:
        """Hash, decode and embed some images."""
        card, sound = self._session.card, list[Pixels]()
        errors: list[ImageError | None] = []
        for image in images:
            error = image.error
            if image.data is not None:
                try:
                    sound.append(network_input(image.data, card))
                except ImageError as found:
                    error = found
            errors.append(error)
        halves = iter(to_halves(run(np.stack(sound))) if sound else ())
        return [
            _Embedded(
                image.path,
                None if image.data is None else content_hash(image.data),
                None if image.data is None else len(image.data),
                next(halves) if error is None else None,
                error,
            )
            for image, error in zip(images, errors, strict=True)
        ]


def each_image(pieces: Sequence[Piece], readers: ThreadPoolExecutor) -> Iterator[ReadImage]:
    """Yield the images of the pieces of a shard in order; image files are read by several threads.

    Raises:
        InputError: a source has changed since the plan was made.
        StorageError, NetworkError: the disk or the store does not answer.
    """
    for is_image, some in groupby(pieces, key=lambda piece: piece.kind == IMAGE):
        if is_image:
            yield from in_order(readers, _read, some, ahead=_READ_AHEAD)
        else:
            for piece in some:
                _refuse_changed(piece)
                yield from _in_container(piece)


def _read(piece: Piece) -> ReadImage:
    name = shown(piece.name)
    try:
        return ReadImage(
            name,
            read_from_store(piece.name) if is_address(piece.name) else read_file(Path(piece.name)),
        )
    except ImageError as error:
        return ReadImage(name, None, error)


def _in_container(piece: Piece) -> Iterator[ReadImage]:
    if piece.kind == TABLE:
        return each_in_table(piece.name, piece.first or 0, piece.stop or 0)
    return each_in_tar(piece.name)


def _refuse_changed(piece: Piece) -> None:
    """Refuse an archive whose size changed: its images could be in no shard, or in two."""
    size = size_of(piece.name)
    if size != piece.size_bytes:
        raise InputError(
            "a source has changed since the data set was started",
            expected="{planned} bytes",
            found="{size} bytes in {name}",
            remedy="restore it, or embed the sources into a new folder",
            planned=f"{piece.size_bytes or 0:,}",
            size=f"{size:,}",
            name=shown(piece.name),
        )


def _refuse_when_away(rows: int, away: int, number: int) -> None:
    if away == rows >= SURELY_AWAY:
        raise StorageError(
            "no image of a shard can be reached",
            found="{rows} unreachable images in shard {number}",
            remedy="reconnect the disk or share on every node, then run the same command again",
            rows=rows,
            number=number,
        )


def _grouped(embedded: Iterator[_Embedded]) -> Iterator[list[_Embedded]]:
    group = list[_Embedded]()
    for each in embedded:
        group.append(each)
        if len(group) == GROUP_ROWS:
            yield group
            group = []
    if group:
        yield group


def _rows_of(group: Sequence[_Embedded], width: int) -> EmbeddedRows:
    nothing = np.zeros(width, dtype=np.float16)
    return EmbeddedRows(
        [each.content_hash for each in group],
        [shown(each.path) for each in group],
        [each.size_bytes for each in group],
        np.stack([nothing if each.embedding is None else each.embedding for each in group]),
        np.array([each.embedding is not None for each in group], dtype=np.bool_),
        [EMBEDDED if each.error is None else each.error.code for each in group],
        [None if each.error is None else str(each.error) for each in group],
    )
