"""Tracking which images are missing, with as few disk accesses as possible."""

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from app.images.thumbnails import Thumbnails
from app.moved_images.file_checks import MissingImages
from app.session import Session
from app.session.fitting import LONGEST_REST_S
from engine.events import CancelToken
from tests.support.collections import Collection
from tests.support.sessions import LONG_MS, act, open_project, recorded


@pytest.fixture
def missing_images(session: Session) -> Iterator[MissingImages]:
    """Missing images of the session."""
    thumbnails = Thumbnails(session.caches)
    missing_images = MissingImages(session, thumbnails)
    yield missing_images
    missing_images.stop()
    thumbnails.stop()


def wait_for(qtbot: QtBot, missing_images: MissingImages, count: int) -> None:
    """Wait until this number of images is missing."""
    qtbot.waitUntil(
        lambda: len(missing_images.missing) == count and not missing_images.is_looking,
        timeout=LONG_MS,
    )


@pytest.mark.slow
def test_it_follows_the_project(
    qtbot: QtBot, session: Session, missing_images: MissingImages, collection: Collection
) -> None:
    """It is updated on opening, on removal of images, when they are back, and on closing."""
    collection.unsorted.rename(collection.folder / "away")
    open_project(qtbot, session, collection.project)
    wait_for(qtbot, missing_images, 40)
    back = recorded(missing_images.reappeared)
    gone = sorted(missing_images.missing)[:10]
    act(qtbot, session, lambda project: project.images.remove(gone))
    wait_for(qtbot, missing_images, 30)
    (collection.folder / "away").rename(collection.unsorted)
    with qtbot.waitSignal(missing_images.reappeared, timeout=LONG_MS):
        missing_images.look()
    assert missing_images.missing == frozenset()
    collection.unsorted.rename(collection.folder / "away")
    missing_images.look()
    wait_for(qtbot, missing_images, 30)
    with qtbot.waitSignal(session.closed, timeout=LONG_MS):
        session.close()
    assert missing_images.missing == frozenset()
    assert len(back) >= 1


def test_a_slow_share_is_asked_once_at_a_time(
    qtbot: QtBot,
    session: Session,
    missing_images: MissingImages,
    collection: Collection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Checks on activation are merged into one; a result after a close is ignored."""
    open_project(qtbot, session, collection.project)
    wait_for(qtbot, missing_images, 0)
    let_go, begun = threading.Event(), threading.Semaphore(0)

    def slow(
        _folder: Path, _paths: Sequence[str], *, cancel: CancelToken, rest: Callable[[], None]
    ) -> list[int]:
        assert not cancel.is_cancelled
        rest()
        begun.release()
        assert let_go.wait(LONG_MS / 1000)
        return [0]

    monkeypatch.setattr("engine.images.files_on_disk.missing_files", slow)
    for _ in range(5):
        missing_images.look()
    let_go.set()
    qtbot.waitUntil(lambda: not missing_images.is_looking, timeout=LONG_MS)
    assert missing_images.missing == {1}
    assert [begun.acquire(blocking=False) for _ in range(3)] == [True, True, False]
    let_go.clear()
    missing_images.look()
    with qtbot.waitSignal(session.closed, timeout=LONG_MS):
        session.close()
    let_go.set()
    for thread in threading.enumerate():
        if thread.name == "presence":
            thread.join()
    QCoreApplication.processEvents()
    assert missing_images.missing == frozenset()


def test_it_rests_while_the_window_works(
    qtbot: QtBot, session: Session, missing_images: MissingImages, collection: Collection
) -> None:
    """The check pauses while a key is handled, and then continues."""
    open_project(qtbot, session, collection.project)
    wait_for(qtbot, missing_images, 0)
    collection.unsorted.rename(collection.folder / "away")
    with session.undisturbed():
        missing_images.look()
        for thread in threading.enumerate():
            if thread.name == "presence":
                thread.join(LONGEST_REST_S / 4)
                assert thread.is_alive()
    wait_for(qtbot, missing_images, 40)
