"""Embeds files: what is in the cache is taken from there, the rest is read, decoded and run on all cores.

Every worker thread does everything for its own chunk of files: reading, decoding, and one run of the backbone that uses
this core only. Decoding and the backbone release the interpreter lock, so the cores are always busy and never wait for
one another; queues between decoders and the backbone would only add waiting. With a GPU there are a few more workers
than cores: some decode while another's chunk is on the GPU. The caller's thread alone writes to the cache and reports.
Requests are asked for as they are needed, so the memory in use does not depend on how many there are.
"""

import itertools
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Final

from engine.embedding.cache import EmbeddingCache
from engine.embedding.embed_chunk import ChunkOutcome, ChunkWorker, Claims, state_of
from engine.embedding.messages import (
    EmbedRequest,
    EmbedResult,
    EmbedSummary,
    OnBatch,
    ignore_batch,
)
from engine.embedding.outcome_writer import OutcomeWriter
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.files import FoundFile
from engine.runtime.backbone import BackboneSession

_LOOK_UP: Final = 512  # requests that are looked up in the cache at once; more would delay the next report
_CHUNKS_AHEAD: Final = 2  # chunks for each worker, so that none is idle while the caller writes
_PULSE_S: Final = 0.1  # progress is reported at least this often, however slow the files are


def embed_files(
    requests: Iterable[EmbedRequest],
    session: BackboneSession,
    cache: EmbeddingCache,
    *,
    total: int | None = None,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
    on_batch: OnBatch = ignore_batch,
    workers: int | None = None,
    with_views: bool = False,
) -> EmbedSummary:
    """Make sure that every file's embedding is in the cache.

    Files that fail are listed, never fatal. Equal contents are embedded once. What was reported is on disk: after a
    kill or a cancel the next run goes on from there. Memory does not grow with the number of requests.

    Args:
        requests: images, in the order in which they are wanted; gone through once, on the calling thread.
        on_progress: with images done of all, several times a second; the note is the device, the notice that it failed.
        workers: threads; as many as the session runs well with when None.
        with_views: embed each image in all its views.

    Raises:
        Cancelled: asked to stop; finished batches are kept and were reported.
        ModelError: the backbone fails.
        StorageError: the cache cannot be written.
    """
    cancel = cancel or CancelToken()
    cancel.raise_if_cancelled()
    if total is None:
        total = len(requests) if isinstance(requests, Sequence) else 0
    claims = Claims()
    writer = OutcomeWriter(cache, claims, on_batch)
    worker = ChunkWorker(session, cache, claims, cancel, with_views=with_views)
    meter = ProgressMeter(total, on_progress)
    _follow(writer, meter, session)
    pending = _Pending(requests, worker, writer, meter)
    started_s = time.perf_counter()
    _Run(worker, pending, writer, meter).to_the_end(workers or session.parallel_runs)
    return _summary(session, writer, pending, time.perf_counter() - started_s)


def _follow(writer: OutcomeWriter, meter: ProgressMeter, session: BackboneSession) -> None:
    """Let the progress count what the writer reports, and say on which device."""

    def advance(count: int) -> None:
        meter.note, meter.notice = session.device_name, session.notice  # a GPU may fail on the way
        meter.advance(count)

    advance(0)
    writer.on_done, writer.on_cached = advance, meter.skip


def _summary(session: BackboneSession, writer: OutcomeWriter, pending: "_Pending", seconds: float) -> EmbedSummary:
    return EmbedSummary(
        embedded=writer.embedded,
        from_cache=writer.from_cache,
        failed=tuple(writer.failed),
        failure_count=writer.failure_count,
        seconds=seconds,
        images_per_s=pending.count / (seconds - pending.cached_s) if pending.count else 0.0,
        device_name=session.device_name,
        notice=session.notice,
        reason=session.reason,
        missing=writer.missing,
    )


class _Pending:
    """Goes through the requests: reports those whose unchanged file has an embedding already, and gives the others.

    Between look-ups it stops when asked to, and shows that it lives: all may be in the cache, and the disk slow.

    Attributes:
        count: requests given so far.
        cached_s: seconds until the first of them was found.
    """

    def __init__(
        self, requests: Iterable[EmbedRequest], worker: ChunkWorker, writer: OutcomeWriter, meter: ProgressMeter
    ) -> None:
        self.count = 0
        self.cached_s = 0.0
        self._requests = iter(requests)
        self._cache = worker.cache
        self._cancel = worker.cancel
        self._writer = writer
        self._meter = meter

    def chunks(self, size: int) -> Iterator[Sequence[EmbedRequest]]:
        """Yield what is pending, up to `size` requests at a time."""
        each = itertools.chain.from_iterable(self._looked_up())
        while chunk := list(itertools.islice(each, size)):
            self.count += len(chunk)
            yield chunk

    def _looked_up(self) -> Iterator[list[EmbedRequest]]:
        started_s = time.perf_counter()
        while some := self._next_files():
            self._cancel.raise_if_cancelled()
            if missing := self._not_in_cache(*zip(*some, strict=True)):
                self.cached_s = self.cached_s or time.perf_counter() - started_s
            self._meter.pulse()
            yield missing

    def _next_files(self) -> list[tuple[EmbedRequest, FoundFile]]:
        """Take the next requests, with the state of their files; fewer at a time where the disk is slow to tell."""
        some = []
        end_s = time.monotonic() + _PULSE_S
        for request in itertools.islice(self._requests, _LOOK_UP):
            some.append((request, state_of(request)))
            if time.monotonic() > end_s:
                break
        return some

    def _not_in_cache(self, requests: Sequence[EmbedRequest], files: Sequence[FoundFile]) -> list[EmbedRequest]:
        hashes = self._cache.path_hashes(files)
        missing = set(self._cache.missing(key for key in hashes if key is not None))
        pending: list[EmbedRequest] = []
        known: list[EmbedResult] = []
        for request, key in zip(requests, hashes, strict=True):
            if key is None or key in missing:
                pending.append(request)
            else:
                known.append(EmbedResult(request.image_id, key, None))
        self._writer.report_cached(known)
        return pending


class _Run:
    """Keeps the workers busy and writes what they finish; on the way out keeps what is finished already."""

    def __init__(self, worker: ChunkWorker, pending: _Pending, writer: OutcomeWriter, meter: ProgressMeter) -> None:
        self._worker = worker
        self._writer = writer
        self._meter = meter
        self._chunks = pending.chunks(worker.batch_size)
        self._left: list[Sequence[EmbedRequest]] = []
        self._is_running_out = False
        self._running: set[Future[ChunkOutcome]] = set()

    def to_the_end(self, workers: int) -> None:
        with ThreadPoolExecutor(workers, thread_name_prefix="embed") as pool:
            try:
                self._submit(pool, _CHUNKS_AHEAD * workers)
                while self._running:
                    finished, self._running = wait(self._running, timeout=_PULSE_S, return_when=FIRST_COMPLETED)
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
        """Hand out chunks until so many are under way; what a worker left comes first."""
        while len(self._running) < most:
            self._worker.cancel.raise_if_cancelled()
            chunk = self._left.pop() if self._left else next(self._chunks, None)
            if chunk is None:
                self._is_running_out = True
                break
            self._running.add(pool.submit(self._worker.embed_chunk, chunk, is_last=self._is_running_out))

    def _write(self, finished: Iterable[Future[ChunkOutcome]]) -> None:
        """Write what went well before raising what did not."""
        errors = [error for future in finished if (error := future.exception()) is not None]
        outcomes = [future.result() for future in finished if future.exception() is None]
        self._left += [outcome.left for outcome in outcomes if outcome.left]
        self._writer.write(outcomes)
        if errors:
            raise errors[0]

    def _keep_finished(self) -> None:
        """After a cancel or an error: drop waiting chunks, and write those that are or will be finished."""
        begun = [future for future in self._running if not future.cancel()]
        for future in begun:
            if future.exception() is None:
                self._writer.write([future.result()])
