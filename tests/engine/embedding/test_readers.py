"""Reader processes: a crash, hang or lack of memory costs one file and leaves nothing."""

import errno
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import psutil
import pytest

from engine.embedding import readers as readers_module
from engine.embedding.cache import EmbeddingCache
from engine.embedding.embed_chunk import ChunkWorker, Claims, ReadChunk
from engine.embedding.messages import EmbedRequest, EmbedSummary
from engine.embedding.photo_caches import PhotoCaches
from engine.embedding.photo_messages import ReadPhotos, Ready, WantedPixels
from engine.embedding.pipeline import embed_files
from engine.embedding.readers import HEADER_BYTES, ProcessReaders, files_together
from engine.errors import Cancelled, ImageError
from engine.events import CancelToken
from engine.images.decode import read_rgb
from engine.images.read_file import content_hash
from engine.runtime.backbone import BackboneSession
from engine.worker.client import Worker, ignore_event, worker_environment
from tests.support.backbones import WIDTH
from tests.support.images import write_jpeg

BAD_READER = [sys.executable, "-P", "-m", "tests.support.bad_reader"]
COUNT = 45


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[EmbeddingCache]:
    with EmbeddingCache(tmp_path / "cache", "ab" * 32, WIDTH) as cache:
        yield cache


@pytest.fixture
def embed(
    session: BackboneSession, cache: EmbeddingCache, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., EmbedSummary]:
    """Embeds as for a device, with two reader processes."""
    monkeypatch.setattr(type(session), "is_on_gpu", True)

    def run(requests: Sequence[EmbedRequest], command: Sequence[str] = BAD_READER) -> EmbedSummary:
        with closing(ProcessReaders(2, session.card.input_side, command)) as readers:
            assert readers.wait_until_ready(60)
            return embed_files(requests, session, cache, readers=readers)

    return run


def photos(folder: Path, names: Sequence[str] = ()) -> list[EmbedRequest]:
    """Forty-five photos, some with given names."""
    called = {3 + 7 * place: name for place, name in enumerate(names)}
    return [
        EmbedRequest(
            number, write_jpeg(folder / f"{called.get(number, '')}{number}.jpg", seed=number)
        )
        for number in range(COUNT)
    ]


def children() -> set[int]:
    """Child processes without Python's resource tracker."""
    found = psutil.Process().children()
    return {
        child.pid
        for child in found
        if not any("resource_tracker" in part for part in child.cmdline())
    }


def missing(cache: EmbeddingCache, requests: Sequence[EmbedRequest]) -> list[str]:
    keys = [content_hash(request.path.read_bytes()) for request in requests]
    gone = set(cache.missing(keys))
    return [request.path.name for request, key in zip(requests, keys, strict=True) if key in gone]


@pytest.mark.slow
def test_a_file_that_ends_its_reader_is_named_and_all_others_are_embedded(
    tmp_path: Path, cache: EmbeddingCache, embed: Callable[..., EmbedSummary]
) -> None:
    """Two crash it and one runs out of memory; readers are replaced, none is left."""
    before = children()
    requests = photos(tmp_path, ["ends", "starves", "ends"])
    summary = embed(requests)
    failed = {path.name: reason for _id, path, reason in summary.failed}
    assert (
        set(failed) == {"ends3.jpg", "starves10.jpg", "ends17.jpg"} == set(missing(cache, requests))
    )
    assert failed["ends3.jpg"] == "the process reading it ended"
    assert failed["starves10.jpg"] == "the process reading it failed"
    assert summary.embedded == COUNT - 3
    assert children() == before


@pytest.mark.slow
def test_a_file_that_hangs_is_given_up(
    tmp_path: Path,
    cache: EmbeddingCache,
    embed: Callable[..., EmbedSummary],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(readers_module, "HANGS_S", 1.5)
    requests = photos(tmp_path, ["hangs"])
    summary = embed(requests)
    assert [(path.name, reason) for _id, path, reason in summary.failed] == [
        ("hangs3.jpg", "reading it took too long")
    ]
    assert missing(cache, requests) == ["hangs3.jpg"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", [[*BAD_READER, "at-once"], [*BAD_READER, "without-memory"], ["/nowhere/python"]]
)
def test_threads_read_where_no_process_can(
    tmp_path: Path, embed: Callable[..., EmbedSummary], command: Sequence[str]
) -> None:
    """If processes end or fail at once, or cannot be started."""
    summary = embed(photos(tmp_path), command)
    assert (summary.embedded, summary.failure_count) == (COUNT, 0)


@pytest.mark.parametrize(("free_mib", "count"), [(0, 0), (3, 1), (1000, 4)])
def test_no_more_processes_than_shared_memory_has_room_for(
    monkeypatch: pytest.MonkeyPatch, free_mib: int, count: int
) -> None:
    """At most half of the free shared memory: a process that writes beyond it is killed."""
    monkeypatch.setattr("shutil.disk_usage", lambda _path: SimpleNamespace(free=free_mib * 2**20))
    with closing(ProcessReaders(4, 96, BAD_READER)) as readers:
        assert len(readers.memory_names) == count


def test_threads_read_without_shared_memory(
    tmp_path: Path, embed: Callable[..., EmbedSummary], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container without it."""
    monkeypatch.setattr("shutil.disk_usage", lambda _path: SimpleNamespace(free=0))
    assert embed(photos(tmp_path)).embedded == COUNT


def test_threads_read_where_no_shared_memory_can_be_made(
    tmp_path: Path, embed: Callable[..., EmbedSummary], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If it exists and cannot be allocated."""

    def refuse(*, create: bool, size: int) -> SharedMemory:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(readers_module, "SharedMemory", refuse)
    assert embed(photos(tmp_path)).embedded == COUNT


@pytest.mark.skipif(not readers_module.SHARED.is_dir(), reason="elsewhere shared memory is no file")
def test_memory_that_is_only_promised_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writing to overcommitted memory would end this process."""
    names: list[str] = []

    def make(*, create: bool, size: int) -> SharedMemory:
        memory = SharedMemory(create=create, size=size)
        names.append(memory.name)
        return memory

    def refuse(_file: int, _start: int, _length: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(readers_module, "SharedMemory", make)
    monkeypatch.setattr("os.posix_fallocate", refuse)
    with closing(ProcessReaders(2, 32, BAD_READER)) as readers:
        assert readers.memory_names == []
    (name,) = names
    with pytest.raises(FileNotFoundError):
        SharedMemory(name)


@pytest.mark.slow
def test_threads_read_what_processes_have_no_room_for(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache
) -> None:
    """As after a cancelled run whose files are still being read."""
    worker = ChunkWorker(session, PhotoCaches(cache), Claims(), CancelToken())
    chunks = [[request] for request in photos(tmp_path)]
    with closing(ProcessReaders(1, session.card.input_side, BAD_READER)) as readers:
        reading = [readers.submit(chunk, worker) for chunk in chunks[: readers.most + 2]]
        assert all(future.result(60).photos[0].has_pixels for future in reading)


@pytest.mark.slow
def test_readers_go_on_after_a_cancelled_run(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pending results are dropped and not waited for."""
    monkeypatch.setattr(type(session), "is_on_gpu", True)
    requests, cancel = photos(tmp_path), CancelToken()

    def cancelled_halfway() -> Iterator[EmbedRequest]:
        yield from requests[: COUNT // 2]
        cancel.cancel()
        yield from requests[COUNT // 2 :]

    with closing(ProcessReaders(1, session.card.input_side, [*BAD_READER, "slowly"])) as readers:
        assert readers.wait_until_ready(60)
        with pytest.raises(Cancelled):
            embed_files(cancelled_halfway(), session, cache, cancel=cancel, readers=readers)
        summary = embed_files(requests, session, cache, readers=readers)
    assert summary.embedded + summary.from_cache == COUNT


@pytest.mark.slow
def test_a_reader_that_failed_is_replaced(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache
) -> None:
    """It may be out of memory. A replacement is started for the next file."""
    worker = ChunkWorker(session, PhotoCaches(cache), Claims(), CancelToken())
    starved, *others = photos(tmp_path, ["starves"])[3:40]
    before = children()
    with closing(ProcessReaders(1, session.card.input_side, BAD_READER)) as readers:
        assert readers.wait_until_ready(60)
        (first,) = children() - before
        failing, next_one = readers.submit([starved], worker), readers.submit(others[:16], worker)
        assert failing.result(60).photos[0].failure
        assert all(not photo.failure for photo in next_one.result(60).photos)  # not its own failure
        assert readers.submit(others[:2], worker).result(60).photos[0].has_pixels
        (second,) = children() - before - {first}
        assert psutil.Process(second).children() == []
    assert children() == before


def test_a_reader_that_is_being_started_is_closed_too(
    session: BackboneSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, starting = children(), threading.Event()
    readers = ProcessReaders(1, session.card.input_side, BAD_READER)
    closer = threading.Thread(target=readers.close)

    def start_while_closing(command: Sequence[str], *, stays: bool) -> Worker:
        closer.start()
        closer.join(0.5)  # it waits for this start
        worker = Worker(command, stays=stays)
        starting.set()
        return worker

    monkeypatch.setattr(readers_module, "Worker", start_while_closing)
    (reader,) = children() - before
    os.kill(reader, signal.SIGKILL)
    assert starting.wait(60)
    closer.join(60)
    assert children() == before


@pytest.mark.slow
def test_a_reader_ends_with_its_owner_although_a_file_hangs(tmp_path: Path) -> None:
    worker, wanted = Worker(BAD_READER, stays=True), WantedPixels(32, 1.0)
    memory = SharedMemory(create=True, size=HEADER_BYTES + wanted.bytes)
    place = np.ndarray((1,), dtype=np.int64, buffer=memory.buf)
    place[0] = -1
    request = EmbedRequest(1, write_jpeg(tmp_path / "hangs.jpg"))
    worker.send(Ready(), ignore_event, ignore_event)
    opened_with = tmp_path / "cache", "ab" * 32, WIDTH, ""
    worker.send(
        ReadPhotos((request,), wanted, (opened_with,), memory.name, 0, 1.0),
        ignore_event,
        ignore_event,
    )
    pause = threading.Event()
    while place[0] < 0 and worker.is_alive:
        pause.wait(0.01)
    worker.close()
    try:
        assert worker.join(20)
    finally:
        worker.kill()
        del place
        memory.close()
        memory.unlink()


def test_a_new_task_has_not_been_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reused slot of shared memory has no earlier waiting time."""
    monkeypatch.setattr(readers_module, "HANGS_S", -1.0)
    killed: list[Worker] = []
    monkeypatch.setattr(Worker, "kill", lambda worker: killed.append(worker))  # noqa: PLW0108
    with closing(ProcessReaders(1, 32, BAD_READER)) as readers:
        (reader,) = readers._readers  # noqa: SLF001 (synchronous)
        for _ in range(50):
            reader.tasks.clear()
            reader.tasks.append(readers_module._Task((), WantedPixels(32, 1.0), 0))  # noqa: SLF001
            reader.kill_if_it_hangs()
        reader.tasks.clear()
    assert killed == []


class StuckReaders:
    """Readers that hang while the run is cancelled."""

    most = 2

    def __init__(self, cancel: CancelToken) -> None:
        self._cancel = cancel

    def submit(self, _requests: Sequence[EmbedRequest], _worker: ChunkWorker) -> Future[ReadChunk]:
        """Never completes."""
        return Future()

    def look_after(self) -> None:
        """Cancel once."""
        assert not self._cancel.is_cancelled, "the run goes on"
        self._cancel.cancel()

    def close(self) -> None:
        """No-op."""


def test_a_run_ends_although_all_readers_are_stuck(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(session), "is_on_gpu", True)
    cancel = CancelToken()
    with pytest.raises(Cancelled):
        embed_files(photos(tmp_path), session, cache, cancel=cancel, readers=StuckReaders(cancel))


@pytest.mark.slow
def test_a_killed_reader_is_replaced(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An idle reader that is killed is replaced without loss."""
    monkeypatch.setattr(type(session), "is_on_gpu", True)
    requests, before = photos(tmp_path), children()
    with closing(ProcessReaders(1, session.card.input_side)) as readers:
        assert readers.wait_until_ready(60)
        embed_files(requests[:10], session, cache, readers=readers)
        (reader,) = children() - before
        assert psutil.Process(reader).children() == []
        os.kill(reader, signal.SIGKILL)
        psutil.Process(reader).wait(20)
        summary = embed_files(requests, session, cache, readers=readers)
        assert (summary.embedded, summary.from_cache, summary.failure_count) == (COUNT - 10, 10, 0)
        assert children() - before != {reader}
    assert children() == before


@pytest.mark.slow
def test_nothing_stays_behind_where_their_owner_is_killed() -> None:
    """Reader processes and shared memory end with their parent."""
    command = [sys.executable, "-P", "-m", "tests.support.reader_owner"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=worker_environment()
    ) as owner:
        assert owner.stdout is not None
        words = owner.stdout.readline().split()
        owner.kill()
    names, children = (
        words[:2],
        [psutil.Process(int(word)) for word in words[2:] if psutil.pid_exists(int(word))],
    )
    assert len(words) >= 4
    assert psutil.wait_procs(children, timeout=20)[1] == []
    for name in names:
        with pytest.raises(FileNotFoundError):
            SharedMemory(name)


@pytest.mark.slow
def test_no_shared_memory_is_left(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache
) -> None:
    """Also if pixels are still referenced."""
    readers = ProcessReaders(1, session.card.input_side)
    assert readers.wait_until_ready(60)
    worker = ChunkWorker(session, PhotoCaches(cache), Claims(), CancelToken())
    chunk = readers.submit(photos(tmp_path)[: files_together(worker.wanted)], worker).result(60)
    (name,) = readers.memory_names
    assert chunk.pixels.any()
    readers.close()
    with pytest.raises(FileNotFoundError):
        SharedMemory(name)


@pytest.mark.slow
def test_what_is_in_the_cache_is_not_decoded(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache
) -> None:
    """A moved file is read and hashed only.

    A damaged one has the same error as in this process.
    """
    requests = photos(tmp_path)
    embed_files(requests[:5], session, cache)
    moved = [EmbedRequest(100, requests[0].path.rename(tmp_path / "moved.jpg"))]
    (tmp_path / "broken.jpg").write_bytes(b"\xff\xd8\xffno picture")
    moved.append(EmbedRequest(101, tmp_path / "broken.jpg"))
    worker = ChunkWorker(session, PhotoCaches(cache), Claims(), CancelToken())
    with closing(ProcessReaders(1, session.card.input_side)) as readers:
        assert readers.wait_until_ready(60)
        known, broken = readers.submit(moved, worker).result(60).photos
    assert (known.has_pixels, known.failure, known.details is not None) == (False, "", True)
    with pytest.raises(ImageError) as error:
        read_rgb(tmp_path / "broken.jpg")
    assert broken.failure == error.value.message
