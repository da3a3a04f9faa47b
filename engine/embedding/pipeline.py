"""Embeds files: what is in the cache is taken from there, the rest is read, decoded and run on all cores.

Every worker thread reads, decodes and embeds its own chunk of files on one core. Decoding and the backbone release the
interpreter lock, so no core waits for another; queues between decoders and the backbone would only add waiting. With a
GPU there are a few more workers than cores: some decode while another's chunk is on the GPU. The caller's thread alone
writes to the cache and reports. Requests are taken as needed, so memory does not grow with their number.
"""

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Final

import numpy as np

from engine.embedding.cache import EmbeddingCache
from engine.embedding.embed_chunk import ChunkOutcome, ChunkWorker, Claims, HashedRequest, state_of
from engine.embedding.messages import (
    MOST_LISTED,
    EmbedBatch,
    EmbedRequest,
    EmbedResult,
    EmbedSummary,
    OnBatch,
    ignore_batch,
)
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.files import FoundFile
from engine.images.details_messages import FileDetails
from engine.runtime.backbone import BackboneSession

_LOOK_UP: Final = 512  # requests that are looked up in the cache at once; more would delay the next report
_CHUNKS_AHEAD: Final = 2  # chunks for each worker, so that none is idle while the caller writes
_PULSE_S: Final = 0.1  # progress is reported at least this often, however slow the files are
_REASONS_KEPT: Final = 10_000  # twins come in shortly after the content they wait for
_OTHER_REASON: Final = "another file with the same content could not be embedded"


class OutcomeWriter:
    """Writes outcomes to the cache, counts them for the summary and reports them. Used from one thread."""

    def __init__(self, cache: EmbeddingCache, claims: Claims, on_batch: OnBatch) -> None:
        self.embedded = 0
        self.from_cache = 0
        self.failed: list[tuple[int, Path, str]] = []
        self.failure_count = 0
        self.missing = 0
        self.on_done: Callable[[int], None] = lambda _count: None
        self.on_cached: Callable[[int], None] = lambda _count: None
        self._cache = cache
        self._claims = claims
        self._on_batch = on_batch
        self._reasons: dict[bytes, str] = {}
        self._waiting: dict[bytes, list[HashedRequest]] = {}

    def report_cached(self, results: Sequence[EmbedResult]) -> None:
        self.from_cache += len(results)
        self._report(list(results), self.on_cached)

    def write(self, outcomes: Sequence[ChunkOutcome]) -> None:
        """Write the embeddings to the cache, in one transaction, and report all requests."""
        embedded = [hashed for outcome in outcomes for hashed in outcome.embedded]
        if embedded:
            vectors = np.concatenate([outcome.vectors for outcome in outcomes])
            self._cache.put_many([hashed.content_hash for hashed in embedded], vectors)
        for outcome in outcomes:
            if outcome.pictures:
                self._cache.put_pictures([hashed.content_hash for hashed in outcome.embedded], outcome.pictures)
        self._remember([hashed for outcome in outcomes for hashed in (*outcome.embedded, *outcome.cached)])
        self.embedded += len(embedded)
        details = [each for outcome in outcomes for each in outcome.details()]
        results = [_success(hashed) for hashed in embedded]
        for outcome in outcomes:
            results += [self._failure(request, reason, known) for request, reason, known in outcome.unreadable]
            results += [EmbedResult(request.image_id, request.known_hash, None) for request in outcome.missing]
            self.missing += len(outcome.missing)
            results += [self._undecodable(hashed, reason) for hashed, reason in outcome.undecodable]
            results += self._from_cache(outcome.cached)
            for twin in outcome.twins:
                self._waiting.setdefault(twin.content_hash, []).append(twin)
        for hashed in embedded:
            self._claims.release(hashed.content_hash)
        self._report(results + self._settled_twins(), self.on_done, details)

    def _settled_twins(self) -> list[EmbedResult]:
        """Results of the twins whose content is no longer claimed."""
        results: list[EmbedResult] = []
        for key in [key for key in self._waiting if key not in self._claims]:
            twins = self._waiting.pop(key)
            reason = self._reasons.get(key, _OTHER_REASON if self._cache.missing([key]) else "")
            if reason:
                results += [self._failure(twin.request, reason, key) for twin in twins]
            else:
                self._remember(twins)
                results += self._from_cache(twins)
        return results

    def _from_cache(self, requests: Sequence[HashedRequest]) -> list[EmbedResult]:
        self.from_cache += len(requests)
        return [_success(hashed) for hashed in requests]

    def _undecodable(self, hashed: HashedRequest, reason: str) -> EmbedResult:
        self._reasons[hashed.content_hash] = reason
        while len(self._reasons) > _REASONS_KEPT:
            self._reasons.pop(next(iter(self._reasons)))
        self._claims.release(hashed.content_hash)
        return self._failure(hashed.request, reason, hashed.content_hash)

    def _failure(self, request: EmbedRequest, reason: str, key: bytes | None = None) -> EmbedResult:
        self.failure_count += 1
        if len(self.failed) < MOST_LISTED:
            self.failed.append((request.image_id, request.path, reason))
        return EmbedResult(request.image_id, key, reason)

    def _remember(self, requests: Sequence[HashedRequest]) -> None:
        self._cache.remember_files([hashed.file for hashed in requests], [hashed.content_hash for hashed in requests])

    def _report(
        self, results: list[EmbedResult], count: Callable[[int], None], details: Sequence[FileDetails] = ()
    ) -> None:
        if results or details:
            self._on_batch(EmbedBatch(tuple(results), tuple(details)))
            count(len(results))


def _success(hashed: HashedRequest) -> EmbedResult:
    return EmbedResult(hashed.request.image_id, hashed.content_hash, None)


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
    """Put the embedding of every file into the cache.

    Files that fail are listed, never fatal. Equal contents are embedded once. What was reported is on disk: after a
    kill or a cancel the next run goes on from there.

    Args:
        requests: in order; iterated once, on the calling thread.
        on_progress: called several times a second; the note is the device, the notice that it failed.
        workers: threads; as many as the session runs well with when None.

    Raises:
        Cancelled: `cancel` was set; finished batches are kept and were reported.
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

    def advance(count: int) -> None:
        meter.note, meter.notice = session.device_name, session.notice  # a GPU may fail on the way
        meter.advance(count)

    advance(0)
    writer.on_done, writer.on_cached = advance, meter.skip
    pending = _Pending(requests, worker, writer, meter)
    started_s = time.perf_counter()
    _Run(worker, pending, writer, meter).to_the_end(workers or session.parallel_runs)
    return _summary(session, writer, pending, time.perf_counter() - started_s)


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
    """Iterates over the requests: reports those whose unchanged file is in the cache, and yields the others."""

    def __init__(
        self, requests: Iterable[EmbedRequest], worker: ChunkWorker, writer: OutcomeWriter, meter: ProgressMeter
    ) -> None:
        self.count = 0  # requests yielded so far
        self.cached_s = 0.0  # until the first of them was found
        self._requests = iter(requests)
        self._cache = worker.cache
        self._cancel = worker.cancel
        self._writer = writer
        self._meter = meter

    def chunks(self, size: int) -> Iterator[Sequence[EmbedRequest]]:
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
        """The next requests, with the state of their files; fewer at a time on a slow disk."""
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
    """Keeps the workers busy, and writes what they finish, also after a cancel or error."""

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
        """Submit chunks until so many are running; what a worker left comes first."""
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
        """Drop waiting chunks, and write those that are or will be finished."""
        begun = [future for future in self._running if not future.cancel()]
        for future in begun:
            if future.exception() is None:
                self._writer.write([future.result()])
