"""Jobs on threads that may block forever."""

import threading
from collections.abc import Iterator
from typing import final

import pytest
from PySide6.QtCore import QCoreApplication, QObject
from pytestqt.qtbot import QtBot

from app.jobs.background_thread import DetachedJob
from app.jobs.job import JobState
from engine.errors import StorageError
from engine.events import CancelToken, OnProgress, Progress
from tests.support.sessions import LONG_MS, recorded


@final
class Share:
    """Work that blocks on a share."""

    def __init__(self) -> None:
        self.asked, self.answers = threading.Event(), threading.Event()
        self.thread: threading.Thread | None = None

    def __call__(self, on_progress: OnProgress, _cancel: CancelToken) -> str:
        """Block until the answer, ignoring cancellation."""
        self.thread = threading.current_thread()
        self.asked.set()
        assert self.answers.wait(LONG_MS / 1000)
        on_progress(Progress(1, 1))
        return "found"

    def answer(self) -> None:
        """Answer, and join the thread."""
        self.answers.set()
        if self.thread is not None:
            self.thread.join()
        QCoreApplication.processEvents()


@pytest.fixture
def share() -> Iterator[Share]:
    """A share that answers at the end of the test."""
    share = Share()
    yield share
    share.answer()


@pytest.fixture
def owner(qapp: object) -> QObject:
    """The parent of the jobs of a test."""
    return QObject()


def test_the_result_comes_from_another_thread(qtbot: QtBot, owner: QObject, share: Share) -> None:
    """Progress and result arrive in order, on the GUI thread."""
    job = DetachedJob("Looking", share, owner)
    progress, finished = recorded(job.progress), recorded(job.finished)
    share.answers.set()
    with qtbot.waitSignal(job.ended, timeout=LONG_MS):
        job.start()
    assert (progress, finished, job.state) == ([(Progress(1, 1),)], [("found",)], JobState.DONE)
    assert share.thread is not threading.main_thread()


@pytest.mark.parametrize("end", [DetachedJob.cancel, DetachedJob.stop])
def test_it_ends_though_its_thread_waits(owner: QObject, share: Share, end: object) -> None:
    """It ends at once when cancelled or stopped, and a later result is dropped."""
    job = DetachedJob("Looking", share, owner)
    emitted = [
        recorded(signal) for signal in (job.cancelled, job.progress, job.finished, job.failed)
    ]
    job.start()
    assert share.asked.wait(LONG_MS / 1000)
    end(job)  # type: ignore[operator]
    assert job.state is JobState.CANCELLED
    assert share.thread is not None
    assert share.thread.is_alive()
    share.answer()
    assert [len(each) for each in emitted] == [1, 0, 0, 0]


def test_a_refusal_is_a_sentence(qtbot: QtBot, owner: QObject) -> None:
    """The engine's message is passed on unchanged."""

    def refuse(_on_progress: OnProgress, _cancel: CancelToken) -> None:
        raise StorageError("the folder is not there", found="/away")

    job = DetachedJob("Looking", refuse, owner)
    failed = recorded(job.failed)
    with qtbot.waitSignal(job.ended, timeout=LONG_MS):
        job.start()
    assert failed == [("the folder is not there: found /away",)]
