"""Reading and embedding on the same core: a thread embeds what it has just read.

Pixels are then in the core's cache. Decoding and the backbone release the interpreter lock, so
cores do not wait for one another.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Self, final

from engine.arrays import Pixels
from engine.embedding.embed_chunk import PATIENCE_S, ChunkWorker, ReadChunk, read_chunk
from engine.embedding.full_batches import Vectors
from engine.embedding.messages import EmbedRequest

LAST_PATIENCE_S = 0.025  # instead of `PATIENCE_S`, for the last files of a run
READ_FIRST = 48
"""Photos to read before any is embedded, for thumbnails. Chosen: about a window full."""
SQUARES_ON_A_CORE = 16
"""Squares that a core reads and embeds together. Chosen: 3 % less processor time than 8, as reading
and the network displace each other in its cache; 32 take 1 % less again, and make the end of a run
uneven."""
_AHEAD = 16  # files for each core, so that none is idle while the caller writes. Chosen.


@final
class Cores:
    """Reads and embeds chunks of files, both `Readers` and `EmbeddingNetwork`.

    Args:
        count: of the threads.
        is_running_out: whether no file is to come but what was left.
    """

    is_well = True
    has_room = True

    def __init__(self, worker: ChunkWorker, count: int, is_running_out: Callable[[], bool]) -> None:
        self._worker = worker
        self._is_running_out = is_running_out
        self._left_to_read = READ_FIRST if worker.wanted.thumbnail_side else 0
        self._ahead = max(2, _AHEAD // files_on_a_core(worker)) * count
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="embed")

    @property
    def most(self) -> int:
        """Chunks that may be read at once."""
        return self._ahead + max(0, self._left_to_read) // files_on_a_core(self._worker)

    def submit(self, requests: Sequence[EmbedRequest], worker: ChunkWorker) -> "Future[ReadChunk]":
        """Read some files, and embed them unless they are among the first."""
        is_first = self._left_to_read > 0
        self._left_to_read -= len(requests)
        return self._pool.submit(self._read if is_first else self._read_and_embed, worker, requests)

    def add(self, pixels: Pixels) -> "Future[Vectors]":
        """Embed images (n, side, side, 3); their embeddings (n, width)."""
        return self._pool.submit(self._worker.session.embed, pixels)

    def look_after(self) -> None:
        """Threads cannot be replaced."""

    def flush(self) -> None:
        """Nothing waits for more images."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)

    def _read(self, worker: ChunkWorker, requests: Sequence[EmbedRequest]) -> ReadChunk:
        patience_s = LAST_PATIENCE_S if self._is_running_out() else PATIENCE_S
        return read_chunk(
            requests, worker.wanted, worker.missing, worker.cancel, patience_s=patience_s
        )

    def _read_and_embed(self, worker: ChunkWorker, requests: Sequence[EmbedRequest]) -> ReadChunk:
        """Raises `Cancelled`, which discards the chunk, or `ModelError`."""
        chunk = self._read(worker, requests)
        outcome, pixels = worker.sort(chunk)
        if outcome.embedded:
            outcome.take_vectors(
                worker.session.embed(pixels.reshape(-1, *pixels.shape[2:])), pixels.shape[1]
            )
        return replace(chunk, pixels=pixels[:0], outcome=outcome)


def files_on_a_core(worker: ChunkWorker) -> int:
    """How many files a core reads and embeds together."""
    return max(1, max(SQUARES_ON_A_CORE, worker.session.batch_size) // worker.wanted.views)
