"""Missing image metadata is read by a worker after opening, once."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.session import Session, current_card
from app.session import details as details_module
from app.session.details import DetailsReading
from engine.collection.state import Sorting
from engine.project import Project
from engine.project.records import ImageDetails
from tests.support.collections import Collection
from tests.support.projects import connection_of
from tests.support.sessions import LONG_MS, open_project, recorded, settle


@pytest.fixture
def reading(session: Session, monkeypatch: pytest.MonkeyPatch) -> DetailsReading:
    """Start without a delay."""
    monkeypatch.setattr(details_module, "PAUSE_MS", 0)
    return DetailsReading(session)


@pytest.fixture
def older(collection: Collection) -> Path:
    """A project of an earlier version: embedded, without image metadata."""
    with (
        Project.open(collection.project) as project,
        (connection := connection_of(project)).transaction(),
    ):
        connection.write_many("DELETE FROM image_detail WHERE image_id > ?", [(0,)])
    return collection.project


def known(path: Path) -> list[ImageDetails]:
    with Project.open(path, for_writing=False) as project:
        return list(project.details.each())


@pytest.mark.slow
def test_an_older_project_is_read_in_the_background(
    qtbot: QtBot, session: Session, reading: DetailsReading, older: Path
) -> None:
    """The job has progress; new states are emitted where images are sorted by date."""
    titles = recorded(session.jobs.job_added)
    with qtbot.waitSignal(reading.read, timeout=LONG_MS):
        open_project(qtbot, session, older)
    qtbot.waitUntil(lambda: reading.job is None, timeout=LONG_MS)
    settle(qtbot, session)
    assert session.state is not None
    assert len(known(older)) == len(session.state.image_ids)
    assert all(each.width > 0 for each in known(older))
    session.sort_by(frozenset({Sorting.TAKEN}))
    qtbot.waitUntil(
        lambda: session.state is not None and Sorting.TAKEN in session.state.ranks, timeout=LONG_MS
    )
    assert len(titles) == 1


@pytest.mark.slow
def test_what_was_read_waits_while_a_person_works(
    qtbot: QtBot,
    session: Session,
    reading: DetailsReading,
    older: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Labels are stored first; then the metadata follows in batches."""
    monkeypatch.setattr(details_module, "MOST_AT_ONCE", 10)
    monkeypatch.setattr(current_card, "IDLE_S", 3600.0)
    session.current_card.freeze()
    with qtbot.waitSignal(session.jobs.job_ended, timeout=LONG_MS):
        open_project(qtbot, session, older)
    qtbot.wait(2 * details_module.FEED_INTERVAL_MS)
    assert not known(older)
    monkeypatch.setattr(current_card, "IDLE_S", 0.0)
    assert session.state is not None
    count = len(session.state.image_ids)
    qtbot.waitUntil(lambda: len(known(older)) == count, timeout=LONG_MS)


def test_nothing_is_started_where_all_is_known(
    qtbot: QtBot, session: Session, reading: DetailsReading, collection: Collection
) -> None:
    added = recorded(session.jobs.job_added)
    open_project(qtbot, session, collection.project)
    reading._look()  # noqa: SLF001 (as after the delay)
    settle(qtbot, session)
    assert not added


@pytest.mark.slow
def test_a_cancelled_run_goes_on_the_next_time(
    qtbot: QtBot, session: Session, reading: DetailsReading, older: Path
) -> None:
    session.jobs.job_added.connect(lambda job: job.cancel())
    open_project(qtbot, session, older)
    qtbot.waitUntil(lambda: reading.job is None and not session.jobs.jobs, timeout=LONG_MS)
    session.jobs.job_added.disconnect()
    session.close()
    qtbot.waitUntil(lambda: session.info is None, timeout=LONG_MS)
    with qtbot.waitSignal(reading.read, timeout=LONG_MS):
        open_project(qtbot, session, older)
    qtbot.waitUntil(lambda: reading.job is None, timeout=LONG_MS)
    settle(qtbot, session)
    assert len(known(older)) > 0
