"""Switching projects: pending results of the previous one are dropped, embedding continues."""

from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from app.session import Session
from app.session.embedding import Embedding
from engine.collection.state import ImageStatus
from engine.embedding.messages import EmbedBatch, EmbedResult
from engine.project import Project
from engine.worker.protocol import Stopped
from tests.support.collections import Collection, cache_of_test
from tests.support.scripted_workers import ScriptedWorkers, Step, ended
from tests.support.sessions import LONG_MS, open_project, recorded, settle
from tests.support.unread import unread_collection


def say_word(embedding: Embedding) -> None:
    """Let the worker finish the first project's request, now that the second one is open."""
    assert embedding.worker is not None
    embedding.worker._lines.put(b'{"kind": "Word"}\n')  # noqa: SLF001 (reports as a child process would)


def switched(
    qtbot: QtBot, session: Session, first: Path, second: Path, *last: Step
) -> tuple[Embedding, ScriptedWorkers]:
    """Open two projects in turn; the worker ends the first request only after the cancel."""
    workers = ScriptedWorkers([["wait for a word", *last], [ended("CPU")]])
    embedding = Embedding(session, workers)
    open_project(qtbot, session, first)
    qtbot.waitUntil(lambda: len(workers.requests) == 1, timeout=LONG_MS)
    open_project(qtbot, session, second)
    say_word(embedding)
    return embedding, workers


@pytest.mark.slow
def test_the_next_project_is_embedded_when_the_worker_ends_the_former(
    qtbot: QtBot, session: Session, unread: Collection, tmp_path: Path
) -> None:
    """The cancel of the previous project does not cancel this one."""
    other = unread_collection(tmp_path / "other", cache_of_test())
    embedding, workers = switched(qtbot, session, unread.project, other.project, Stopped())
    qtbot.waitUntil(lambda: len(workers.requests) == 2 and embedding.job is None, timeout=LONG_MS)
    folders = [request.images[-1].path.parent.parent for request in workers.requests]
    assert folders == [unread.folder, other.folder]


@pytest.mark.slow
def test_what_the_worker_still_finds_out_reaches_no_other_project(
    qtbot: QtBot, session: Session, unread: Collection, tmp_path: Path
) -> None:
    """Image ids are only unique within a project."""
    other = unread_collection(tmp_path / "other", cache_of_test())
    late = EmbedBatch((EmbedResult(1, None, "broken in the former one"),))
    embedding, workers = switched(qtbot, session, unread.project, other.project, late, Stopped())
    failures = recorded(embedding.failures_changed)
    qtbot.waitUntil(lambda: len(workers.requests) == 2 and embedding.job is None, timeout=LONG_MS)
    settle(qtbot, session)
    assert failures == []
    assert session.state is not None
    assert not np.any(session.state.status == ImageStatus.FAILED)


def test_a_person_can_stop_what_follows_too(
    qtbot: QtBot, session: Session, unread: Collection
) -> None:
    """F5 during embedding queues another run; a cancel ends both."""
    workers = ScriptedWorkers([["wait"]])
    embedding = Embedding(session, workers)
    open_project(qtbot, session, unread.project)
    qtbot.waitUntil(lambda: len(workers.requests) == 1, timeout=LONG_MS)
    embedding.start()
    embedding.cancel()
    qtbot.waitUntil(lambda: embedding.job is None, timeout=LONG_MS)
    assert len(workers.requests) == 1


def test_nothing_begins_while_the_program_ends(
    qtbot: QtBot, session: Session, unread: Collection
) -> None:
    """A device chosen right before closing leaves no worker."""
    workers = ScriptedWorkers([["wait"], ["wait"]])
    embedding = Embedding(session, workers)
    open_project(qtbot, session, unread.project)
    qtbot.waitUntil(lambda: len(workers.requests) == 1, timeout=LONG_MS)
    worker = embedding.worker
    assert worker is not None
    embedding.use_device("cpu")
    session.shut_down()
    assert worker.process_id == 0
    assert len(workers.requests) == 1
    with Project.open(unread.project) as project:
        assert project.check() == []
