"""Embeds files: what is in the cache is taken from there, the rest is read, decoded and run on all cores.

Every worker thread does everything for its own chunk of files: reading, decoding, and one run of the backbone that uses
this core only. Decoding and the backbone release the interpreter lock, so the cores are always busy and never wait for
one another; queues between decoders and the backbone would only add waiting. With a GPU there are a few more workers
than cores: some decode while another's chunk is on the GPU. The caller's thread alone writes to the cache and reports.
"""

import itertools
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Final

from engine.data.embedding_cache import EmbeddingCache
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.files import FoundFile
from engine.inference.backbone import BackboneSession
from engine.inference.embed_chunk import ChunkOutcome, ChunkWorker, Claims
from engine.inference.embed_records import (
    EmbedBatch,
    EmbedRequest,
    EmbedResult,
    EmbedSummary,
    OnBatch,
    ignore_batch,
)
from engine.inference.outcome_writer import OutcomeWriter

__all__ = ["EmbedBatch", "EmbedRequest", "EmbedResult", "EmbedSummary", "embed_files"]

_LOOK_UP: Final = 2048  # requests that are looked up in the cache at once
_CHUNKS_AHEAD: Final = 2  # chunks that wait for each worker, so that none is idle while the caller writes


def embed_files(
    requests: Sequence[EmbedRequest],
    session: BackboneSession,
    cache: EmbeddingCache,
    *,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
    on_batch: OnBatch = ignore_batch,
    workers: int | None = None,
) -> EmbedSummary:
    """Make sure that every file's embedding is in the cache.

    Files that fail are listed, never fatal. Equal contents are embedded once. What was reported is on disk: after a
    kill or a cancel the next run goes on from there. Memory does not grow with the number of requests.

    Args:
        requests: images, in the order in which they are wanted.
        session: the opened backbone.
        cache: of the same backbone.
        on_progress: told images done of all; the note is the device.
        cancel: stops between images.
        on_batch: told results on the calling thread, each request exactly once.
        workers: threads; as many as the session runs well with when None.

    Raises:
        Cancelled: asked to stop; finished batches are kept and were reported.
        ModelError: the backbone fails.
        StorageError: the cache cannot be written.
    """
    started_s = time.perf_counter()
    cancel = cancel or CancelToken()
    claims = Claims()
    writer = OutcomeWriter(cache, claims, on_batch)
    pending = _not_in_cache(requests, cache, writer, cancel)
    meter = ProgressMeter(len(requests), on_progress, already_done=writer.done)
    meter.note = session.device_name
    writer.on_done = meter.advance
    new_started_s = time.perf_counter()
    worker = ChunkWorker(session, cache, claims, cancel)
    _run_all(worker, _chunks(pending, session.batch_size), workers or session.parallel_runs, writer)
    ended_s = time.perf_counter()
    return EmbedSummary(
        embedded=writer.embedded,
        from_cache=writer.from_cache,
        failed=tuple(writer.failed),
        seconds=ended_s - started_s,
        images_per_s=len(pending) / (ended_s - new_started_s) if pending else 0.0,
        device_name=session.device_name,
    )


def _not_in_cache(
    requests: Sequence[EmbedRequest], cache: EmbeddingCache, writer: OutcomeWriter, cancel: CancelToken
) -> list[EmbedRequest]:
    """Report the requests whose unchanged file has an embedding already, and return the others."""
    pending: list[EmbedRequest] = []
    for start in range(0, len(requests), _LOOK_UP):
        cancel.raise_if_cancelled()
        some = requests[start : start + _LOOK_UP]
        hashes = cache.path_hashes([_state_of(request) for request in some])
        missing = set(cache.missing(key for key in hashes if key is not None))
        known = []
        for request, key in zip(some, hashes, strict=True):
            if key is None or key in missing:
                pending.append(request)
            else:
                known.append(EmbedResult(request.image_id, key, None))
        writer.report_cached(known)
    return pending


def _state_of(request: EmbedRequest) -> FoundFile:
    try:
        status = request.path.stat()
    except (OSError, ValueError):
        return FoundFile(request.path, -1, -1)  # no known file has this state: it is looked at again, and fails there
    return FoundFile(request.path, status.st_size, status.st_mtime_ns)


def _chunks(requests: Sequence[EmbedRequest], size: int) -> Iterator[Sequence[EmbedRequest]]:
    return (requests[start : start + size] for start in range(0, len(requests), size))


def _run_all(
    worker: ChunkWorker, chunks: Iterator[Sequence[EmbedRequest]], workers: int, writer: OutcomeWriter
) -> None:
    """Keep the workers busy and write what they finish; on the way out keep what is finished already."""
    with ThreadPoolExecutor(workers, thread_name_prefix="embed") as pool:
        running = {
            pool.submit(worker.embed_chunk, chunk) for chunk in itertools.islice(chunks, _CHUNKS_AHEAD * workers)
        }
        try:
            while running:
                worker.cancel.raise_if_cancelled()
                finished, running = wait(running, return_when=FIRST_COMPLETED)
                next_chunks = itertools.islice(chunks, len(finished))
                running |= {pool.submit(worker.embed_chunk, chunk) for chunk in next_chunks}
                _write_finished(finished, writer)
        finally:
            _keep_finished(running, writer)


def _write_finished(finished: Iterable[Future[ChunkOutcome]], writer: OutcomeWriter) -> None:
    """Write what went well before raising what did not."""
    errors = [error for future in finished if (error := future.exception()) is not None]
    writer.write([future.result() for future in finished if future.exception() is None])
    if errors:
        raise errors[0]


def _keep_finished(running: Iterable[Future[ChunkOutcome]], writer: OutcomeWriter) -> None:
    """After a cancel or an error: drop waiting chunks, and write those that a worker has finished or will finish."""
    for future in running:
        if not future.cancel() and future.exception() is None:
            writer.write([future.result()])
