"""Processes that read for a device: one that dies, hangs or starves costs one file, and nothing stays behind."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from engine.embedding import readers as readers_module
from engine.embedding.cache import EmbeddingCache
from engine.embedding.embed_chunk import ChunkWorker, Claims
from engine.embedding.messages import EmbedRequest, EmbedSummary
from engine.embedding.photo_caches import PhotoCaches
from engine.embedding.pipeline import embed_files
from engine.embedding.readers import ProcessReaders, files_together
from engine.errors import ImageError
from engine.events import CancelToken
from engine.images.decode import read_rgb
from engine.images.read_file import content_hash
from engine.runtime.backbone import BackboneSession
from engine.worker.client import worker_environment
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
    """Embeds as beside a device, by two readers that a command starts."""
    monkeypatch.setattr(type(session), "is_on_gpu", True)

    def run(requests: Sequence[EmbedRequest], command: Sequence[str] = BAD_READER) -> EmbedSummary:
        with closing(ProcessReaders(2, session.card.input_side, command)) as readers:
            assert readers.wait_until_ready(60)
            return embed_files(requests, session, cache, readers=readers)

    return run


def photos(folder: Path, names: Sequence[str] = ()) -> list[EmbedRequest]:
    """Forty-five photos, some of which have a name of their own."""
    called = {3 + 7 * place: name for place, name in enumerate(names)}
    return [
        EmbedRequest(number, write_jpeg(folder / f"{called.get(number, '')}{number}.jpg", seed=number))
        for number in range(COUNT)
    ]


def children() -> set[int]:
    """Without the one that looks after shared memory for Python."""
    found = psutil.Process().children()
    return {child.pid for child in found if not any("resource_tracker" in part for part in child.cmdline())}


def missing(cache: EmbeddingCache, requests: Sequence[EmbedRequest]) -> list[str]:
    keys = [content_hash(request.path.read_bytes()) for request in requests]
    gone = set(cache.missing(keys))
    return [request.path.name for request, key in zip(requests, keys, strict=True) if key in gone]


def test_a_file_that_ends_its_reader_is_named_and_all_others_are_embedded(
    tmp_path: Path, cache: EmbeddingCache, embed: Callable[..., EmbedSummary]
) -> None:
    """Two of them, and one for which there is no memory; readers are replaced, and none is left."""
    before = children()
    requests = photos(tmp_path, ["ends", "starves", "ends"])
    summary = embed(requests)
    failed = {path.name: reason for _id, path, reason in summary.failed}
    assert set(failed) == {"ends3.jpg", "starves10.jpg", "ends17.jpg"} == set(missing(cache, requests))
    assert failed["ends3.jpg"] == "the process that read it ended"
    assert failed["starves10.jpg"] == "the process that read it failed"
    assert summary.embedded == COUNT - 3
    assert children() == before


def test_a_file_that_hangs_is_given_up(
    tmp_path: Path, cache: EmbeddingCache, embed: Callable[..., EmbedSummary], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers_module, "HANGS_S", 1.5)
    requests = photos(tmp_path, ["hangs"])
    summary = embed(requests)
    assert [(path.name, reason) for _id, path, reason in summary.failed] == [("hangs3.jpg", "reading it took too long")]
    assert missing(cache, requests) == ["hangs3.jpg"]


@pytest.mark.parametrize("command", [[*BAD_READER, "at-once"], ["/nowhere/python"]])
def test_threads_read_where_no_process_can(
    tmp_path: Path, embed: Callable[..., EmbedSummary], command: Sequence[str]
) -> None:
    """Where each one ends before it reads, or none can be started."""
    summary = embed(photos(tmp_path), command)
    assert (summary.embedded, summary.failure_count) == (COUNT, 0)


@pytest.mark.parametrize(("free_mib", "count"), [(0, 0), (3, 1), (1000, 4)])
def test_no_more_processes_than_shared_memory_has_room_for(
    monkeypatch: pytest.MonkeyPatch, free_mib: int, count: int
) -> None:
    """Half of what is free: beyond it a process that writes is ended."""
    monkeypatch.setattr("shutil.disk_usage", lambda _path: SimpleNamespace(free=free_mib * 2**20))
    with closing(ProcessReaders(4, 96, BAD_READER)) as readers:
        assert len(readers.memory_names) == count


def test_threads_read_without_shared_memory(
    tmp_path: Path, embed: Callable[..., EmbedSummary], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container that has none."""
    monkeypatch.setattr("shutil.disk_usage", lambda _path: SimpleNamespace(free=0))
    assert embed(photos(tmp_path)).embedded == COUNT


def test_a_killed_reader_is_replaced(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it waits for work nothing is lost at all. It has started no process of its own."""
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


def test_nothing_stays_behind_where_their_owner_is_killed() -> None:
    """Neither processes nor shared memory: readers end with what they hear from, and Python looks after the memory."""
    command = [sys.executable, "-P", "-m", "tests.support.reader_owner"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=worker_environment()) as owner:
        assert owner.stdout is not None
        words = owner.stdout.readline().split()
        owner.kill()
    names, children = words[:2], [psutil.Process(int(word)) for word in words[2:] if psutil.pid_exists(int(word))]
    assert len(words) >= 4
    assert psutil.wait_procs(children, timeout=20)[1] == []
    for name in names:
        with pytest.raises(FileNotFoundError):
            SharedMemory(name)


def test_no_shared_memory_is_left(tmp_path: Path, session: BackboneSession, cache: EmbeddingCache) -> None:
    """Not even where pixels that were read are still held."""
    readers = ProcessReaders(1, session.card.input_side)
    assert readers.wait_until_ready(60)
    worker = ChunkWorker(session, PhotoCaches(cache), Claims(), CancelToken())
    chunk = readers.submit(photos(tmp_path)[: files_together(worker.wanted)], worker).result(60)
    (name,) = readers.memory_names
    assert chunk.pixels.any()
    readers.close()
    with pytest.raises(FileNotFoundError):
        SharedMemory(name)


def test_what_is_in_the_cache_is_not_decoded(tmp_path: Path, session: BackboneSession, cache: EmbeddingCache) -> None:
    """A file that moved is read and hashed; a damaged one says what is wrong, as in this process."""
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
