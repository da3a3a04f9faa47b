"""What a person does while another project is being opened never reaches that one."""

import threading
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.session import Session
from app.session.opening import open_collection
from engine.collection.live import LiveCollection
from engine.project import Project
from tests.support.collections import Collection
from tests.support.sessions import LONG_MS, create_project, open_project, recorded, settle


@pytest.fixture
def leaving(
    qtbot: QtBot, session: Session, collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> threading.Event:
    """The collection is shown while an older project is opened, which takes until the event is set."""
    create_project(qtbot, session, tmp_path / "older.protoleaf")
    open_project(qtbot, session, collection.project)
    may_go_on = threading.Event()

    def open_slowly(*given: object, **named: object) -> LiveCollection:
        may_go_on.wait(LONG_MS / 1000)
        return open_collection(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr("app.session.session.open_collection", open_slowly)
    session.open(tmp_path / "older.protoleaf")
    return may_go_on


def test_an_action_is_for_the_project_that_is_shown(
    qtbot: QtBot, session: Session, leaving: threading.Event, tmp_path: Path
) -> None:
    """A key that was pressed meanwhile changes neither project, and a question gets no answer from the wrong one."""
    answers: list[str] = []
    changes, failed = recorded(session.change_made), recorded(session.failed)
    session.act(lambda project: project.classes.add("Meant for the collection")[0])
    session.undo()
    session.ask(lambda live: live.project.path.stem, answers.append, owner=session)
    with qtbot.waitSignal(session.loaded, timeout=LONG_MS):
        leaving.set()
    settle(qtbot, session)
    assert (answers, changes, failed) == ([], [], [])
    assert session.info is not None
    assert session.info.path == tmp_path / "older.protoleaf"
    assert len(session.graph) == 0


def test_long_work_for_a_project_that_was_left_is_cancelled(
    qtbot: QtBot, session: Session, leaving: threading.Event
) -> None:
    """An import goes where the person saw it go, or nowhere."""
    worked_on: list[object] = []
    job = session.run_long(
        lambda live, _on_progress, _cancel: worked_on.append(live), title="Importing", change_of=lambda _done: None
    )
    ends = recorded(job.cancelled)
    with qtbot.waitSignal(session.loaded, timeout=LONG_MS):
        leaving.set()
    qtbot.waitUntil(lambda: not session.jobs.jobs, timeout=LONG_MS)
    assert (worked_on, len(ends)) == ([], 1)


def test_an_action_is_done_when_the_other_project_cannot_be_opened(
    qtbot: QtBot, session: Session, leaving: threading.Event, collection: Collection, tmp_path: Path
) -> None:
    """Then the project that is shown stays, and nothing a person did is lost."""
    (tmp_path / "older.protoleaf").unlink()
    with qtbot.waitSignals([session.failed, session.change_made], timeout=LONG_MS):
        session.act(lambda project: project.classes.add("Yellow")[0])
        leaving.set()
    session.shut_down()
    with Project.open(collection.project) as project:
        assert project.classes.graph.find("Yellow")
