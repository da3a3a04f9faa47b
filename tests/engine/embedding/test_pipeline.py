import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.embedding import cores, outcome_writer, pipeline, read_photo
from engine.embedding.cache import EmbeddingCache
from engine.embedding.embed_chunk import ChunkWorker, Claims, ReadChunk, read_chunk
from engine.embedding.messages import EmbedBatch, EmbedRequest
from engine.embedding.photo_caches import PhotoCaches
from engine.embedding.pipeline import embed_files
from engine.embedding.read_photo import network_input
from engine.embedding.runs import EmbeddingRun
from engine.embedding.views import views_of_image
from engine.errors import Cancelled, ImageUnreachableError, ModelError, StorageError
from engine.events import CancelToken, Progress
from engine.images import opened_file
from engine.images.decode import ImageDecoder
from engine.images.read_file import content_hash, read_file
from engine.runtime.backbone import BackboneSession
from tests.support.backbones import WIDTH
from tests.support.images import write_jpeg


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[EmbeddingCache]:
    with EmbeddingCache(tmp_path / "cache", "ab" * 32, WIDTH) as cache:
        yield cache


def photos(folder: Path, count: int) -> list[EmbedRequest]:
    """Write photos of different content; ids start at 100."""
    folder.mkdir(exist_ok=True)
    return [
        EmbedRequest(100 + number, write_jpeg(folder / f"{number}.jpg", seed=number))
        for number in range(count)
    ]


def hash_of(request: EmbedRequest) -> bytes:
    return content_hash(request.path.read_bytes())


def counted(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Record every file read by a worker."""
    read: list[Path] = []

    def note_and_read(path: Path) -> bytes:
        read.append(path)
        return read_file(path)

    monkeypatch.setattr(opened_file, "read_file", note_and_read)
    return read


class Results:
    """Listener that collects results and calls a function after `patience` batches."""

    def __init__(self, patience: int = -1, then: Callable[[], None] = lambda: None) -> None:
        self.results: dict[int, tuple[bytes | None, str | None]] = {}
        self._patience = patience
        self._then = then

    def __call__(self, batch: EmbedBatch) -> None:
        """Add results, one for each request."""
        for image_id, key, failure in batch.results:
            assert image_id not in self.results, "each request is reported once"
            self.results[image_id] = (key, failure)
        self._patience -= 1
        if self._patience == 0:
            self._then()


def test_every_file_gets_its_own_embedding(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache
) -> None:
    """The cached embedding equals embedding the file alone."""
    requests = photos(tmp_path / "photos", 37)
    received = Results()
    summary = embed_files(requests, session, cache, on_batch=received)
    assert (summary.embedded, summary.from_cache, summary.failed) == (37, 0, ())
    assert summary.images_per_s > 0
    assert summary.device_name == "CPU"
    assert received.results == {request.image_id: (hash_of(request), None) for request in requests}
    vectors, found = cache.get_many([hash_of(request) for request in requests])
    assert found.all()
    for request, vector in zip(requests, vectors, strict=True):
        alone = session.embed(network_input(request.path.read_bytes(), session.card)[None])[0]
        assert np.allclose(vector, alone, rtol=1e-2, atol=1e-2)


def test_failures_are_listed_and_the_rest_is_embedded(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache
) -> None:
    """Missing, empty, text and truncated files are listed with reasons.

    All others are embedded.
    """
    requests = photos(tmp_path / "photos", 20)
    requests[3].path.unlink()
    requests[7].path.write_bytes(b"")
    requests[11].path.write_text("not a photo")
    requests[15].path.write_bytes(requests[15].path.read_bytes()[:400])
    received = Results()
    summary = embed_files(requests, session, cache, on_batch=received)
    assert summary.embedded == 16
    reasons = {image_id: reason for image_id, _path, reason in summary.failed}
    assert sorted(reasons) == [103, 107, 111, 115]
    for image_id, words in (
        (103, "not there"),
        (107, "empty"),
        (111, "found text"),
        (115, "damaged"),
    ):
        assert words in reasons[image_id]
        assert received.results[image_id][1] == reasons[image_id]
    assert received.results[103][0] is None
    assert received.results[111][0] == hash_of(requests[11])
    assert len(received.results) == 20


def test_what_is_out_of_reach_keeps_what_is_known_of_it(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A missing file with a cached embedding is no failure.

    A refused one is, and keeps its hash.
    """
    requests = photos(tmp_path / "photos", 4)
    embed_files(requests, session, cache)
    known = [EmbedRequest(request.image_id, request.path, hash_of(request)) for request in requests]
    strange = EmbedRequest(104, tmp_path / "photos" / "strange.jpg", b"s" * 16)
    for request in known[:3]:
        request.path.unlink()
    known[1].path.write_bytes(b"")

    def read(path: Path) -> bytes:
        if path == known[2].path:
            raise ImageUnreachableError("the file cannot be read", found="Permission denied")
        return read_file(path)

    monkeypatch.setattr(opened_file, "read_file", read)
    received = Results()
    summary = embed_files([*known, strange], session, cache, on_batch=received)
    assert (summary.from_cache, summary.missing, summary.failure_count) == (1, 1, 3)
    assert received.results[100] == (known[0].known_hash, None)
    assert received.results[101] == (content_hash(b""), "the file is empty")
    assert received.results[102] == (
        known[2].known_hash,
        "the file cannot be read: found Permission denied",
    )
    assert received.results[104][0] == b"s" * 16
    assert "not there" in str(received.results[104][1])


def test_second_run_reads_nothing(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unchanged files are not opened."""
    requests = photos(tmp_path / "photos", 20)
    embed_files(requests, session, cache)
    read = counted(monkeypatch)
    received = Results()
    summary = embed_files(requests, session, cache, on_batch=received)
    assert (summary.embedded, summary.from_cache, read) == (0, 20, [])
    assert received.results == {request.image_id: (hash_of(request), None) for request in requests}


def test_changed_and_moved_files(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A changed file is embedded again; a moved one is found by its hash."""
    requests = photos(tmp_path / "photos", 6)
    embed_files(requests, session, cache)
    write_jpeg(requests[0].path, seed=77)
    os.utime(requests[0].path, ns=(1, 1))
    moved = EmbedRequest(101, requests[1].path.rename(tmp_path / "moved.jpg"))
    read = counted(monkeypatch)
    summary = embed_files([requests[0], moved, *requests[2:]], session, cache)
    assert (summary.embedded, summary.from_cache) == (1, 5)
    assert sorted(path.name for path in read) == ["0.jpg", "moved.jpg"]


@pytest.mark.slow
def test_equal_contents_are_embedded_once(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 120 files with 10 contents, one damaged, on 4 threads, 9 images are embedded."""
    contents = [request.path.read_bytes() for request in photos(tmp_path / "photos", 9)] + [
        b"rotten"
    ]
    requests = []
    for number in range(120):
        path = tmp_path / f"copy {number}.jpg"
        path.write_bytes(contents[(number * 7 + number // 10) % 10])
        requests.append(EmbedRequest(number, path))
    embedded: list[int] = []
    embed = session.embed

    def count_and_embed(images: NDArray[np.uint8]) -> NDArray[np.float32]:
        embedded.append(len(images))
        return embed(images)

    monkeypatch.setattr(session, "embed", count_and_embed)
    received = Results()
    summary = embed_files(requests, session, cache, on_batch=received, workers=4)
    assert sum(embedded) == 9
    assert (summary.embedded, summary.from_cache, len(summary.failed)) == (9, 99, 12)
    assert len(received.results) == 120
    assert all(
        (failure is None) == (key != content_hash(b"rotten"))
        for key, failure in received.results.values()
    )


@pytest.mark.slow
def test_cancel_keeps_what_was_reported(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache
) -> None:
    """Everything reported is cached, and the next run embeds only the rest."""
    requests = photos(tmp_path / "photos", 100)
    cancel = CancelToken()
    received = Results(2, cancel.cancel)
    with pytest.raises(Cancelled):
        embed_files(requests, session, cache, on_batch=received, cancel=cancel)
    assert 0 < len(received.results) < 100
    kept = [key for key, _failure in received.results.values() if key is not None]
    assert cache.missing(kept) == []
    summary = embed_files(requests, session, cache)
    assert (summary.embedded, summary.from_cache) == (100 - len(kept), len(kept))


def test_cancel_before_the_start(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache
) -> None:
    """A job cancelled before it starts does nothing."""
    cancel = CancelToken()
    cancel.cancel()
    received = Results()
    with pytest.raises(Cancelled):
        embed_files(
            photos(tmp_path / "photos", 3), session, cache, cancel=cancel, on_batch=received
        )
    assert received.results == {}


@pytest.mark.slow
def test_failing_backbone_stops_the_run_and_keeps_the_rest(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error is raised, and finished results are cached."""
    requests = photos(tmp_path / "photos", 120)
    embed, calls = session.embed, iter(range(1000))

    def embed_three_times(images: NDArray[np.uint8]) -> NDArray[np.float32]:
        if next(calls) >= 3:
            raise ModelError("the device ran out of memory")
        return embed(images)

    monkeypatch.setattr(session, "embed", embed_three_times)
    received = Results()
    with pytest.raises(ModelError, match="out of memory"):
        embed_files(requests, session, cache, on_batch=received)
    assert len(received.results) == 3 * cores.SQUARES_ON_A_CORE
    assert len(cache.missing([hash_of(request) for request in requests])) == 120 - len(
        received.results
    )


@pytest.mark.slow
def test_full_disk_stops_the_run(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache
) -> None:
    """The error is a StorageError; nothing unwritten is reported."""
    connection = cache._cache._connection  # noqa: SLF001
    assert connection is not None
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    received = Results()
    with pytest.raises(StorageError):
        embed_files(photos(tmp_path / "photos", 200), session, cache, on_batch=received)
    kept = [key for key, _failure in received.results.values() if key is not None]
    assert cache.missing(kept) == []


@pytest.mark.slow
def test_nothing_is_begun_after_the_listener_failed(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pending chunks are dropped, running ones are not reported."""
    begun: list[int] = []
    go_on = threading.Event()
    read, release_all = read_chunk, EmbeddingRun._release_all  # noqa: SLF001

    def only_the_first_at_once(
        requests: Sequence[EmbedRequest], *others: Any, patience_s: float
    ) -> ReadChunk:
        begun.append(requests[0].image_id)
        assert begun[0] == requests[0].image_id or go_on.wait(20)
        return read(requests, *others, patience_s=patience_s)

    def release_and_let_go_on(run: EmbeddingRun) -> None:
        release_all(run)
        go_on.set()

    def refuse(_batch: EmbedBatch) -> None:
        raise StorageError("the project cannot be written")

    monkeypatch.setattr(cores, "read_chunk", only_the_first_at_once)
    monkeypatch.setattr(EmbeddingRun, "_release_all", release_and_let_go_on)
    with pytest.raises(StorageError, match="project"):
        embed_files(photos(tmp_path / "photos", 200), session, cache, on_batch=refuse, workers=4)
    assert len(begun) <= 1 + 4


@pytest.mark.slow
def test_work_ahead_is_bounded(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a few chunks are read ahead of a slow listener."""
    read = counted(monkeypatch)
    reported = 0
    ahead = []

    def listen(batch: EmbedBatch) -> None:
        nonlocal reported
        ahead.append(len(read) - reported)
        reported += len(batch.results)

    embed_files(photos(tmp_path / "photos", 300), session, cache, on_batch=listen, workers=2)
    assert reported == 300
    assert max(ahead) <= 2 * 2 * 2 * cores.SQUARES_ON_A_CORE


def test_progress(tmp_path: Path, session: BackboneSession, cache: EmbeddingCache) -> None:
    """Cached results count as done, not for the speed; the device is named."""
    requests = photos(tmp_path / "photos", 30)
    embed_files(requests[:10], session, cache)
    reported: list[Progress] = []
    embed_files(requests, session, cache, on_progress=reported.append)
    assert (reported[0].done, reported[0].total) == (0, 30)
    assert (reported[-1].done, reported[-1].total, reported[-1].note) == (30, 30, "CPU")
    reported.clear()
    embed_files(requests, session, cache, on_progress=reported.append)
    assert (reported[-1].done, reported[-1].rate_per_s) == (30, 0.0)


def test_progress_while_a_file_is_slow(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Progress is reported while a single file is read."""
    go_on = threading.Event()
    reported: list[Progress] = []

    def listen(progress: Progress) -> None:
        reported.append(progress)
        if len(reported) == 5:
            go_on.set()

    def decode_when_allowed(image: ImageDecoder, *others: Any) -> NDArray[np.uint8]:
        assert go_on.wait(20), "no progress was reported"
        return views_of_image(image, *others)

    monkeypatch.setattr(read_photo, "views_of_image", decode_when_allowed)
    embed_files(photos(tmp_path / "photos", 3), session, cache, on_progress=listen)
    assert [progress.done for progress in reported[:5]] == [0] * 5
    assert reported[-1].done == 3


def test_progress_and_cancel_while_all_is_cached(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looking up cached files on a slow disk reports progress and can be cancelled."""
    requests = photos(tmp_path / "photos", 20)
    embed_files(requests, session, cache)
    clock = itertools.count()
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))  # every call takes a second
    cancel = CancelToken()
    reported: list[int] = []

    def listen(progress: Progress) -> None:
        reported.append(progress.done)
        if progress.done == 12:
            cancel.cancel()

    with pytest.raises(Cancelled):
        embed_files(requests, session, cache, on_progress=listen, cancel=cancel)
    assert sorted(set(reported)) == list(range(13))


def test_chunks_of_slow_files_are_cut_short(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With zero patience every image is a batch of its own."""
    monkeypatch.setattr(cores, "PATIENCE_S", -1.0)
    monkeypatch.setattr(cores, "LAST_PATIENCE_S", -1.0)
    sizes: list[int] = []
    embed = session.embed

    def note_and_embed(images: NDArray[np.uint8]) -> NDArray[np.float32]:
        sizes.append(len(images))
        return embed(images)

    monkeypatch.setattr(session, "embed", note_and_embed)
    received = Results()
    summary = embed_files(photos(tmp_path / "photos", 40), session, cache, on_batch=received)
    assert (summary.embedded, len(received.results), sizes) == (40, 40, [1] * 40)


def test_a_chunk_without_patience_is_one_file(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache
) -> None:
    """At least one file, so that a run ends; the others are left."""
    worker = ChunkWorker(session, PhotoCaches(cache), Claims(), CancelToken())
    requests = photos(tmp_path / "photos", 4)
    for patience_s, count in ((3600.0, 4), (-1.0, 1)):
        read = read_chunk(
            requests, worker.wanted, worker.missing, worker.cancel, patience_s=patience_s
        )
        assert (len(read.photos), len(read.pixels)) == (count, count)


def test_the_last_files_are_shared_out_sooner(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Last chunks are shorter, so that all cores end at the same time."""
    monkeypatch.setattr(cores, "PATIENCE_S", -1.0)
    monkeypatch.setattr(cores, "LAST_PATIENCE_S", -2.0)
    seen: list[float] = []

    def note(*given: Any, patience_s: float) -> ReadChunk:
        seen.append(patience_s)
        return read_chunk(*given, patience_s=patience_s)

    monkeypatch.setattr(cores, "read_chunk", note)
    embed_files(photos(tmp_path / "photos", 40), session, cache, workers=1)
    assert (seen[0], seen[-1]) == (-1.0, -2.0)
    assert seen == sorted(seen, reverse=True)


@pytest.mark.slow
def test_requests_are_asked_for_as_they_are_needed(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests are consumed lazily."""
    monkeypatch.setattr(pipeline, "_LOOK_UP", 10)
    requests = photos(tmp_path / "photos", 300)
    asked = 0

    def each() -> Iterator[EmbedRequest]:
        nonlocal asked
        for request in requests:
            asked += 1
            yield request

    ahead: list[int] = []
    reported = 0

    def listen(batch: EmbedBatch) -> None:
        nonlocal reported
        ahead.append(asked - reported)
        reported += len(batch.results)

    progress: list[Progress] = []
    summary = embed_files(
        each(), session, cache, total=300, on_progress=progress.append, on_batch=listen, workers=2
    )
    assert (summary.embedded, progress[-1].done, progress[-1].total) == (300, 300, 300)
    assert max(ahead) <= 2 * 2 * 2 * cores.SQUARES_ON_A_CORE + 10


def test_only_so_many_failures_are_listed(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All failures are counted and the first listed."""
    monkeypatch.setattr(outcome_writer, "MOST_LISTED", 3)
    received = Results()
    requests = [EmbedRequest(number, tmp_path / f"{number}.jpg") for number in range(50)]
    summary = embed_files(requests, session, cache, on_batch=received)
    assert (summary.embedded, summary.failure_count, len(summary.failed)) == (0, 50, 3)
    assert all("not there" in (failure or "") for _key, failure in received.results.values())
    assert len(received.results) == 50


def test_copies_of_a_broken_file_fail_even_when_its_reason_is_forgotten(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy is not taken for embedded when the failure of its content was evicted."""
    monkeypatch.setattr(outcome_writer, "_REASONS_KEPT", 0)
    requests = []
    for number in range(30):
        requests.append(EmbedRequest(number, tmp_path / f"{number}.jpg"))
        requests[-1].path.write_bytes(b"rotten")
    summary = embed_files(requests, session, cache, workers=4)
    assert (summary.embedded, summary.from_cache, summary.failure_count) == (0, 0, 30)


def test_no_requests(session: BackboneSession, cache: EmbeddingCache) -> None:
    """It returns at once."""
    summary = embed_files([], session, cache)
    assert (summary.embedded, summary.from_cache, summary.failed, summary.images_per_s) == (
        0,
        0,
        (),
        0.0,
    )


def test_no_thread_is_left(tmp_path: Path, session: BackboneSession, cache: EmbeddingCache) -> None:
    """No threads are left after the call."""
    before = threading.active_count()
    embed_files(photos(tmp_path / "photos", 10), session, cache)
    assert threading.active_count() == before
