"""Keeps readers, cores and devices busy until all files are done."""

import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, Protocol, Self

from engine.arrays import Pixels
from engine.embedding.embed_chunk import ChunkOutcome, ChunkWorker, ReadChunk
from engine.embedding.full_batches import Vectors
from engine.embedding.messages import EmbedRequest
from engine.embedding.outcome_writer import OutcomeWriter
from engine.embedding.readers import Readers
from engine.events import CancelToken, ProgressMeter

PULSE_S = 0.1  # progress is reported at least this often, however slow the files are

_WRITTEN_TOGETHER = 32
"""Images whose embeddings are written at once, before progress is due. Chosen: each then takes half
the processor time that it takes in a transaction of eight, and hardly less in larger ones."""


class ChunkSource:
    """The chunks to read: what was left comes first."""

    def __init__(self, cancel: CancelToken, chunks: Iterator[Sequence[EmbedRequest]]) -> None:
        self._cancel = cancel
        self._chunks = chunks
        self._left: list[Sequence[EmbedRequest]] = []
        self.is_running_out = False  # no request is to come but what was left

    @property
    def is_exhausted(self) -> bool:
        return self.is_running_out and not self._left

    def next(self) -> Sequence[EmbedRequest] | None:
        """The next chunk; None while there is none.

        Raises:
            Cancelled: the run was cancelled.
        """
        self._cancel.raise_if_cancelled()
        if self._left:
            return self._left.pop()
        chunk = next(self._chunks, None)
        self.is_running_out |= chunk is None
        return chunk

    def put_back(self, requests: Sequence[EmbedRequest]) -> None:
        if requests:
            self._left.append(requests)


class EmbeddingNetwork(Protocol):
    """Runs a backbone; at its end pending batches are dropped and running ones finished."""

    @property
    def has_room(self) -> bool:
        """Whether images can be added without waiting."""

    @property
    def is_well(self) -> bool:
        """Whether it is still to be used."""

    def add(self, pixels: Pixels) -> "Future[Vectors]":
        """Add images (n > 0, side, side, 3); their embeddings (n, width)."""

    def flush(self) -> None:
        """Run what was added, as nothing more is to come."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_error: object) -> None: ...


class EmbeddingRun:
    """Keeps readers and network busy, and writes finished results, also after a cancel or error.

    It ends early where the network is not well: what was only read is put back, for another one.
    """

    def __init__(
        self, worker: ChunkWorker, source: ChunkSource, writer: OutcomeWriter, meter: ProgressMeter
    ) -> None:
        self._worker = worker
        self._writer = writer
        self._meter = meter
        self._source = source
        self._reading: set[Future[ReadChunk]] = set()
        self._read: deque[ReadChunk] = deque()
        self._embedding: dict[Future[Vectors], ChunkOutcome] = {}
        self._unwritten: list[ChunkOutcome] = []
        self._unseen: list[ReadChunk] = []  # whose thumbnails are not written yet
        self._written_s = time.monotonic()

    def to_the_end(self, readers: Readers, network: EmbeddingNetwork) -> None:
        try:
            with network:
                try:
                    self._submit(readers, network)
                    while self._reading or self._read or self._embedding:
                        done = self._wait()
                        self._worker.cancel.raise_if_cancelled()
                        readers.look_after()
                        self._feed(network)
                        self._submit(readers, network)
                        self._end(network)
                        self._take(done)
                        self._write_when_due()
                        self._meter.pulse()
                finally:
                    self._release_all()
        finally:
            self._write_finished()

    def _wait(self) -> set[Future[Vectors]]:
        """Wait for readers or the network; the futures of what was embedded."""
        futures: set[Future[Any]] = {*self._reading, *self._embedding}
        done, _ = wait(futures, timeout=PULSE_S, return_when=FIRST_COMPLETED)
        for future in self._reading & done:
            self._reading.discard(future)
            chunk = future.result()
            self._source.put_back(chunk.requests[len(chunk.photos) :])
            self._read.append(chunk)
            if self._worker.wanted.thumbnail_side:
                self._unseen.append(chunk)
        return {future for future in self._embedding if future in done}

    def _submit(self, readers: Readers, network: EmbeddingNetwork) -> None:
        """Submit chunks to read, as many as are not ahead of the network too far."""
        while network.is_well and len(self._reading) + len(self._read) < readers.most:
            chunk = self._source.next()
            if chunk is None:
                break
            self._reading.add(readers.submit(chunk, self._worker))

    def _feed(self, network: EmbeddingNetwork) -> None:
        """Give the network what was read."""
        while self._read and (network.has_room or not network.is_well):
            chunk = self._read.popleft()
            if not network.is_well:
                self._source.put_back(chunk.requests[: len(chunk.photos)])
                chunk.release()
                continue
            if chunk.outcome is not None:
                self._unwritten.append(chunk.outcome)
                continue
            outcome, pixels = self._worker.sort(chunk)
            if outcome.embedded:
                future = network.add(pixels.reshape(-1, *pixels.shape[2:]))
                self._embedding[future] = outcome
            else:
                self._unwritten.append(outcome)
            chunk.release()

    def _end(self, network: EmbeddingNetwork) -> None:
        """Run what is left in the last batch."""
        is_over = self._source.is_exhausted or not network.is_well
        if is_over and not self._reading and not self._read:
            network.flush()

    def _take(self, done: Iterable[Future[Vectors]]) -> None:
        """Take what went well before raising what did not."""
        error: BaseException | None = None
        for future in done:
            outcome = self._embedding.pop(future)
            if (failure := future.exception()) is not None:
                error = failure
            else:
                outcome.take_vectors(future.result(), self._worker.wanted.views)
                self._unwritten.append(outcome)
        if error is not None:
            raise error

    def _write_when_due(self) -> None:
        """Write what is finished: some images together, but no later than progress is reported."""
        is_waited_for = any(chunk.outcome is None for chunk in self._unseen)
        is_late = time.monotonic() - self._written_s > PULSE_S
        images = sum(len(outcome.embedded) for outcome in self._unwritten)
        if (
            is_late
            or is_waited_for
            or images >= max(_WRITTEN_TOGETHER, self._worker.session.batch_size)
        ):
            self._write()

    def _write(self) -> None:
        unseen, self._unseen = self._unseen, []
        unwritten, self._unwritten = self._unwritten, []
        self._written_s = time.monotonic()
        self._writer.write_previews(unseen)
        if unwritten:
            self._writer.write(unwritten)

    def _release_all(self) -> None:
        """Give back the memory of what will not be taken, now or once it was read."""
        for chunk in self._read:
            chunk.release()
        for future in self._reading:
            future.add_done_callback(_release)

    def _write_finished(self) -> None:
        """Write what the network has finished; what it has not is read again the next time."""
        self._take([future for future in self._embedding if _is_finished(future)])
        self._read += [future.result() for future in self._reading if _is_finished(future)]
        self._unwritten += [chunk.outcome for chunk in self._read if chunk.outcome is not None]
        self._write()


def _is_finished(future: Future[Any]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


def _release(future: Future[ReadChunk]) -> None:
    if _is_finished(future):
        future.result().release()
