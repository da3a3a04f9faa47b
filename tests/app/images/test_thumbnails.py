"""Thumbnails: newest request first, bounded memory, broken files, off-screen requests."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from app.images import thumbnails as module
from app.images.thumbnails import THREADS, Thumbnails, load_thumbnail
from engine.config import CacheFolders
from engine.file_parts import ImageSource
from engine.images.thumbnail_cache import ThumbnailCache, thumbnail
from tests.support.collections import cache_of_test
from tests.support.images import write_jpeg
from tests.support.sessions import LONG_MS

SIDE = 320


class SlowDecoder:
    """Replacement for decoding that blocks until released, and records the order."""

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.begun = threading.Semaphore(0)
        self.decoded: list[str] = []
        self._lock = threading.Lock()

    def __call__(
        self, _cache: object, source: ImageSource, side: int, *, last_known: object, makes: bool
    ) -> QImage:
        """Return a blank picture."""
        assert last_known is None
        assert makes
        with self._lock:
            self.decoded.append(source.path.name)
        self.begun.release()
        assert self.let_go.wait(LONG_MS / 1000)
        return QImage(side, side, QImage.Format.Format_RGB32)

    def wait_for_all_threads(self) -> None:
        """Wait until every thread decodes its first picture."""
        for _ in range(THREADS):
            assert self.begun.acquire(timeout=LONG_MS / 1000)


@pytest.fixture
def decoder(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowDecoder]:
    """The slow decoder."""
    decoder = SlowDecoder()
    monkeypatch.setattr(module, "load_thumbnail", decoder)
    yield decoder
    decoder.let_go.set()


def wait_until_idle(qtbot: QtBot, thumbnails: Thumbnails) -> None:
    """Wait until no request is pending."""
    qtbot.waitUntil(lambda: not thumbnails.is_busy, timeout=LONG_MS)


def test_a_real_picture_comes_and_is_kept_on_disk(
    qtbot: QtBot, thumbnails: Thumbnails, tmp_path: Path
) -> None:
    """First None, then a pixmap of the requested size; it is stored in the disk cache."""
    path = write_jpeg(tmp_path / "a.jpg", width=600, height=300)
    with qtbot.waitSignal(
        thumbnails.ready, check_params_cb=lambda ready: ready.path == path, timeout=LONG_MS
    ):
        assert thumbnails.pixmap(ImageSource(path), 200, 1.0) is None
    pixmap = thumbnails.pixmap(ImageSource(path), 200, 1.0)
    assert pixmap is not None
    assert 200 <= pixmap.width() <= SIDE
    assert pixmap.width() == 2 * pixmap.height()
    thumbnails.stop()
    status = path.stat()
    cache = ThumbnailCache(thumbnails._caches.thumbnails)  # noqa: SLF001 (no public API shows the cache in memory)
    assert cache.get(path, status.st_size, status.st_mtime_ns, SIDE)
    cache.close()


def test_a_broken_file_fails_once_and_may_be_tried_again(
    qtbot: QtBot, thumbnails: Thumbnails, tmp_path: Path
) -> None:
    """The failure is remembered and not retried until it is forgotten."""
    path = tmp_path / "broken.jpg"
    path.write_text("no picture", encoding="utf-8")
    with qtbot.waitSignal(thumbnails.ready, timeout=LONG_MS):
        thumbnails.pixmap(ImageSource(path), 200, 1.0)
    assert thumbnails.has_failed(ImageSource(path))
    assert thumbnails.pixmap(ImageSource(path), 200, 1.0) is None
    assert not thumbnails.is_busy
    write_jpeg(path)
    thumbnails.forget_failures()
    with qtbot.waitSignal(thumbnails.ready, timeout=LONG_MS):
        thumbnails.pixmap(ImageSource(path), 200, 1.0)
    assert thumbnails.pixmap(ImageSource(path), 200, 1.0) is not None


def keep(caches: CacheFolders, path: Path) -> None:
    """Store a thumbnail as the embedding job does."""
    cache, status = ThumbnailCache(caches.thumbnails), path.stat()
    cache.put(path, status.st_size, status.st_mtime_ns, SIDE, thumbnail(path, SIDE))
    cache.close()


def test_photos_that_are_about_to_be_read_are_not_read_for_a_thumbnail(
    qtbot: QtBot, thumbnails: Thumbnails, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thumbnails made by the embedding job are shown as soon as they are stored."""
    first, second = (write_jpeg(tmp_path / f"{name}.jpg", width=600, height=300) for name in "ab")
    caches = cache_of_test()
    keep(caches, second)
    monkeypatch.setattr("engine.images.thumbnail_cache.thumbnail", None)
    thumbnails.expect()
    with qtbot.waitSignal(
        thumbnails.ready, check_params_cb=lambda ready: ready.path == second, timeout=LONG_MS
    ):
        assert thumbnails.pixmap(ImageSource(first), 200, 1.0) is None
        assert thumbnails.pixmap(ImageSource(second), 200, 1.0) is None
    thumbnails.pixmap(ImageSource(first), 200, 1.0)
    monkeypatch.undo()
    keep(caches, first)
    monkeypatch.setattr("engine.images.thumbnail_cache.thumbnail", None)
    with qtbot.waitSignal(
        thumbnails.ready, check_params_cb=lambda ready: ready.path == first, timeout=LONG_MS
    ):
        thumbnails.take_made([ImageSource(first)])
    assert thumbnails.pixmap(ImageSource(first), 200, 1.0) is not None


def test_photos_are_not_waited_for_long(
    qtbot: QtBot, thumbnails: Thumbnails, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The embedding job may be slow or may have failed."""
    monkeypatch.setattr(module, "AWAITED_S", 0.2)
    thumbnails.expect()
    path = write_jpeg(tmp_path / "a.jpg", width=600, height=300)
    with qtbot.waitSignal(thumbnails.ready, timeout=LONG_MS):
        thumbnails.pixmap(ImageSource(path), 200, 1.0)
    assert thumbnails.pixmap(ImageSource(path), 200, 1.0) is not None


@pytest.mark.parametrize("name", ["missing.jpg", "folder"])
def test_what_is_no_picture_is_none(name: str, tmp_path: Path) -> None:
    """A missing file and a folder have no thumbnail, without an error."""
    (tmp_path / "folder").mkdir()
    cache = ThumbnailCache(tmp_path / "cache")
    assert load_thumbnail(cache, ImageSource(tmp_path / name), SIDE) is None
    cache.close()


def test_the_newest_request_is_served_first(
    qtbot: QtBot, thumbnails: Thumbnails, decoder: SlowDecoder
) -> None:
    """The last visible cards are decoded first."""
    for number in range(THREADS):
        thumbnails.pixmap(ImageSource(Path(f"first {number}")), SIDE, 1.0)
    decoder.wait_for_all_threads()
    for number in range(5):
        thumbnails.pixmap(ImageSource(Path(f"then {number}")), SIDE, 1.0)
    decoder.let_go.set()
    wait_until_idle(qtbot, thumbnails)
    later = decoder.decoded[THREADS:]
    assert set(later) == {f"then {number}" for number in range(5)}
    assert later[0] == "then 4"
    assert later.index("then 4") < later.index("then 0")


def test_fleeting_requests_end_off_screen(
    qtbot: QtBot, thumbnails: Thumbnails, decoder: SlowDecoder
) -> None:
    """Requests scrolled past are dropped; those of other panes stay."""
    for number in range(THREADS):
        thumbnails.pixmap(ImageSource(Path(f"first {number}")), SIDE, 1.0)
    decoder.wait_for_all_threads()
    for number in range(50):
        thumbnails.pixmap(ImageSource(Path(f"passed {number}")), SIDE, 1.0, is_fleeting=True)
    thumbnails.pixmap(ImageSource(Path("shot in the inspector")), SIDE, 1.0)
    thumbnails.pixmap(ImageSource(Path("shot in the inspector")), SIDE, 1.0, is_fleeting=True)
    thumbnails.keep_only({ImageSource(Path("passed 7"))})
    decoder.let_go.set()
    wait_until_idle(qtbot, thumbnails)
    assert set(decoder.decoded[THREADS:]) == {"passed 7", "shot in the inspector"}


def test_a_repaint_requests_nothing_twice(
    qtbot: QtBot, thumbnails: Thumbnails, decoder: SlowDecoder
) -> None:
    """Repainting a card does not decode its picture twice."""
    paths = [Path(f"card {number}") for number in range(THREADS)]
    for path in paths:
        thumbnails.pixmap(ImageSource(path), SIDE, 1.0)
    decoder.wait_for_all_threads()
    for path in paths:
        thumbnails.pixmap(ImageSource(path), SIDE, 1.0)
    decoder.let_go.set()
    wait_until_idle(qtbot, thumbnails)
    assert sorted(decoder.decoded) == sorted(path.name for path in paths)


def test_memory_is_bounded(
    qtbot: QtBot, thumbnails: Thumbnails, decoder: SlowDecoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Least recently used pixmaps are evicted."""
    picture_bytes = SIDE * SIDE * 4
    monkeypatch.setattr(module, "MEMORY_BYTES", 3 * picture_bytes)
    decoder.let_go.set()
    for name in "abc":
        thumbnails.pixmap(ImageSource(Path(name)), SIDE, 1.0)
        wait_until_idle(qtbot, thumbnails)
    assert thumbnails.pixmap(ImageSource(Path("a")), SIDE, 1.0) is not None
    thumbnails.pixmap(ImageSource(Path("d")), SIDE, 1.0)
    wait_until_idle(qtbot, thumbnails)
    assert {source.path.name for source, _ in thumbnails._pixmaps} == {"a", "c", "d"}  # noqa: SLF001 (no public API shows the cache in memory)
    assert thumbnails._used_bytes == 3 * picture_bytes  # noqa: SLF001 (no public API shows the cache in memory)


def test_a_sharp_screen_gets_larger_pictures(
    qtbot: QtBot, thumbnails: Thumbnails, decoder: SlowDecoder
) -> None:
    """A pixel ratio of 2 requests the larger stored size."""
    decoder.let_go.set()
    thumbnails.pixmap(ImageSource(Path("a")), 200, 2.0)
    wait_until_idle(qtbot, thumbnails)
    found = thumbnails.pixmap(ImageSource(Path("a")), 200, 2.0)
    assert found is not None
    assert 400 <= found.width() <= 512


def test_stopping_ends_the_threads(
    thumbnails: Thumbnails, decoder: SlowDecoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No thread is left, and later requests are ignored."""
    monkeypatch.setattr(module, "LEAVING_S", LONG_MS / 1000)  # a slow machine is not a slow disk
    for number in range(20):
        thumbnails.pixmap(ImageSource(Path(f"card {number}")), SIDE, 1.0)
    decoder.wait_for_all_threads()
    decoder.let_go.set()
    thumbnails.stop()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("thumbnails")]
    assert thumbnails.pixmap(ImageSource(Path("late")), SIDE, 1.0) is None
    assert not thumbnails._threads  # noqa: SLF001 (no public API shows the cache in memory)


def test_a_file_that_is_not_there_is_shown_as_it_was(
    qtbot: QtBot, thumbnails: Thumbnails, tmp_path: Path
) -> None:
    """Its cached thumbnail is found by size and time of the file; without one it fails silently."""
    path, unseen = write_jpeg(tmp_path / "a.jpg"), tmp_path / "never seen.jpg"
    status = path.stat()
    thumbnails.pixmap(ImageSource(path), SIDE, 1.0)
    wait_until_idle(qtbot, thumbnails)
    path.unlink()
    thumbnails._pixmaps.clear()  # noqa: SLF001 (no public API shows the cache in memory)
    for missing in (path, unseen):
        thumbnails.pixmap(ImageSource(missing), SIDE, 1.0)
    qtbot.waitUntil(
        lambda: (
            thumbnails.has_failed(ImageSource(path)) and thumbnails.has_failed(ImageSource(unseen))
        ),
        timeout=LONG_MS,
    )
    assert thumbnails.has_newly_failed(ImageSource(path))
    emitted: list[ImageSource] = []
    thumbnails.ready.connect(emitted.append)
    thumbnails.show_last_known({path: (status.st_size, status.st_mtime_ns), unseen: (1, 1)})
    assert {source.path for source in emitted} == {path, unseen}
    for missing in (path, unseen):
        thumbnails.pixmap(ImageSource(missing), SIDE, 1.0)
    wait_until_idle(qtbot, thumbnails)
    assert thumbnails.pixmap(ImageSource(path), SIDE, 1.0) is not None
    assert thumbnails.has_failed(ImageSource(unseen))
    assert not thumbnails.has_newly_failed(ImageSource(unseen))
    write_jpeg(unseen)
    thumbnails.show_last_known({})
    thumbnails.pixmap(ImageSource(unseen), SIDE, 1.0)
    wait_until_idle(qtbot, thumbnails)
    assert thumbnails.pixmap(ImageSource(unseen), SIDE, 1.0) is not None


def test_a_file_that_is_missed_while_it_is_being_read_is_tried_again(
    qtbot: QtBot, thumbnails: Thumbnails, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An attempt before size and time of the file were known is no failure."""
    path, reading, known = tmp_path / "gone.jpg", threading.Event(), threading.Event()

    def read(
        _cache: object, _path: Path, side: int, *, last_known: object, makes: bool
    ) -> QImage | None:
        assert makes
        if last_known is not None:
            return QImage(side, side, QImage.Format.Format_RGB32)
        reading.set()
        assert known.wait(LONG_MS / 1000)
        return None

    monkeypatch.setattr(module, "load_thumbnail", read)
    assert thumbnails.pixmap(ImageSource(path), SIDE, 1.0) is None
    assert reading.wait(LONG_MS / 1000)
    thumbnails.show_last_known({path: (1, 1)})
    with qtbot.waitSignal(thumbnails.ready, timeout=LONG_MS):
        known.set()
    assert not thumbnails.has_failed(ImageSource(path))
    thumbnails.pixmap(ImageSource(path), SIDE, 1.0)
    wait_until_idle(qtbot, thumbnails)
    assert thumbnails.pixmap(ImageSource(path), SIDE, 1.0) is not None


def test_another_size_stands_in_until_the_requested_one_is_there(
    qtbot: QtBot, thumbnails: Thumbnails, tmp_path: Path
) -> None:
    """A cached pixmap of another size is a placeholder."""
    path = write_jpeg(tmp_path / "a.jpg", width=600, height=300)
    assert thumbnails.placeholder(ImageSource(path)) is None
    for side in (96, 320):
        with qtbot.waitSignal(thumbnails.ready, timeout=LONG_MS):
            assert thumbnails.pixmap(ImageSource(path), side, 1.0) is None
    small, large = (
        thumbnails.pixmap(ImageSource(path), 96, 1.0),
        thumbnails.pixmap(ImageSource(path), 320, 1.0),
    )
    assert small is not None
    assert large is not None
    assert thumbnails.placeholder(ImageSource(path)) is large
