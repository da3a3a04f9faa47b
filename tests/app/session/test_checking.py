"""A project that was not closed is checked on opening, with progress and cancellation."""

import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.jobs.slow_work import SlowWorkJob
from app.session import Session
from engine.events import PROGRESS_INTERVAL_S
from engine.project import Project, row_history
from engine.project.connection import Connection
from engine.project.step import RowChange
from tests.support.collections import Collection
from tests.support.sessions import LONG_MS, open_project, settle


@pytest.fixture
def unclosed(collection: Collection) -> Path:
    """A copy of the project as after a kill."""
    path = collection.folder / "Unclosed.protoleaf"
    with Project.open(collection.project, is_backed_up=False) as project:
        project.classes.add("Meanwhile")
        shutil.copy(collection.project, path)
    return path


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Read the first chunk of the history slowly; block before the later ones."""
    gate, read = threading.Event(), row_history.read_chunk

    def gated(connection: Connection, step_id: int, sequence: int) -> list[RowChange]:
        if step_id == 1:
            time.sleep(2 * PROGRESS_INTERVAL_S)
        elif step_id > 2:
            assert gate.wait(LONG_MS / 1000)
        return read(connection, step_id, sequence)

    monkeypatch.setattr(row_history, "read_chunk", gated)
    monkeypatch.setattr("app.jobs.slow_work.SHOWN_AFTER_S", 0)
    yield gate
    gate.set()


def _checks(session: Session) -> list[SlowWorkJob]:
    return [job for job in session.jobs.jobs if isinstance(job, SlowWorkJob)]


def _begin(qtbot: QtBot, session: Session, unclosed: Path) -> SlowWorkJob:
    session.open(unclosed)
    qtbot.waitUntil(lambda: bool(_checks(session)), timeout=LONG_MS)
    (job,) = _checks(session)
    qtbot.waitUntil(
        lambda: job.last_progress is not None and job.last_progress.done > 0, timeout=LONG_MS
    )
    return job


@pytest.mark.slow
def test_a_long_check_is_shown(
    qtbot: QtBot, session: Session, unclosed: Path, gate: threading.Event
) -> None:
    """The job has project name and progress, and ends when the project is loaded."""
    job = _begin(qtbot, session, unclosed)
    assert job.title == "Checking Unclosed"
    assert job.last_progress is not None
    assert 0 < job.last_progress.done < job.last_progress.total
    with qtbot.waitSignals([job.finished, session.loaded], timeout=LONG_MS):
        gate.set()
    assert session.info is not None
    assert session.info.path == unclosed
    assert not _checks(session)


@pytest.mark.slow
def test_a_check_is_stopped(
    qtbot: QtBot, session: Session, collection: Collection, unclosed: Path, gate: threading.Event
) -> None:
    """The open project stays; the other one can be opened later without any loss."""
    with Project.open(collection.project, for_writing=False) as project:
        images, labels = len(project.images.table().ids), len(project.labels.by_image())
    gate.set()
    open_project(qtbot, session, collection.project)
    gate.clear()
    job = _begin(qtbot, session, unclosed)
    job.cancel()
    gate.set()
    settle(qtbot, session)
    assert session.info is not None
    assert session.info.path == collection.project
    assert not _checks(session)
    open_project(qtbot, session, unclosed)
    assert session.state is not None
    assert (len(session.state.image_ids), sum(session.state.shot_counts.values())) == (
        images,
        labels,
    )


def test_a_quick_check_is_not_shown(qtbot: QtBot, session: Session, unclosed: Path) -> None:
    """A job of a few milliseconds would only flicker."""
    shown: list[object] = []
    session.jobs.job_added.connect(shown.append)
    open_project(qtbot, session, unclosed)
    assert not [job for job in shown if isinstance(job, SlowWorkJob)]
