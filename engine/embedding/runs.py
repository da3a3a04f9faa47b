"""Keeps readers, cores and devices busy until all files are done."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from engine.embedding.embed_chunk import ChunkOutcome, ChunkWorker, ReadChunk
from engine.embedding.full_batches import FullBatches
from engine.embedding.messages import EmbedRequest
from engine.embedding.outcome_writer import OutcomeWriter
from engine.embedding.readers import Readers
from engine.events import CancelToken, ProgressMeter

PULSE_S: Final = 0.1  # progress is reported at least this often, however slow the files are
_CHUNKS_AHEAD: Final = 2  # chunks for each worker, so that none is idle while the caller writes


class ChunkSource:
    """The chunks to read: what a worker left comes first."""

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


class CoreRun:
    """Keeps the workers busy, and writes what they finish, also after a cancel or error."""

    def __init__(self, worker: ChunkWorker, source: ChunkSource, writer: OutcomeWriter, meter: ProgressMeter) -> None:
        self._worker = worker
        self._writer = writer
        self._meter = meter
        self._source = source
        self._running: set[Future[ChunkOutcome]] = set()

    def to_the_end(self, workers: int) -> None:
        with ThreadPoolExecutor(workers, thread_name_prefix="embed") as pool:
            try:
                self._submit(pool, _CHUNKS_AHEAD * workers)
                while self._running:
                    finished, self._running = wait(self._running, timeout=PULSE_S, return_when=FIRST_COMPLETED)
                    try:
                        self._submit(pool, _CHUNKS_AHEAD * workers)
                    finally:
                        self._meter.pulse()
                        self._write(finished)
                    self._submit(pool, _CHUNKS_AHEAD * workers)  # what was left
                    self._meter.pulse()
            finally:
                self._keep_finished()

    def _submit(self, pool: ThreadPoolExecutor, most: int) -> None:
        """Submit chunks until so many are running."""
        while len(self._running) < most:
            chunk = self._source.next()
            if chunk is None:
                break
            self._running.add(pool.submit(self._worker.embed_chunk, chunk, is_last=self._source.is_running_out))

    def _write(self, finished: Iterable[Future[ChunkOutcome]]) -> None:
        """Write what went well before raising what did not."""
        errors = [error for future in finished if (error := future.exception()) is not None]
        outcomes = [future.result() for future in finished if future.exception() is None]
        for outcome in outcomes:
            self._source.put_back(outcome.left)
        self._writer.write(outcomes)
        if errors:
            raise errors[0]

    def _keep_finished(self) -> None:
        """Drop waiting chunks, and write those that are or will be finished."""
        begun = [future for future in self._running if not future.cancel()]
        for future in begun:
            if future.exception() is None:
                self._writer.write([future.result()])


class DeviceRun:
    """Keeps the readers and the device busy, and writes what is embedded, also after a cancel or error.

    It ends early where the CPU takes over: what was only read is put back, for all cores to embed.
    """

    def __init__(self, worker: ChunkWorker, source: ChunkSource, writer: OutcomeWriter, meter: ProgressMeter) -> None:
        self._worker = worker
        self._writer = writer
        self._meter = meter
        self._source = source
        self._reading: set[Future[ReadChunk]] = set()
        self._read: deque[ReadChunk] = deque()
        self._embedding: dict[Future[NDArray[np.float32]], ChunkOutcome] = {}

    def to_the_end(self, readers: Readers) -> None:
        with FullBatches(self._worker.session) as batches:
            try:
                self._submit(readers)
                while self._reading or self._read or self._embedding:
                    done = self._wait()
                    readers.look_after()
                    self._feed(batches)
                    self._submit(readers)
                    self._end(batches)
                    self._write(done)
                    self._meter.pulse()
            finally:
                self._release_all()
                self._write_finished()

    def _wait(self) -> set[Future[NDArray[np.float32]]]:
        """Wait for readers or the device; the futures of what was embedded."""
        futures: set[Future[Any]] = {*self._reading, *self._embedding}
        done, _ = wait(futures, timeout=PULSE_S, return_when=FIRST_COMPLETED)
        for future in self._reading & done:
            self._reading.discard(future)
            chunk = future.result()
            self._source.put_back(chunk.requests[len(chunk.photos) :])
            self._read.append(chunk)
        return {future for future in self._embedding if future in done}

    def _submit(self, readers: Readers) -> None:
        """Submit chunks to read, as many as are not ahead of the device too far."""
        while self._is_device_well and len(self._reading) + len(self._read) < readers.most:
            chunk = self._source.next()
            if chunk is None:
                break
            self._reading.add(readers.submit(chunk, self._worker))

    @property
    def _is_device_well(self) -> bool:
        return self._worker.session.is_on_gpu

    def _feed(self, batches: FullBatches) -> None:
        """Add what was read to the batches."""
        while self._read and (batches.has_room or not self._is_device_well):
            chunk = self._read.popleft()
            if not self._is_device_well:
                self._source.put_back(chunk.requests[: len(chunk.photos)])
                chunk.release()
                continue
            outcome, pixels = self._worker.sort(chunk)
            if outcome.embedded:
                future = batches.add(pixels.reshape(-1, *pixels.shape[2:]))
                self._embedding[future] = outcome
            else:
                self._writer.write([outcome])
            chunk.release()

    def _end(self, batches: FullBatches) -> None:
        """Run what is left in the last batch."""
        is_over = self._source.is_exhausted or not self._is_device_well
        if is_over and not self._reading and not self._read:
            batches.flush()

    def _write(self, done: Iterable[Future[NDArray[np.float32]]]) -> None:
        """Write what went well before raising what did not."""
        errors = [error for future in done if (error := future.exception()) is not None]
        outcomes = []
        for future in done:
            outcome = self._embedding.pop(future)
            if future.exception() is None:
                outcome.vectors = self._worker.joined(future.result())
                outcomes.append(outcome)
        if outcomes:
            self._writer.write(outcomes)
        if errors:
            raise errors[0]

    def _release_all(self) -> None:
        """Give back the memory of what nobody will take, now or once it was read."""
        for chunk in self._read:
            chunk.release()
        for future in self._reading:
            future.add_done_callback(_release)

    def _write_finished(self) -> None:
        """Write what the device has finished; what it has not is read again the next time."""
        finished = [future for future in self._embedding if future.done() and future.exception() is None]
        self._write(finished)


def _release(future: Future[ReadChunk]) -> None:
    if not future.cancelled() and future.exception() is None:
        future.result().release()
