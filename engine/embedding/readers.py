"""Readers of files for a device: processes, as threads would share the interpreter lock.

A reader writes pixels into shared memory of a fixed size, and sends the rest as a message. One that
dies or hangs costs the file that it was reading, and is replaced.
"""

import itertools
import logging
import os
import shutil
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Protocol, final

import numpy as np
from numpy.typing import NDArray

from engine.embedding.embed_chunk import PATIENCE_S, ChunkWorker, ReadChunk, read_chunk
from engine.embedding.messages import EmbedRequest
from engine.embedding.photo_messages import PhotoRead, PhotosRead, ReadPhotos, Ready, WantedPixels
from engine.embedding.read_photo import state_of
from engine.new_file import open_own
from engine.texts import Message
from engine.worker.client import Died, Done, Ending, Worker, ignore_event

SQUARES_TOGETHER = 16
"""Squares of a chunk. Chosen: few enough that all cores share the last ones."""
SLOTS = 3  # of shared memory for each reader: one is written, one waits, one is being copied
HEADER_BYTES = 8  # before the pixels of a slot: the place of the file that is being read
SHARED = Path("/dev/shm")  # noqa: S108 (Linux: where the system has shared memory)
SHARED_SHARE = 0.5  # of what is free there, at most. Chosen: other programs use it, too.
HANGS_S = 120.0
"""Timeout of a file, as on a lost share. Chosen: the largest pictures take a tenth of it."""
# processes in a row that end before they read anything: threads read instead
MOST_FALSE_STARTS = 3
FEWEST_FOR_PROCESSES = 200  # files that are read before processes have started. Chosen.
_DIED = Message("the process reading it ended")
_FAILED = Message("the process reading it failed")
_HUNG = Message("reading it took too long")
_log = logging.getLogger(__name__)

Place = NDArray[np.int64]  # (1,) of the file that is read into a slot; -1 before the first


class Readers(Protocol):
    """Reads chunks of files side by side.

    Attributes:
        most: chunks that may be read, or wait to be released, at once.
    """

    @property
    def most(self) -> int: ...

    def submit(self, requests: Sequence[EmbedRequest], worker: ChunkWorker) -> "Future[ReadChunk]":
        """Read some files, no more than `files_together`."""

    def look_after(self) -> None:
        """Replace readers that hang; to be called several times a second."""

    def close(self) -> None:
        """Read no more."""


def _free_memory() -> int:
    """Bytes of available shared memory: writing beyond a container's limit kills the process."""
    if not SHARED.is_dir():
        return sys.maxsize
    return int(SHARED_SHARE * shutil.disk_usage(SHARED).free)


def readers_for(count: int, side: int, files: int) -> Readers:
    """Those that suit a run of so many files; 0 where their number is not known."""
    return ThreadReaders(count) if 0 < files < FEWEST_FOR_PROCESSES else ProcessReaders(count, side)


def files_together(wanted: WantedPixels) -> int:
    """How many files are read as one chunk."""
    return max(1, SQUARES_TOGETHER // wanted.views)


@final
class ThreadReaders:
    """Threads of this process."""

    def __init__(self, count: int) -> None:
        self.most = 2 * count
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="read")

    def submit(self, requests: Sequence[EmbedRequest], worker: ChunkWorker) -> "Future[ReadChunk]":
        return self._pool.submit(
            read_chunk,
            requests,
            worker.wanted,
            worker.missing,
            worker.cancel,
            patience_s=PATIENCE_S,
        )

    def look_after(self) -> None:
        """Threads cannot be replaced."""

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


@dataclass(eq=False)
class _Task:
    """Files that a reader was given."""

    requests: Sequence[EmbedRequest]
    wanted: WantedPixels
    slot: int
    future: "Future[ReadChunk]" = field(default_factory=Future)


@final
class _Reader:
    """One process, and the next one after it died."""

    def __init__(self, slot_bytes: int, command: Sequence[str]) -> None:
        self.slot_bytes = slot_bytes
        self.memory = _reserved(SLOTS * slot_bytes)
        self.tasks: list[_Task] = []  # in the order in which they are read
        self.is_ready = False
        self.false_starts = 0
        self.is_hanging = False
        self._command = command
        self._worker: Worker | None = None
        self._seen: tuple[_Task, int] | None = None
        self._seen_s = 0.0

    def start(self, on_ending: Callable[[Ending], None]) -> None:
        """Start a process that answers an empty request once it is ready.

        Raises:
            OSError, RuntimeError: it cannot be started.
        """
        self._worker, self.is_ready, self.is_hanging = (
            Worker(self._command, stays=True),
            False,
            False,
        )
        self._worker.send(Ready(), ignore_event, on_ending)

    def send(
        self, task: _Task, request: ReadPhotos, on_ending: Callable[[Worker, Ending], None]
    ) -> None:
        """Give files to the process, which may be starting still."""
        assert self._worker is not None, "it was started"
        self.tasks.append(task)
        self.place(task.slot)[0] = -1
        self._worker.send(request, ignore_event, partial(on_ending, self._worker))

    def place(self, slot: int) -> Place:
        return np.ndarray(
            (1,), dtype=np.int64, buffer=self.memory.buf, offset=slot * self.slot_bytes
        )

    def drop(self) -> None:
        """End the process, which has failed; files that it has still to read are not to blame."""
        if self._worker is not None:
            self._worker.kill()
        self._worker, self.is_ready = None, False

    def is_run_by(self, worker: Worker) -> bool:
        return worker is self._worker

    def kill_if_it_hangs(self) -> None:
        if not self.tasks or self._worker is None or self.is_hanging:
            return
        task, now_s = self.tasks[0], time.monotonic()
        seen = task, int(self.place(task.slot)[0])
        if seen != self._seen:
            self._seen, self._seen_s = seen, now_s
        elif now_s - self._seen_s > HANGS_S:
            self.is_hanging = True
            self._worker.kill()

    def stop(self) -> None:
        if self._worker is not None:
            self._worker.stop()
        with suppress(BufferError):  # unused pixels refer to it; the system frees it with them
            self.memory.close()
        self.memory.unlink()


def _reserved(size: int) -> SharedMemory:
    """Allocate shared memory at once: writing to a mere reservation may kill; raises `OSError`."""
    memory = SharedMemory(create=True, size=size)
    if SHARED.is_dir():
        try:
            with open_own(SHARED / memory.name, "r+b") as file:
                os.posix_fallocate(file.fileno(), 0, size)
        except OSError:
            memory.close()
            memory.unlink()
            raise
    return memory


def _with_memory(count: int, slot_bytes: int, command: Sequence[str]) -> list[_Reader]:
    """So many readers, or as many as have shared memory."""
    readers: list[_Reader] = []
    try:
        for _ in range(min(count, _free_memory() // (SLOTS * slot_bytes))):
            readers.append(_Reader(slot_bytes, command))  # noqa: PERF401 (keep the earlier)
    except OSError as error:
        _log.warning("no shared memory: %s", error)
    if len(readers) < count:
        _log.warning(
            "shared memory has room for %s of %s processes that read files", len(readers), count
        )
    return readers


@final
class ProcessReaders:
    """Processes; threads where none can be started.

    Args:
        count: of them.
        side: of the largest squares that are wanted.
        command: starts one; by default this program.
    """

    def __init__(self, count: int, side: int, command: Sequence[str] = ()) -> None:
        self._threads = ThreadReaders(count)
        slot_bytes = HEADER_BYTES + SQUARES_TOGETHER * WantedPixels(side, 1.0).bytes
        self._readers = _with_memory(count, slot_bytes, command)
        self.most = SLOTS * len(self._readers) or self._threads.most
        slots = itertools.product(range(SLOTS), self._readers)
        self._free = deque((reader, slot) for slot, reader in slots)
        self._lock = threading.RLock()
        self._ready = threading.Condition(self._lock)
        self._is_closed = False
        for reader in self._readers:
            self._start(reader)

    def submit(self, requests: Sequence[EmbedRequest], worker: ChunkWorker) -> "Future[ReadChunk]":
        """See `Readers`; without a free slot, a thread reads."""
        with self._lock:
            if not self._free:
                return self._threads.submit(requests, worker)
            reader, slot = self._free.popleft()
            if reader.false_starts >= MOST_FALSE_STARTS:
                self._release(reader, slot)
                return self._threads.submit(requests, worker)
            task = _Task(requests, worker.wanted, slot)
            request = ReadPhotos(
                tuple(requests),
                worker.wanted,
                worker.caches.opened_with,
                reader.memory.name,
                slot * reader.slot_bytes,
                PATIENCE_S,
            )
            reader.send(task, request, partial(self._on_ending, reader, task))
            return task.future

    def look_after(self) -> None:
        with self._lock:
            for reader in self._readers:
                reader.kill_if_it_hangs()

    def wait_until_ready(self, timeout_s: float) -> bool:
        """Wait until no process is starting any more; whether that is so."""

        def is_settled() -> bool:
            return all(
                each.is_ready or each.false_starts >= MOST_FALSE_STARTS for each in self._readers
            )

        with self._ready:
            return self._ready.wait_for(is_settled, timeout_s)

    @property
    def memory_names(self) -> list[str]:
        """Of the shared memory of each."""
        return [reader.memory.name for reader in self._readers]

    def close(self) -> None:
        with self._lock:  # a process that is being started is stopped, too
            self._is_closed = True
        for reader in self._readers:
            reader.stop()
        self._threads.close()

    def _start(self, reader: _Reader) -> None:
        if self._is_closed or reader.false_starts >= MOST_FALSE_STARTS:
            return
        try:
            reader.start(partial(self._on_start, reader))
        except (OSError, RuntimeError) as error:  # no process, or no thread that listens to it
            _log.warning("no process that reads files can be started: %s", error)
            reader.false_starts = MOST_FALSE_STARTS

    def _on_start(self, reader: _Reader, ending: Ending) -> None:
        """On a thread of the reader's: it is ready, or has failed."""
        with self._ready:
            reader.is_ready = isinstance(ending, Done)
            if not reader.is_ready:
                reader.false_starts += 1
                self._start(reader)
            self._ready.notify_all()

    def _on_ending(self, reader: _Reader, task: _Task, worker: Worker, ending: Ending) -> None:
        """On a thread of the reader's."""
        with self._lock:
            reader.tasks.remove(task)
            if isinstance(ending, Done):
                reader.false_starts = 0
                chunk = self._chunk(reader, task, ending.result)
            else:
                # otherwise it was ended because of another file
                is_current = reader.is_run_by(worker)
                place = int(reader.place(task.slot)[0]) if is_current else -1
                chunk = self._after_failure(reader, task, place, ending)
                if is_current and reader.is_ready:
                    reader.false_starts += place < 0
                    reader.drop()  # one that failed may lack memory for the next file, too
                    self._start(reader)
        task.future.set_result(chunk)

    def _chunk(self, reader: _Reader, task: _Task, result: PhotosRead) -> ReadChunk:
        count = sum(photo.has_pixels for photo in result.photos)
        start = task.slot * reader.slot_bytes + HEADER_BYTES
        pixels = np.ndarray(
            (count, *task.wanted.shape), np.uint8, buffer=reader.memory.buf, offset=start
        )
        return ReadChunk(
            task.requests, result.photos, pixels, partial(self._release, reader, task.slot)
        )

    def _after_failure(self, reader: _Reader, task: _Task, place: int, ending: Ending) -> ReadChunk:
        """The file that was being read, if any of these was, has failed; all others are left."""
        self._release(reader, task.slot)
        left = ReadChunk(task.requests, (), np.zeros((0, *task.wanted.shape), dtype=np.uint8))
        if place < 0:
            return left
        if not self._is_closed:
            _log.warning(
                "a process that reads files failed at file %s of a chunk: %s", place, ending
            )
        culprit = task.requests[place]
        others = [request for request in task.requests if request is not culprit]
        reason = _FAILED if not isinstance(ending, Died) else _HUNG if reader.is_hanging else _DIED
        failed = PhotoRead(state_of(culprit.path), failure=reason)
        return replace(left, requests=[culprit, *others], photos=(failed,))

    def _release(self, reader: _Reader, slot: int) -> None:
        with self._lock:
            self._free.append((reader, slot))
