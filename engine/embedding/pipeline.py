"""Embedding of files: what is not cached is read, decoded and embedded on all cores.

On the CPU every thread reads and embeds chunks of files. With a GPU readers only read, and one
thread runs full batches. Only the caller's thread writes to the caches and reports. Requests are
consumed as needed, so memory does not grow with their number.
"""

import itertools
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, nullcontext

from engine.embedding.cache import EmbeddingCache
from engine.embedding.cores import Cores, files_on_a_core
from engine.embedding.embed_chunk import ChunkWorker, Claims
from engine.embedding.full_batches import FullBatches
from engine.embedding.messages import EmbedRequest, EmbedResult, EmbedSummary, OnBatch, ignore_batch
from engine.embedding.outcome_writer import OutcomeWriter
from engine.embedding.photo_caches import PhotoCaches, PreviewCaches
from engine.embedding.read_photo import state_of
from engine.embedding.readers import Readers, files_together, readers_for
from engine.embedding.runs import PULSE_S, ChunkSource, EmbeddingRun
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.files import FoundFile
from engine.runtime.backbone import BackboneSession
from engine.runtime.sessions import usable_cores

# requests that are looked up in the cache at once; more would delay the next report
_LOOK_UP = 512
_ONE_FILE = 32
"""Images of one file that a core embeds together. Chosen: their pixels take some megabytes."""


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
    views: EmbeddingCache | None = None,
    previews: PreviewCaches | None = None,
    readers: Readers | None = None,
) -> EmbedSummary:
    """Put the embedding of every file into the cache.

    Failing files are listed, never fatal. Equal contents are embedded once. Reported results are on
    disk: after a kill or a cancel the next run goes on from there.

    Args:
        requests: in order; iterated once, on the calling thread.
        on_progress: called several times a second; the note is the device, the notice its failure.
        workers: threads, or readers for a device; by default as many as suit the session.
        views: where embeddings over all views go, too; None embeds images as a whole alone.
        previews: where thumbnails and fingerprints go; None makes none.
        readers: for a device; by default new ones.

    Raises:
        Cancelled: `cancel` was set; finished batches are stored and were reported.
        ModelError: the backbone fails.
        StorageError: the cache cannot be written.
    """
    cancel = cancel or CancelToken()
    cancel.raise_if_cancelled()
    if total is None:
        total = len(requests) if isinstance(requests, Sequence) else 0
    claims = Claims()
    caches = PhotoCaches(cache, views, previews)
    writer = OutcomeWriter(caches, claims, on_batch)
    worker = ChunkWorker(session, caches, claims, cancel)
    meter = ProgressMeter(total, on_progress)

    def advance(count: int) -> None:
        meter.note, meter.notice = session.device_name, session.notice  # a GPU may fail on the way
        meter.advance(count)

    advance(0)
    writer.on_done, writer.on_cached = advance, meter.skip
    pending = _Pending(requests, worker, writer, meter)
    started_s = time.perf_counter()
    _embed_pending(worker, pending, writer, meter, readers=readers, workers=workers)
    return _summary(session, writer, pending, time.perf_counter() - started_s)


def _embed_pending(
    worker: ChunkWorker,
    pending: "_Pending",
    writer: OutcomeWriter,
    meter: ProgressMeter,
    *,
    readers: Readers | None,
    workers: int | None,
) -> None:
    """Embed on the device, and on all cores where there is none, or where it fails on the way."""
    session = worker.session
    together = files_together(worker.wanted) if session.is_on_gpu else files_on_a_core(worker)
    most = together if session.is_on_gpu else max(together, _ONE_FILE)
    source = ChunkSource(worker.cancel, pending.chunks(together, most))
    run = EmbeddingRun(worker, source, writer, meter)
    if session.is_on_gpu:
        own = readers or readers_for(
            workers or usable_cores(), session.card.input_side, meter.total
        )
        with nullcontext() if readers else closing(own):
            run.to_the_end(own, FullBatches(session))
    if not session.is_on_gpu:
        cores = Cores(worker, workers or session.parallel_runs, lambda: source.is_running_out)
        run.to_the_end(cores, cores)


def _summary(
    session: BackboneSession, writer: OutcomeWriter, pending: "_Pending", seconds: float
) -> EmbedSummary:
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
    """The requests without a cached embedding of an unchanged file; the others are reported."""

    def __init__(
        self,
        requests: Iterable[EmbedRequest],
        worker: ChunkWorker,
        writer: OutcomeWriter,
        meter: ProgressMeter,
    ) -> None:
        self.count = 0  # requests yielded so far
        self.cached_s = 0.0  # until the first of them was found
        self._requests = iter(requests)
        self._caches = worker.caches
        self._cancel = worker.cancel
        self._writer = writer
        self._meter = meter

    def chunks(self, size: int, most: int) -> Iterator[Sequence[EmbedRequest]]:
        """Requests in order, `size` together, or up to `most` where they are images of one file."""
        chunk: list[EmbedRequest] = []
        for request in itertools.chain.from_iterable(self._looked_up()):
            is_same_file = bool(chunk) and request.path == chunk[-1].path
            if len(chunk) >= (most if is_same_file else size):
                yield chunk
                chunk = []
            chunk.append(request)
            self.count += 1
        if chunk:
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
        some: list[tuple[EmbedRequest, FoundFile]] = []
        end_s = time.monotonic() + PULSE_S
        for request in itertools.islice(self._requests, _LOOK_UP):
            is_same_file = bool(some) and request.path == some[-1][0].path
            some.append((request, some[-1][1] if is_same_file else state_of(request.path)))
            if time.monotonic() > end_s:
                break
        return some

    def _not_in_cache(
        self, requests: Sequence[EmbedRequest], files: Sequence[FoundFile]
    ) -> list[EmbedRequest]:
        hashes = self._caches.images.path_hashes(files)
        contents = [
            None if file_hash is None else request.content(file_hash)
            for request, file_hash in zip(requests, hashes, strict=True)
        ]
        missing = self._caches.missing(content for content in contents if content is not None)
        pending: list[EmbedRequest] = []
        known: list[EmbedResult] = []
        for request, file_hash, content in zip(requests, hashes, contents, strict=True):
            if content is None or content in missing:
                pending.append(request)
            else:
                known.append(EmbedResult(request.image_id, file_hash, None))
        self._writer.report_cached(known)
        return pending
