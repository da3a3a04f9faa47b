"""Thumbnails, decoded in background threads, newest request first; cached in memory and on disk."""

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from typing import final

from PySide6.QtCore import QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QImage, QPixmap

from app.images.pixels import PictureShape
from app.signal_types import either
from engine.config import THUMBNAIL_SIDES, CacheFolders
from engine.file_parts import ImageSource

THREADS = 2
REST_S = 0.002  # polling interval of a paused decoding thread
MEMORY_BYTES = 24 * 1024 * 1024
SIDE_STEP = 32
BYTES_PER_PIXEL = 4
AWAITED_S = 1.5
"""Seconds during which the thumbnail of a newly added photo is not decoded on its own: the
embedding job is about to make it. Chosen: the worker has started by then."""
LEAVING_S = 0.5
"""Timeout at the program's end for images being decoded. Chosen: enough for a photo on a fast
disk."""

ThumbnailRequest = tuple[ImageSource, int]


@final
class Thumbnails(QObject):
    """Makes and caches thumbnails. Lives on the GUI thread; only the decoding threads access files.

    These have a low priority, so the GUI thread must never wait for a lock of theirs: open requests
    are a deque of numbers, whose operations are atomic under the GIL.
    """

    ready = Signal(ImageSource)  # source whose thumbnail is available, or failed
    _decoded = Signal(ImageSource, int, either(QImage | None), either(tuple | None))
    _not_made = Signal(ImageSource, int)  # a request left to the embedding job

    def __init__(self, caches: CacheFolders, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._caches = caches
        self._pixmaps: OrderedDict[ThumbnailRequest, QPixmap] = OrderedDict()
        self._used_bytes = 0
        self.shape = PictureShape()  # of the pictures loaded so far
        self._failed: set[ImageSource] = set()
        self._last_known: Mapping[Path, tuple[int, int]] = {}
        self._numbers: dict[ThumbnailRequest, int] = {}  # of open requests and those in work
        self._requested: dict[int, ThumbnailRequest] = {}  # requests by number; read by the threads
        self._fleeting: set[ThumbnailRequest] = set()  # requests that `keep_only` may drop
        self._open: deque[int] = deque()  # the newest last; threads take from the end
        # One token for each request, and one to end each thread.
        self._tokens: SimpleQueue[bool] = SimpleQueue()
        self._count = count()
        # Held while a picture is sent, so that no signal is emitted after `stop`.
        self._sending = threading.Lock()
        self._is_stopped = False
        self._rests = False
        self._awaited_until_s = 0.0  # until then the embedding job makes thumbnails
        self._awaited: set[ThumbnailRequest] = set()
        self._made: set[ImageSource] = set()  # thumbnails that it has made
        self._end_of_wait = QTimer(self, singleShot=True)
        self._end_of_wait.timeout.connect(self._stop_waiting)
        self._not_made.connect(self._on_not_made, Qt.ConnectionType.QueuedConnection)
        self._threads: list[threading.Thread] = []
        self._decoded.connect(self._on_decoded, Qt.ConnectionType.QueuedConnection)

    def pixmap(
        self, source: ImageSource, side: int, ratio: float, *, is_fleeting: bool = False
    ) -> QPixmap | None:
        """Return a thumbnail from memory; None where it is not there, and then request it.

        Args:
            is_fleeting: whether `keep_only` may drop the request.
        """
        request = (source, _kept_side(round(side * ratio)))
        pixmap = self._pixmaps.get(request)
        if pixmap is not None:
            self._pixmaps.move_to_end(request)
            return pixmap
        if source not in self._failed:
            self._request(request, is_fleeting=is_fleeting)
        return None

    def placeholder(self, source: ImageSource) -> QPixmap | None:
        """The largest thumbnail of an image in memory, as a placeholder for the requested one."""
        sides = range(THUMBNAIL_SIDES[-1], 0, -SIDE_STEP)
        return next(
            (found for side in sides if (found := self._pixmaps.get((source, side))) is not None),
            None,
        )

    def has_failed(self, source: ImageSource) -> bool:
        return source in self._failed

    def has_newly_failed(self, source: ImageSource) -> bool:
        """Whether a file turned out to be unreadable, apart from files known to be missing."""
        return source in self._failed and source.path not in self._last_known

    @property
    def is_busy(self) -> bool:
        return bool(self._numbers)

    def keep_only(self, sources: Collection[ImageSource]) -> None:
        """Drop fleeting requests for images that are no longer visible."""
        for request in [request for request in self._fleeting if request[0] not in sources]:
            if request in self._awaited or self._take_back(request):
                self._awaited.discard(request)
                self._forget(request)

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Start no request within this context, so that the GUI thread has the processor."""
        self._rests = True
        try:
            yield
        finally:
            self._rests = False

    def expect(self) -> None:
        """Leave thumbnails to the embedding job, which is about to read added photos."""
        self._awaited_until_s = time.monotonic() + AWAITED_S
        self._made.clear()
        self._end_of_wait.start(round(1000 * AWAITED_S))

    def take_made(self, sources: Collection[ImageSource]) -> None:
        """Note thumbnails that are on disk now, and load those that were requested."""
        if not self._end_of_wait.isActive():
            return
        self._made.update(sources)
        self._reopen([request for request in self._awaited if request[0] in self._made])

    def forget_failures(self) -> None:
        self._failed.clear()

    def forget(self, paths: Collection[Path]) -> None:
        """Drop the thumbnails of modified files; visible ones are requested again."""
        shown = [request for request in self._pixmaps if request[0].path in paths]
        for request in shown:
            self._used_bytes -= _size_bytes(self._pixmaps.pop(request).size())
        failed = {source for source in self._failed if source.path in paths}
        self._failed -= failed
        for source in failed.union(source for source, _side in shown):
            self.ready.emit(source)

    def show_last_known(self, files: Mapping[Path, tuple[int, int]]) -> None:
        """Show missing files by their cached thumbnails; files found again are read again.

        Args:
            files: size and modification time of each missing file when it was last seen.
        """
        changed = self._last_known.keys() ^ files.keys()
        again = {source for source in self._failed if source.path in changed}
        self._last_known = files
        self._failed -= again
        for source in again:
            self.ready.emit(source)

    def stop(self) -> None:
        """End the threads; one that waits for a slow disk is abandoned."""
        with self._sending:
            self._is_stopped = True
        self._open.clear()
        self._numbers.clear()
        for _ in self._threads:
            self._tokens.put(True)
        for thread in self._threads:
            thread.join(LEAVING_S / THREADS)
        self._threads.clear()

    def _request(self, request: ThumbnailRequest, *, is_fleeting: bool) -> None:
        is_new = request not in self._numbers
        if not is_fleeting:
            self._fleeting.discard(request)
        if self._is_stopped or request in self._awaited or not (is_new or self._take_back(request)):
            return  # it is being decoded, or deferred
        if is_new:
            number = self._numbers[request] = next(self._count)
            self._requested[number] = request
            if is_fleeting:
                self._fleeting.add(request)
        self._open.append(self._numbers[request])
        if is_new:
            self._tokens.put(True)
        if not self._threads:
            self._threads = [
                threading.Thread(target=self._work, name=f"thumbnails-{number}", daemon=True)
                for number in range(THREADS)
            ]
            for thread in self._threads:
                thread.start()

    def _take_back(self, request: ThumbnailRequest) -> bool:
        """Remove a request from the open ones; False where a thread has taken it."""
        try:
            self._open.remove(self._numbers[request])
        except ValueError:
            return False
        return True

    def _on_not_made(self, source: ImageSource, side: int) -> None:
        self._awaited.add((source, side))
        if source in self._made or not self._end_of_wait.isActive():
            self._reopen([(source, side)])

    def _stop_waiting(self) -> None:
        self._reopen(list(self._awaited))

    def _reopen(self, requests: Collection[ThumbnailRequest]) -> None:
        """Give deferred requests to the threads."""
        self._awaited.difference_update(requests)
        for number in (self._numbers.get(request) for request in requests):
            if number is not None:
                self._open.append(number)
                self._tokens.put(True)

    def _forget(self, request: ThumbnailRequest) -> None:
        self._requested.pop(self._numbers.pop(request, -1), None)
        self._fleeting.discard(request)

    # -- on the decoding threads

    def _work(self) -> None:
        from engine.images.thumbnail_cache import ThumbnailCache
        from engine.priority import lower_thread_priority

        lower_thread_priority()
        cache = ThumbnailCache(self._caches.thumbnails)
        try:
            while (request := self._next_request()) is not None:
                last_known = self._last_known.get(request[0].path)
                is_awaited = (
                    time.monotonic() < self._awaited_until_s and request[0] not in self._made
                )
                image = load_thumbnail(cache, *request, last_known=last_known, makes=not is_awaited)
                with self._sending:
                    if self._is_stopped:
                        return
                    if image is None and is_awaited:
                        self._not_made.emit(*request)
                    else:
                        self._decoded.emit(*request, image, last_known)
        finally:
            cache.close()

    def _next_request(self) -> ThumbnailRequest | None:
        """Wait for the newest request; None at the end."""
        while self._tokens.get() and not self._is_stopped:
            while self._rests:
                time.sleep(REST_S)
            try:
                return self._requested[self._open.pop()]
            except (IndexError, KeyError):  # it was dropped
                continue
        return None

    # -- on the GUI thread

    def _on_decoded(
        self,
        source: ImageSource,
        side: int,
        image: QImage | None,
        last_known: tuple[int, int] | None,
    ) -> None:
        self._forget((source, side))
        if image is not None:
            self._keep((source, side), QPixmap.fromImage(image))
        # Else the file was lost or found meanwhile, and is requested again.
        elif last_known == self._last_known.get(source.path):
            self._failed.add(source)
        self.ready.emit(source)

    def _keep(self, request: ThumbnailRequest, pixmap: QPixmap) -> None:
        self.shape.note(request[0], pixmap.width(), pixmap.height())
        self._pixmaps[request] = pixmap
        self._used_bytes += _size_bytes(pixmap.size())
        while self._used_bytes > MEMORY_BYTES and len(self._pixmaps) > 1:
            _, oldest = self._pixmaps.popitem(last=False)
            self._used_bytes -= _size_bytes(oldest.size())


def load_thumbnail(
    cache: object,
    source: ImageSource,
    side: int,
    *,
    last_known: tuple[int, int] | None = None,
    makes: bool = True,
) -> QImage | None:
    """Read a thumbnail from the disk cache or make it; None for an unreadable image.

    Args:
        makes: False only reads the cache.
        last_known: size and modification time of a missing file when it was last seen.
    """
    from app.images.pixels import image_of
    from engine.errors import ProtoleafError
    from engine.files import FoundFile
    from engine.images.decode import decode_rgb
    from engine.images.pixels import fit_within
    from engine.images.thumbnail_cache import ThumbnailCache, thumbnail

    assert isinstance(cache, ThumbnailCache)
    try:
        path, part = source
        file = FoundFile(path, *(last_known or _size_and_time(path)))
        stored = stored_side(side)
        data = cache.get(path, file.size_bytes, file.modified_ns, stored, part)
        if data is None and not makes:
            return None
        if data is None:
            data = thumbnail(path, stored, part)
            cache.put_many([(file, part, data)], stored)
        pixels = fit_within(decode_rgb(data), side)
    except (ProtoleafError, OSError, ValueError):
        return None
    return image_of(pixels).convertToFormat(QImage.Format.Format_RGB32)


def _size_and_time(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _kept_side(pixels: int) -> int:
    """Side cached in memory: rounded up, so that zooming a little reuses it."""
    return min(THUMBNAIL_SIDES[-1], -(-pixels // SIDE_STEP) * SIDE_STEP)


def stored_side(pixels: float) -> int:
    """Side of the thumbnail on disk from which one of `pixels` is made."""
    return next((side for side in THUMBNAIL_SIDES if side >= pixels), THUMBNAIL_SIDES[-1])


def _size_bytes(size: QSize) -> int:
    return size.width() * size.height() * BYTES_PER_PIXEL
