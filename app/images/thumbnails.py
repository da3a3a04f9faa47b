"""Thumbnails: decoded on threads of their own, the newest wish first, kept in bounded memory and on disk."""

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, final

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QImage, QPixmap

from app.signal_types import either
from engine.config import CacheFolders

THREADS: Final = 2
MEMORY_BYTES: Final = 24 * 1024 * 1024
STORED_SIDES: Final = (256, 512)  # sides that are kept on disk; a thumbnail is scaled from the smallest that covers it
SIDE_STEP: Final = 32
BYTES_PER_PIXEL: Final = 4
LEAVING_S: Final = 0.5
"""The end of the program waits this long for images being decoded. Chosen: a photo of a fast disk is done by then."""

Wish = tuple[Path, int]


@final
class Thumbnails(QObject):
    """Makes and keeps thumbnails. Lives on the GUI thread; only the decoding threads touch files."""

    ready = Signal(Path)  # a path whose thumbnail is there now, or has failed
    _decoded = Signal(Path, int, either(QImage | None), either(tuple | None))

    def __init__(self, caches: CacheFolders, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._caches = caches
        self._pixmaps: OrderedDict[Wish, QPixmap] = OrderedDict()
        self._used_bytes = 0
        self._failed: set[Path] = set()
        self._last_known: Mapping[Path, tuple[int, int]] = {}
        self._wishes: OrderedDict[Wish, bool] = OrderedDict()  # whether it may be dropped by `keep_only`
        self._in_work: set[Wish] = set()
        self._condition = threading.Condition()
        self._is_stopped = False
        self._rests = False
        self._threads: list[threading.Thread] = []
        self._decoded.connect(self._on_decoded, Qt.ConnectionType.QueuedConnection)

    def pixmap(self, path: Path, side: int, ratio: float, *, is_fleeting: bool = False) -> QPixmap | None:
        """A thumbnail that is in memory, or None; then it is wished for.

        Args:
            is_fleeting: the wish ends when `keep_only` does not name the image.
        """
        wish = (path, _kept_side(round(side * ratio)))
        pixmap = self._pixmaps.get(wish)
        if pixmap is not None:
            self._pixmaps.move_to_end(wish)
            return pixmap
        if path not in self._failed:
            self._wish(wish, is_fleeting=is_fleeting)
        return None

    def stand_in(self, path: Path) -> QPixmap | None:
        """Any thumbnail of an image that is in memory, the largest one, for as long as the wished one is on its way."""
        sides = range(STORED_SIDES[-1], 0, -SIDE_STEP)
        return next((found for side in sides if (found := self._pixmaps.get((path, side))) is not None), None)

    def has_failed(self, path: Path) -> bool:
        return path in self._failed

    def has_failed_anew(self, path: Path) -> bool:
        """Whether a file turned out to be no sound image that is not known to be missing."""
        return path in self._failed and path not in self._last_known

    @property
    def is_busy(self) -> bool:
        with self._condition:
            return bool(self._wishes or self._in_work)

    def keep_only(self, paths: Collection[Path]) -> None:
        """Drop fleeting wishes for images that are no longer in sight."""
        with self._condition:
            dropped = [wish for wish, is_fleeting in self._wishes.items() if is_fleeting and wish[0] not in paths]
            for wish in dropped:
                del self._wishes[wish]

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Begin no wish within this context: the window is to have the processor for itself."""
        with self._condition:
            self._rests = True
        try:
            yield
        finally:
            with self._condition:
                self._rests = False
                self._condition.notify_all()

    def forget_failures(self) -> None:
        self._failed.clear()

    def show_last_known(self, files: Mapping[Path, tuple[int, int]]) -> None:
        """Show files that are not there now as they were; those that are back are read again.

        Args:
            files: size and time of change of each file when it was last seen.
        """
        again = self._failed & (self._last_known.keys() ^ files.keys())
        self._last_known = files
        self._failed -= again
        for path in again:
            self.ready.emit(path)

    def stop(self) -> None:
        """End the threads; one that waits for a slow disk is left behind."""
        with self._condition:
            self._is_stopped = True
            self._wishes.clear()
            self._condition.notify_all()
        for thread in self._threads:
            thread.join(LEAVING_S / THREADS)
        self._threads.clear()

    def _wish(self, wish: Wish, *, is_fleeting: bool) -> None:
        with self._condition:
            if self._is_stopped or wish in self._in_work:
                return
            self._wishes[wish] = is_fleeting and self._wishes.get(wish, True)
            self._wishes.move_to_end(wish)
            self._condition.notify()
        if not self._threads:
            self._threads = [
                threading.Thread(target=self._work, name=f"thumbnails-{number}", daemon=True)
                for number in range(THREADS)
            ]
            for thread in self._threads:
                thread.start()

    # -- on the decoding threads

    def _work(self) -> None:
        from engine.images.thumbnail_cache import ThumbnailCache
        from engine.priority import lower_thread_priority

        lower_thread_priority()
        cache = ThumbnailCache(self._caches.thumbnails)
        try:
            while (wish := self._next_wish()) is not None:
                last_known = self._last_known.get(wish[0])
                image = load_thumbnail(cache, *wish, last_known=last_known)
                with self._condition:
                    if self._is_stopped:
                        return
                    self._decoded.emit(*wish, image, last_known)
        finally:
            cache.close()

    def _next_wish(self) -> Wish | None:
        with self._condition:
            while (self._rests or not self._wishes) and not self._is_stopped:
                self._condition.wait()
            if self._is_stopped:
                return None
            wish, _ = self._wishes.popitem(last=True)
            self._in_work.add(wish)  # until the GUI thread has it: a repaint must not wish for it again
            return wish

    # -- on the GUI thread

    def _on_decoded(self, path: Path, side: int, image: QImage | None, last_known: tuple[int, int] | None) -> None:
        with self._condition:
            self._in_work.discard((path, side))
        if image is not None:
            self._keep((path, side), QPixmap.fromImage(image))
        elif last_known == self._last_known.get(path):  # else it was missed or found meanwhile, and is wished for again
            self._failed.add(path)
        self.ready.emit(path)

    def _keep(self, wish: Wish, pixmap: QPixmap) -> None:
        self._pixmaps[wish] = pixmap
        self._used_bytes += _size_bytes(pixmap.size())
        while self._used_bytes > MEMORY_BYTES and len(self._pixmaps) > 1:
            _, oldest = self._pixmaps.popitem(last=False)
            self._used_bytes -= _size_bytes(oldest.size())


def load_thumbnail(cache: object, path: Path, side: int, *, last_known: tuple[int, int] | None = None) -> QImage | None:
    """Read a thumbnail from the disk cache or make it; None when the file is no sound image.

    Args:
        last_known: size and time of change when it was last seen, of a file that is not there now.
    """
    from app.images.pixels import image_of
    from engine.errors import ProtoleafError
    from engine.images.decode import decode_rgb
    from engine.images.pixels import fit_within
    from engine.images.thumbnail_cache import ThumbnailCache, thumbnail

    assert isinstance(cache, ThumbnailCache)
    try:
        size_bytes, modified_ns = last_known or _size_and_time(path)
        stored = _stored_side(side)
        data = cache.get(path, size_bytes, modified_ns, stored)
        if data is None:
            data = thumbnail(path, stored)
            cache.put(path, size_bytes, modified_ns, stored, data)
        pixels = fit_within(decode_rgb(data), side)
    except (ProtoleafError, OSError, ValueError):
        return None
    return image_of(pixels).convertToFormat(QImage.Format.Format_RGB32)


def _size_and_time(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _kept_side(pixels: int) -> int:
    """Side that is kept in memory: a little more than what is shown, so that zooming a little keeps it."""
    return min(STORED_SIDES[-1], -(-pixels // SIDE_STEP) * SIDE_STEP)


def _stored_side(pixels: int) -> int:
    return next((side for side in STORED_SIDES if side >= pixels), STORED_SIDES[-1])


def _size_bytes(size: QSize) -> int:
    return size.width() * size.height() * BYTES_PER_PIXEL
