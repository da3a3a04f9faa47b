"""The device of embedding jobs: the one that was chosen, at once; and what is told of it."""

from collections.abc import Sequence

import pytest
from pytestqt.qtbot import QtBot

from app.session import Session
from app.session.embedding import Embedding
from tests.support.backbone_tasks import Event, Player, progress
from tests.support.collections import Collection
from tests.support.sessions import LONG_MS, open_project, recorded

NOTICE = "GPU 1 failed (illegal address); the CPU goes on from there"


def result(device: str, *, reason: str = "", notice: str = "") -> dict[str, str]:
    """The worker's last event."""
    return {"event": "result", "device": device, "reason": reason, "notice": notice}


def embedding_with(session: Session, *scripts: Sequence[Event]) -> tuple[Embedding, Player]:
    """Serves the session with jobs that play scripts."""
    player = Player(*scripts)
    return Embedding(session, player), player


def wait_for_end(qtbot: QtBot, embedding: Embedding, player: Player, jobs: int) -> None:
    """Wait until so many jobs were made and none runs."""
    qtbot.waitUntil(lambda: len(player.requests) == jobs and embedding.job is None, timeout=LONG_MS)


def test_a_running_job_goes_on_elsewhere(qtbot: QtBot, session: Session, unread: Collection) -> None:
    """It ends, and the next one asks for the device that was chosen; choosing it again does nothing."""
    embedding, player = embedding_with(session, ["wait"], [result("CPU")])
    open_project(qtbot, session, unread.project)
    assert embedding.job is not None
    embedding.use_device("cpu")
    embedding.use_device("cpu")
    wait_for_end(qtbot, embedding, player, 2)
    assert [request["device"] for request in player.requests] == ["auto", "cpu"]


def test_another_device_is_a_new_attempt_after_a_failure(qtbot: QtBot, session: Session, unread: Collection) -> None:
    """Images still wait when the device did not work."""
    failing = [{"event": "error", "message": "the device cuda cannot be used: there is no driver"}]
    embedding, player = embedding_with(session, failing, [result("CPU")])
    embedding.use_device("cuda")
    failed, said = recorded(embedding.failed), recorded(session.failed)
    open_project(qtbot, session, unread.project)
    wait_for_end(qtbot, embedding, player, 1)
    assert failed == said == [("the device cuda cannot be used: there is no driver",)]
    embedding.use_device("cpu")
    wait_for_end(qtbot, embedding, player, 2)
    assert [request["device"] for request in player.requests] == ["cuda", "cpu"]


def test_a_stop_by_a_person_holds(qtbot: QtBot, session: Session, unread: Collection) -> None:
    """Another device is no reason to go on."""
    embedding, player = embedding_with(session, ["wait"])
    open_project(qtbot, session, unread.project)
    embedding.cancel()
    embedding.use_device("cpu")
    wait_for_end(qtbot, embedding, player, 1)


@pytest.mark.parametrize("tells_at_once", [True, False])
def test_a_notice_is_given_once(qtbot: QtBot, session: Session, unread: Collection, tells_at_once: bool) -> None:
    """As soon as it is known, and not again at the end; the device in use is told all the while."""
    event = progress(3, 12)
    assert isinstance(event, dict)
    first = {**event, "note": "GPU 1"}
    second = {**event, "note": "CPU", "notice": NOTICE if tells_at_once else ""}
    embedding, player = embedding_with(session, [first, second, second, result("CPU", reason="why", notice=NOTICE)])
    notices, told = recorded(embedding.notice_given), recorded(embedding.device_told)
    open_project(qtbot, session, unread.project)
    wait_for_end(qtbot, embedding, player, 1)
    assert notices == [(NOTICE,)]
    assert (told[0], told[-1]) == (("GPU 1", ""), ("CPU", "why"))


def test_a_job_that_ends_well_takes_the_notice_back(qtbot: QtBot, session: Session, unread: Collection) -> None:
    """The next job found the device sound."""
    embedding, player = embedding_with(session, [result("CPU", notice=NOTICE)], [result("GPU 1")])
    notices = recorded(embedding.notice_given)
    open_project(qtbot, session, unread.project)
    wait_for_end(qtbot, embedding, player, 1)
    embedding.start()
    wait_for_end(qtbot, embedding, player, 2)
    assert notices == [(NOTICE,), ("",)]
