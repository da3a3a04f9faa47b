"""Actions, undo, queries and long-running work."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import shiboken6
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.jobs.job import JobState
from app.session import Session
from app.session.runner import EDITS_REPLAYED_AT_MOST
from engine.collection.importing.import_images import ImageImport, import_images
from engine.collection.state import NO_CLASS, UNKNOWN
from engine.errors import StorageError
from engine.events import CancelToken, OnProgress, Progress
from engine.graph.edits import ClassAdded, EdgeAdded
from engine.project import Change, Project
from tests.support.collections import Collection, write_shape
from tests.support.graphs import content_of
from tests.support.projects import named
from tests.support.sessions import (
    LONG_MS,
    act,
    changed_by,
    open_project,
    recorded,
    refusal_of,
    settle,
)

if TYPE_CHECKING:
    from engine.collection.live import LiveCollection


@pytest.fixture
def opened(qtbot: QtBot, session: Session, collection: Collection) -> Session:
    """A session with the small collection open."""
    open_project(qtbot, session, collection.project)
    return session


def unlabelled(session: Session, count: int = 1) -> list[int]:
    """Some images without a label."""
    assert session.state is not None
    free = session.state.image_ids[session.state.label_class == NO_CLASS]
    return [int(image_id) for image_id in free[:count]]


@pytest.mark.slow
def test_an_action_reaches_mirror_state_and_undo(qtbot: QtBot, opened: Session) -> None:
    """Adding a class emits its edits, which the mirror already contains."""
    edits, undo_states = recorded(opened.graph_changed), recorded(opened.undo_state_changed)
    red = opened.graph.find("Red")
    change = act(qtbot, opened, lambda project: project.classes.add("Red dots", (red,))[0])
    dots = opened.graph.find("Red/Red dots")
    assert edits == [((ClassAdded(dots, "Red dots"), EdgeAdded(red, dots)),)]
    assert change.graph_edits == edits[0][0]
    assert undo_states[-1] == (change.action.command, "")


def test_done_is_called_after_everybody_was_notified(qtbot: QtBot, opened: Session) -> None:
    """The mirror is updated before on_done is called."""
    story: list[str] = []
    opened.change_made.connect(lambda _change: story.append("notified"))
    opened.act(
        lambda project: project.classes.add("Yellow")[0],
        on_done=lambda _change: story.append("done"),
    )
    qtbot.waitUntil(lambda: story == ["notified", "done"], timeout=LONG_MS)
    assert opened.graph.find("Yellow")


@pytest.mark.slow
def test_a_label_teaches_at_once(qtbot: QtBot, opened: Session) -> None:
    """The state has the label and one example more."""
    (image_id,), disc = unlabelled(opened), opened.graph.find("Blue disc")
    assert opened.state is not None
    shots = opened.state.shot_counts[disc]
    act(qtbot, opened, lambda project: project.labels.set([image_id], disc))
    assert opened.state.label_class[opened.state.position(image_id)] == disc
    assert opened.state.shot_counts[disc] == shots + 1
    act(qtbot, opened, lambda project: project.labels.set([image_id], None))
    assert opened.state.label_class[opened.state.position(image_id)] == UNKNOWN
    assert opened.state.shot_counts[disc] == shots


@pytest.mark.slow
def test_undo_and_redo_go_both_ways(qtbot: QtBot, opened: Session) -> None:
    """Undo restores graph and labels, redo repeats them, each reported as a change."""
    image_ids = unlabelled(opened, 3)
    before = content_of(opened.graph)
    act(qtbot, opened, lambda project: project.classes.add("Yellow")[0])
    yellow = opened.graph.find("Yellow")
    after = content_of(opened.graph)
    act(qtbot, opened, lambda project: project.labels.set(image_ids, yellow))
    undo_states = recorded(opened.undo_state_changed)
    changed_by(qtbot, opened, opened.undo)
    changed_by(qtbot, opened, opened.undo)
    assert content_of(opened.graph) == before
    assert undo_states[-1][1] == "Add class Yellow"
    changed_by(qtbot, opened, opened.redo)
    assert content_of(opened.graph) == after
    change = changed_by(qtbot, opened, opened.redo)
    assert set(change.labelled) == set(image_ids)
    assert opened.state is not None
    assert opened.state.shot_counts[yellow] == 3
    assert undo_states[-1] == ("Label 3 images as Yellow", "")


def test_nothing_to_undo_says_nothing(qtbot: QtBot, opened: Session) -> None:
    """Redo without an undone step is neither a change nor a failure."""
    changes, failed = recorded(opened.change_made), recorded(opened.failed)
    opened.redo()
    settle(qtbot, opened)
    assert (changes, failed) == ([], [])


def test_a_refused_action_is_one_line(qtbot: QtBot, opened: Session) -> None:
    """The engine's message is passed on unchanged, and nothing has changed."""
    before = content_of(opened.graph)
    red, disc = opened.graph.find("Red"), opened.graph.find("Red disc")
    line = refusal_of(
        qtbot, opened, lambda: opened.act(lambda project: project.classes.link(disc, [red]))
    )
    assert "Red > Red disc > Red" in line or "Red disc > Red > Red disc" in line
    assert "\n" not in line
    assert content_of(opened.graph) == before


@pytest.mark.slow
def test_a_bug_is_logged_and_reported_once(
    qtbot: QtBot, opened: Session, caplog: pytest.LogCaptureFixture
) -> None:
    """An unexpected error in an action is a sentence for the person and a traceback in the log."""

    def broken(_project: Project) -> Change:
        raise ZeroDivisionError

    line = refusal_of(qtbot, opened, lambda: opened.act(broken))
    assert "ZeroDivisionError" in line
    assert [record.exc_info is not None for record in caplog.records] == [True]
    act(qtbot, opened, lambda project: project.classes.add("Yellow")[0])


def test_actions_before_a_project_is_open_do_nothing(qtbot: QtBot, session: Session) -> None:
    """Without a project nothing happens, and nothing is reported."""
    failed = recorded(session.failed)
    session.act(lambda project: project.classes.add("Yellow")[0])
    session.undo()
    settle(qtbot, session)
    assert failed == []


def test_a_newer_question_drops_the_older_of_its_topic(qtbot: QtBot, opened: Session) -> None:
    """While scrolling, only the last result of a topic arrives; other topics are independent."""
    answers: list[str] = []
    for name in ("first", "second", "third"):
        opened.ask(lambda _live, name=name: name, answers.append, owner=opened, topic="inspector")  # type: ignore[misc]
    opened.ask(lambda _live: "other", answers.append, owner=opened, topic="palette")
    opened.ask(lambda _live: "none 1", answers.append, owner=opened)
    opened.ask(lambda _live: "none 2", answers.append, owner=opened)
    settle(qtbot, opened)
    assert answers == ["third", "other", "none 1", "none 2"]


def test_an_answer_for_a_dead_widget_is_dropped(qtbot: QtBot, opened: Session) -> None:
    """The result for a deleted owner is dropped."""
    answers: list[str] = []
    owner = QObject()
    opened.ask(lambda _live: "late", answers.append, owner=owner)
    shiboken6.delete(owner)
    settle(qtbot, opened)
    assert answers == []


def test_an_answer_about_a_closed_project_is_dropped(qtbot: QtBot, opened: Session) -> None:
    """After closing, results about the old project are dropped."""
    answers: list[str] = []
    with qtbot.waitSignal(opened.closed, timeout=LONG_MS):
        opened.ask(lambda _live: "late", answers.append, owner=opened)
        opened.close()
    settle(qtbot, opened)
    assert answers == []


@pytest.mark.slow
def test_very_many_edits_come_as_a_new_graph(qtbot: QtBot, opened: Session) -> None:
    """Replaying thousands of edits would block the window: the mirror is replaced."""
    edits = recorded(opened.graph_changed)

    def merge(project: Project) -> Change:
        def add(graph: "object") -> None:
            for number in range(EDITS_REPLAYED_AT_MOST + 1):
                getattr(graph, "add_class")(f"class {number}")  # noqa: B009

        return project.classes.edit(add, named("Import many"))

    act(qtbot, opened, merge)
    assert edits == [((),)]
    assert opened.graph.find("class 2000")


def test_long_work_is_a_job_with_a_change(qtbot: QtBot, opened: Session, tmp_path: Path) -> None:
    """Importing a folder is a job; its change is reported before the job ends."""
    write_shape(tmp_path / "new" / "a.png", "Red disc", seed=99)
    story: list[str] = []
    opened.change_made.connect(lambda _change: story.append("change"))
    opened.jobs.job_ended.connect(lambda _job: story.append("ended"))

    def work(live: "LiveCollection", on_progress: OnProgress, cancel: CancelToken) -> ImageImport:
        return import_images(
            live.project, [tmp_path / "new"], on_progress=on_progress, cancel=cancel
        )

    job = opened.run_long(work, title="Looking for images", change_of=lambda done: done.change)
    job.finished.connect(lambda _done: story.append("finished"))
    assert job in opened.jobs.jobs
    qtbot.waitUntil(lambda: story == ["change", "finished", "ended"], timeout=LONG_MS)
    assert opened.state is not None
    assert len(opened.state.image_ids) == 65


@pytest.mark.slow
def test_long_work_can_be_cancelled(qtbot: QtBot, opened: Session) -> None:
    """It stops at its next check; what was stored until then is shown."""
    began: list[Progress] = []

    def work(_live: "LiveCollection", on_progress: OnProgress, cancel: CancelToken) -> None:
        on_progress(Progress(1, 0))
        assert cancel._event.wait(LONG_MS / 1000)  # noqa: SLF001 (the program polls cancel tokens and never waits for them)
        cancel.raise_if_cancelled()

    job = opened.run_long(work, title="Long", change_of=lambda _done: None)
    job.progress.connect(began.append)
    failed = recorded(opened.failed)
    qtbot.waitUntil(lambda: bool(began), timeout=LONG_MS)
    with qtbot.waitSignal(job.cancelled, timeout=LONG_MS):
        job.cancel()
    assert job.state is JobState.CANCELLED
    assert (failed, opened.jobs.jobs) == ([], ())
    act(qtbot, opened, lambda project: project.classes.add("Yellow")[0])


@pytest.mark.slow
def test_long_work_that_fails_is_one_line(qtbot: QtBot, opened: Session) -> None:
    """A full disk is one sentence, and the job has failed."""

    def work(_live: "LiveCollection", _on_progress: OnProgress, _cancel: CancelToken) -> None:
        raise StorageError("the disk is full", remedy="make room")

    with qtbot.waitSignal(opened.failed, timeout=LONG_MS) as blocker:
        job = opened.run_long(work, title="Long", change_of=lambda _done: None)
    assert blocker.args == ["the disk is full. Make room"]
    assert job.state is JobState.FAILED


@pytest.mark.slow
def test_what_a_machine_found_out_is_no_step(qtbot: QtBot, opened: Session) -> None:
    """`take` emits a new state, no change and no undo step; its end is reported even on failure."""
    changes, states, ends = (
        recorded(opened.change_made),
        recorded(opened.state_changed),
        list[str](),
    )
    opened.take(lambda live: live.load(), lambda: ends.append("good"))
    settle(qtbot, opened)
    assert (len(states), changes, ends) == (1, [], ["good"])

    def broken(_live: "LiveCollection") -> object:
        raise StorageError("the disk is full")

    with qtbot.waitSignal(opened.failed, timeout=LONG_MS):
        opened.take(broken, lambda: ends.append("bad"))
    qtbot.waitUntil(lambda: ends == ["good", "bad"], timeout=LONG_MS)
