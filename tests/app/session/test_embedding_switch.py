"""Images are read on for the project that is open, whatever became of the worker of the former one."""

import json
import sys
from pathlib import Path
from typing import Any, final

import numpy as np
from pytestqt.qtbot import QtBot

from app.jobs.process_job import ProcessJob
from app.session import Session
from app.session.embedding import Embedding
from engine.collection.state import ImageStatus
from tests.support.backbone_tasks import Event, Player
from tests.support.collections import Collection, cache_of_test
from tests.support.sessions import LONG_MS, open_project, recorded, settle
from tests.support.unread import unread_collection

DONE: Event = {"event": "result", "device": "CPU", "reason": "", "notice": ""}
ENDS_LATE = "import sys; [sys.stdin.readline() for _ in ('job', 'cancel', 'word')]; print(sys.argv[1], flush=True)"


@final
class Workers:
    """The first one ends only at a word, after a last event; those after it are done at once.

    Args:
        last: the event.
    """

    def __init__(self, last: Event) -> None:
        self.projects: list[str] = []
        self._last = last
        self._others = Player([DONE], [DONE])

    def __call__(self, title: str, request: dict[str, Any]) -> ProcessJob:
        """Make the next job."""
        self.projects.append(request["project"])
        if len(self.projects) > 1:
            return self._others(title, request)
        return ProcessJob(title, request, [sys.executable, "-S", "-c", ENDS_LATE, json.dumps(self._last)])


def end_late(embedding: Embedding) -> None:
    """Let the first worker end, now that the second project is open."""
    assert embedding.job is not None
    embedding.job._process.write(b"word\n")


def test_the_next_project_is_read_when_the_worker_of_the_former_ends(
    qtbot: QtBot, session: Session, unread: Collection, tmp_path: Path
) -> None:
    """The worker was told to stop with its project: that is no wish to stop here, too."""
    other = unread_collection(tmp_path / "other", cache_of_test())
    workers = Workers({"event": "cancelled"})
    embedding = Embedding(session, workers)
    open_project(qtbot, session, unread.project)
    open_project(qtbot, session, other.project)
    end_late(embedding)
    qtbot.waitUntil(lambda: len(workers.projects) == 2 and embedding.job is None, timeout=5_000)
    assert workers.projects == [str(unread.project), str(other.project)]


def test_what_the_worker_still_finds_out_reaches_no_other_project(
    qtbot: QtBot, session: Session, unread: Collection, tmp_path: Path
) -> None:
    """Images are told apart by number, and every project begins with the same ones."""
    other = unread_collection(tmp_path / "other", cache_of_test())
    embedding = Embedding(session, Workers({"event": "batch", "results": [[1, None, "broken in the former one"]]}))
    failures = recorded(embedding.failures_changed)
    open_project(qtbot, session, unread.project)
    open_project(qtbot, session, other.project)
    end_late(embedding)
    with qtbot.waitSignal(session.jobs.job_ended, timeout=LONG_MS):
        pass
    qtbot.waitUntil(lambda: embedding.job is None, timeout=LONG_MS)
    settle(qtbot, session)
    assert failures == []
    assert session.state is not None
    assert not np.any(session.state.status == ImageStatus.FAILED)


def test_a_person_can_stop_what_follows_too(qtbot: QtBot, session: Session, unread: Collection) -> None:
    """F5 while images are read asks for another round; a stop afterwards ends both."""
    player = Player(["wait"])
    embedding = Embedding(session, player)
    open_project(qtbot, session, unread.project)
    embedding.start()
    embedding.cancel()
    qtbot.waitUntil(lambda: embedding.job is None, timeout=LONG_MS)
    assert len(player.requests) == 1


def test_nothing_begins_while_the_program_ends(qtbot: QtBot, session: Session, unread: Collection) -> None:
    """A device was chosen and the window closed at once: no worker is left behind."""
    player = Player(["wait"], ["wait"])
    embedding = Embedding(session, player)
    open_project(qtbot, session, unread.project)
    embedding.use_device("cpu")
    session.shut_down()
    assert [job.process_id for job in session.jobs.jobs if hasattr(job, "process_id") and job.process_id] == []
