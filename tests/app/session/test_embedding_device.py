"""The device of embedding jobs: switching it, and reports about it."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from app.session import Session
from app.session.embedding import Embedding
from engine.worker.protocol import Failed
from tests.support.backbone_jobs import progress
from tests.support.collections import Collection
from tests.support.scripted_workers import ScriptedWorkers, Step, ended
from tests.support.sessions import LONG_MS, open_project, recorded

NOTICE = "GPU 1 failed (illegal address); continuing on the CPU"


def embedding_with(
    session: Session, *scripts: Sequence[Sequence[Step]]
) -> tuple[Embedding, ScriptedWorkers]:
    """Embedding for the session, with scripted workers."""
    workers = ScriptedWorkers(*scripts)
    return Embedding(session, workers), workers


def wait_for_end(
    qtbot: QtBot, embedding: Embedding, workers: ScriptedWorkers, requests: int
) -> None:
    """Wait until this number of requests was made and no job runs."""
    qtbot.waitUntil(
        lambda: len(workers.requests) == requests and embedding.job is None, timeout=LONG_MS
    )


def test_a_running_job_goes_on_elsewhere(
    qtbot: QtBot, session: Session, unread: Collection
) -> None:
    """It ends, and the next one requests the chosen device; choosing it again does nothing."""
    embedding, workers = embedding_with(session, [["wait"], [ended("CPU")]])
    open_project(qtbot, session, unread.project)
    qtbot.waitUntil(lambda: len(workers.requests) == 1, timeout=LONG_MS)
    embedding.use_device("cpu")
    embedding.use_device("cpu")
    wait_for_end(qtbot, embedding, workers, 2)
    assert [request.device for request in workers.requests] == ["auto", "cpu"]


def test_another_device_is_a_new_attempt_after_a_failure(
    qtbot: QtBot, session: Session, unread: Collection
) -> None:
    """Images are still pending after the failure."""
    failing = [Failed("the device cuda cannot be used: there is no driver")]
    embedding, workers = embedding_with(session, [failing, [ended("CPU")]])
    embedding.use_device("cuda")
    failed, session_failed = recorded(embedding.failed), recorded(session.failed)
    open_project(qtbot, session, unread.project)
    wait_for_end(qtbot, embedding, workers, 1)
    assert failed == session_failed == [("the device cuda cannot be used: there is no driver",)]
    embedding.use_device("cpu")
    wait_for_end(qtbot, embedding, workers, 2)
    assert [request.device for request in workers.requests] == ["cuda", "cpu"]


@pytest.mark.slow
def test_a_stop_by_a_person_holds(qtbot: QtBot, session: Session, unread: Collection) -> None:
    """Another device does not restart a cancelled job."""
    embedding, workers = embedding_with(session, [["wait"]])
    open_project(qtbot, session, unread.project)
    qtbot.waitUntil(lambda: len(workers.requests) == 1, timeout=LONG_MS)
    embedding.cancel()
    embedding.use_device("cpu")
    wait_for_end(qtbot, embedding, workers, 1)


@pytest.mark.parametrize("tells_at_once", [True, False])
def test_a_notice_is_given_once(
    qtbot: QtBot, session: Session, unread: Collection, tells_at_once: bool
) -> None:
    """A notice is emitted once, as soon as it is known; the device in use is always reported."""
    first = replace(progress(3, 12), note="GPU 1")
    second = replace(first, note="CPU", notice=NOTICE if tells_at_once else "")
    script = [first, second, second, ended("CPU", reason="why", notice=NOTICE)]
    embedding, workers = embedding_with(session, [script])
    notices, devices = recorded(embedding.notice_given), recorded(embedding.device_changed)
    open_project(qtbot, session, unread.project)
    wait_for_end(qtbot, embedding, workers, 1)
    assert notices == [(NOTICE,)]
    assert (devices[0], devices[-1]) == (("GPU 1", ""), ("CPU", "why"))


def test_a_job_that_ends_well_takes_the_notice_back(
    qtbot: QtBot, session: Session, unread: Collection
) -> None:
    """A job that used the device successfully clears the notice."""
    embedding, workers = embedding_with(session, [[ended("CPU", notice=NOTICE)], [ended("GPU 1")]])
    notices = recorded(embedding.notice_given)
    open_project(qtbot, session, unread.project)
    wait_for_end(qtbot, embedding, workers, 1)
    embedding.start()
    wait_for_end(qtbot, embedding, workers, 2)
    assert notices == [(NOTICE,), ("",)]
