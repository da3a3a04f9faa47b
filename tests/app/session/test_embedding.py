"""Pending images are embedded by a worker, and the collection is fitted meanwhile."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from app.jobs.job import Job
from app.session import Session
from app.session.embedding import Embedding
from engine.collection.state import NO_CLASS, ImageStatus
from engine.files import FoundFile
from engine.project import Project
from tests.support.collections import Collection, cache_of_test, write_shape
from tests.support.sessions import LONG_MS, act, open_project, recorded
from tests.support.trainings import choose_backbone, other_backbone
from tests.support.unread import BROKEN_NAME, UNREAD_IMAGES, unread_collection


@pytest.fixture
def embedding(session: Session) -> Embedding:
    """Embedding for the session, on the CPU."""
    embedding = Embedding(session)
    embedding.device = "cpu"
    return embedding


def is_read(session: Session) -> bool:
    """Whether no image is pending."""
    return session.state is not None and bool((session.state.status != ImageStatus.WAITING).all())


def is_predicted(session: Session) -> bool:
    """Whether every readable image has a prediction."""
    state = session.state
    if state is None or not is_read(session):
        return False
    return bool((state.best_class[state.status == ImageStatus.READY] != NO_CLASS).all())


@pytest.mark.slow
def test_opening_reads_what_waits_until_predictions_appear(
    qtbot: QtBot, session: Session, embedding: Embedding, unread: Collection
) -> None:
    """Pending images are embedded, stored and classified automatically."""
    changes = recorded(session.change_made)
    open_project(qtbot, session, unread.project)
    qtbot.waitUntil(lambda: is_predicted(session), timeout=LONG_MS)
    qtbot.waitUntil(lambda: embedding.job is None, timeout=LONG_MS)
    assert changes == []
    session.shut_down()
    with Project.open(unread.project) as project:
        table = project.images.table()
        assert len(table.ids) == UNREAD_IMAGES
        assert None not in table.content_hashes
        assert str(project.history.undo_action) == f"Added {UNREAD_IMAGES - 4} images"


@pytest.mark.slow
def test_an_added_image_is_read_too(
    qtbot: QtBot, session: Session, embedding: Embedding, collection: Collection, tmp_path: Path
) -> None:
    """While a project is open, each added image is embedded."""
    open_project(qtbot, session, collection.project)
    assert embedding.job is None
    new = write_shape(tmp_path / "new.png", "Blue disc", seed=77)
    status = new.stat()
    file = FoundFile(new, status.st_size, status.st_mtime_ns)
    (image_id,) = act(qtbot, session, lambda project: project.images.add([file])).images_added
    qtbot.waitUntil(lambda: is_predicted(session), timeout=LONG_MS)
    qtbot.waitUntil(lambda: embedding.job is None, timeout=LONG_MS)
    assert session.state is not None
    best = int(session.state.best_class[session.state.position(image_id)])
    assert session.graph.name(best).startswith("Blue")


@pytest.mark.slow
def test_a_broken_file_is_listed_and_never_fatal(
    qtbot: QtBot, session: Session, embedding: Embedding, tmp_path: Path
) -> None:
    """The others are embedded; the broken one is listed with a reason."""
    unread = unread_collection(tmp_path / "unread", cache_of_test(), with_broken=True)
    failed = recorded(session.failed)
    open_project(qtbot, session, unread.project)
    qtbot.waitUntil(lambda: is_predicted(session), timeout=LONG_MS)
    qtbot.waitUntil(lambda: embedding.job is None, timeout=LONG_MS)
    assert [failure.path.name for failure in embedding.failures.values()] == [BROKEN_NAME]
    assert all(
        failure.reason and "\n" not in failure.reason for failure in embedding.failures.values()
    )
    assert session.state is not None
    assert np.count_nonzero(session.state.status == ImageStatus.FAILED) == 1
    assert failed == []


@pytest.mark.slow
def test_a_cancel_holds_until_somebody_starts_again(
    qtbot: QtBot, session: Session, embedding: Embedding, unread: Collection
) -> None:
    """After a cancel nothing runs until `start`."""

    def stop_it(job: Job) -> None:
        job.started.connect(embedding.cancel)

    session.jobs.job_added.connect(stop_it)
    with qtbot.waitSignal(session.jobs.job_ended, timeout=LONG_MS):
        open_project(qtbot, session, unread.project)
    session.jobs.job_added.disconnect(stop_it)
    assert embedding.job is None
    assert not is_read(session)
    embedding.start()
    qtbot.waitUntil(lambda: is_predicted(session), timeout=LONG_MS)


@pytest.mark.slow
def test_a_crash_is_one_sentence_and_the_next_start_finishes(
    qtbot: QtBot, session: Session, embedding: Embedding, unread: Collection
) -> None:
    """A killed worker costs one message; window and project are intact, and a new start works."""

    def kill_it() -> None:
        assert embedding.job is not None
        qtbot.waitUntil(
            lambda: embedding.job is not None and embedding.job.process_id > 0, timeout=LONG_MS
        )
        os.kill(embedding.job.process_id, signal.SIGKILL)

    session.jobs.job_added.connect(lambda job: job.started.connect(kill_it))
    with qtbot.waitSignal(session.failed, timeout=LONG_MS) as blocker:
        open_project(qtbot, session, unread.project)
    assert "ended unexpectedly" in blocker.args[0]
    assert embedding.job is None
    session.jobs.job_added.disconnect()
    embedding.start()
    qtbot.waitUntil(lambda: is_predicted(session), timeout=LONG_MS)


@pytest.mark.slow
def test_another_model_takes_over_while_images_are_read(
    qtbot: QtBot, session: Session, embedding: Embedding, unread: Collection, tmp_path: Path
) -> None:
    """The running job stops, and another embeds all images; an undo does the same."""
    backbone = other_backbone(tmp_path / "own models")
    requests = recorded(session.jobs.job_added)
    with qtbot.waitSignal(session.jobs.job_added, timeout=LONG_MS):
        session.open(unread.project)
    act(qtbot, session, lambda project: choose_backbone(project, backbone))
    qtbot.waitUntil(lambda: is_predicted(session) and embedding.job is None, timeout=LONG_MS)
    assert len(requests) == 2
    session.undo()
    qtbot.waitUntil(lambda: len(requests) == 3, timeout=LONG_MS)
    qtbot.waitUntil(lambda: is_predicted(session) and embedding.job is None, timeout=LONG_MS)


@pytest.mark.slow
def test_choosing_a_model_reads_on_after_a_cancel(
    qtbot: QtBot, session: Session, embedding: Embedding, collection: Collection, tmp_path: Path
) -> None:
    """Another model is a new request, also after a cancelled job."""
    backbone = other_backbone(tmp_path / "own models")
    open_project(qtbot, session, collection.project)
    embedding.cancel()
    act(qtbot, session, lambda project: choose_backbone(project, backbone))
    assert embedding.job is not None
    assert session.state is not None
    assert (session.state.status == ImageStatus.WAITING).all()
    embedding.cancel()
    qtbot.waitUntil(lambda: embedding.job is None, timeout=LONG_MS)


def test_closing_while_reading_ends_the_worker(
    qtbot: QtBot, session: Session, embedding: Embedding, unread: Collection
) -> None:
    """No child process outlives its project, and no result reaches the next one."""
    open_project(qtbot, session, unread.project)
    assert embedding.job is not None
    with qtbot.waitSignals([session.closed, session.jobs.job_ended], timeout=LONG_MS):
        session.close()
    assert session.state is None
    assert not session.jobs.jobs
