"""Jobs in a child process: the real worker, and misbehaving children."""

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.jobs.job import JobState
from app.jobs.process_job import ProcessJob
from engine.config import log_folder
from engine.embedding.messages import EmbedBatch, EmbedSummary
from engine.events import Progress
from engine.project import Project
from engine.runtime.devices.child import Speed, TryDevice
from engine.runtime.devices.reasons import Attempt
from engine.worker.protocol import Failed
from tests.support.collections import Collection
from tests.support.scripted_workers import Step, scripted_command
from tests.support.sessions import LONG_MS, recorded
from tests.support.unread import UNREAD_IMAGES, embed_request

ATTEMPT = Attempt(works=True)


def scripted(owner: QObject, *script: Step) -> ProcessJob:
    """A job whose child process plays a script."""
    return ProcessJob("Trying", TryDevice("cpu"), scripted_command(script), parent=owner)


def running(program: str, owner: QObject, *, cancel_grace_ms: int = 5_000) -> ProcessJob:
    """A job whose child process runs a few lines of Python."""
    command = [sys.executable, "-S", "-c", "import sys, time; sys.stdin.readline()\n" + program]
    return ProcessJob(
        "Trying", TryDevice("cpu"), command, cancel_grace_ms=cancel_grace_ms, parent=owner
    )


def run_to_end(qtbot: QtBot, job: ProcessJob) -> None:
    """Start a job and wait for its end."""
    with qtbot.waitSignal(job.ended, timeout=LONG_MS):
        job.start()


@pytest.fixture
def owner(qapp: object) -> QObject:
    """The parent of the jobs of a test."""
    return QObject()


@pytest.mark.slow
def test_the_real_worker_embeds_every_image(
    qtbot: QtBot, owner: QObject, unread: Collection
) -> None:
    """A dozen images: progress, a result for each image, and the speed at the end."""
    job = ProcessJob("Analysing images", embed_request(unread), parent=owner)
    batches, progress, finished = (
        recorded(job.event_came),
        recorded(job.progress),
        recorded(job.finished),
    )
    run_to_end(qtbot, job)
    assert (job.state, job.error) == (JobState.DONE, "")
    rows = [row for (batch,) in batches if isinstance(batch, EmbedBatch) for row in batch.results]
    with Project.open(unread.project, for_writing=False) as project:
        assert sorted(row.image_id for row in rows) == list(project.images.table().ids)
    assert all(row.content_hash and row.failure is None for row in rows)
    assert isinstance(progress[-1][0], Progress)
    assert (progress[-1][0].done, progress[-1][0].total) == (UNREAD_IMAGES, UNREAD_IMAGES)
    ((embedded,),) = finished
    assert isinstance(embedded, EmbedSummary)
    assert embedded.embedded == UNREAD_IMAGES


@pytest.mark.slow
def test_the_real_worker_listens_to_a_cancel(
    qtbot: QtBot, owner: QObject, unread: Collection
) -> None:
    """Cancelled right after its start, it ends as cancelled, and the project is unchanged."""
    job = ProcessJob("Analysing images", embed_request(unread), parent=owner)
    ends = recorded(job.finished), recorded(job.failed), recorded(job.cancelled)
    job.started.connect(job.cancel)
    run_to_end(qtbot, job)
    assert job.state is JobState.CANCELLED
    assert [len(emitted) for emitted in ends] == [0, 0, 1]
    with Project.open(unread.project) as project:
        assert project.check() == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_path_that_is_no_unicode_is_a_message(
    qtbot: QtBot, owner: QObject, unread: Collection
) -> None:
    """A backbone whose name is not valid UTF-8 fails with a sentence that shows the name."""
    path = Path(os.fsdecode(os.fsencode(unread.folder) + b"/m\xf6we.onnx"))
    job = ProcessJob(
        "Analysing images", replace(embed_request(unread), backbone=path), parent=owner
    )
    failed = recorded(job.failed)
    run_to_end(qtbot, job)
    assert len(failed) == 1
    assert "m\\xf6we.onnx" in str(failed[0][0])
    assert failed == [(job.error,)]


def test_a_killed_worker_is_a_sentence(qtbot: QtBot, owner: QObject) -> None:
    """A child that is killed (out of memory, driver fault) fails the job with one line."""
    job = scripted(owner, ATTEMPT, "wait")
    events = recorded(job.event_came)
    job.event_came.connect(lambda _event: os.kill(job.process_id, signal.SIGKILL))
    run_to_end(qtbot, job)
    assert job.state is JobState.FAILED
    assert "Trying" in job.error
    assert "start it again" in job.error
    assert events == [(ATTEMPT,)]


def test_an_exit_without_a_result_is_a_sentence(qtbot: QtBot, owner: QObject) -> None:
    """A child that exits without a result has failed; its standard error is kept as details."""
    job = running("sys.stderr.write('RuntimeError: no driver'); sys.exit(3)", owner)
    run_to_end(qtbot, job)
    assert job.state is JobState.FAILED
    assert "ended unexpectedly" in job.error
    assert job.details == "status 3\nRuntimeError: no driver"


@pytest.mark.parametrize(
    ("failure", "message"), [("the disk is full", "the disk is full"), ("", "ended unexpectedly")]
)
def test_a_failure_is_a_sentence_and_keeps_the_traceback(
    qtbot: QtBot, owner: QObject, failure: str, message: str
) -> None:
    """The engine's message is passed on; a bug is marked, with its traceback for the report."""
    traceback = "" if failure else "Traceback (most recent call last):\nKeyError: 7"
    job = scripted(owner, Failed(failure, traceback))
    run_to_end(qtbot, job)
    assert job.state is JobState.FAILED
    assert message in job.error
    assert job.details == traceback


FAILING_WORKER = """
import sys
from engine.runtime.devices.child import TryDevice
from engine.worker.serve import serve_standard_streams

def fail(request, tell, cancel):
    raise LookupError("no such leaf")

sys.exit(serve_standard_streams({TryDevice: fail}))
"""


@pytest.mark.slow
def test_a_bug_of_a_worker_is_in_both_logs(
    qtbot: QtBot, owner: QObject, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bug is logged with its traceback by worker and window."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    job = ProcessJob(
        "Trying", TryDevice("cpu"), [sys.executable, "-c", FAILING_WORKER], parent=owner
    )
    run_to_end(qtbot, job)
    written = (log_folder() / "worker-1.log").read_text(encoding="utf-8")
    for log in (written, caplog.text):
        assert "Traceback (most recent call last)" in log
        assert "LookupError: no such leaf" in log
    assert job.state is JobState.FAILED


def test_events_and_the_result_come_in_order(qtbot: QtBot, owner: QObject) -> None:
    """Events and result arrive as typed objects, in order."""
    job = scripted(owner, Progress(3, 4), ATTEMPT, Speed({"images_per_s": 9.5}))
    emitted: list[object] = []
    for signal_of_job in (job.progress, job.event_came, job.finished):
        signal_of_job.connect(emitted.append)
    run_to_end(qtbot, job)
    assert emitted == [Progress(3, 4), ATTEMPT, Speed({"images_per_s": 9.5})]


def test_lines_that_are_no_messages_cost_nothing_else(qtbot: QtBot, owner: QObject) -> None:
    """They are skipped, and later messages are read."""
    command = scripted_command([Speed()])
    noise = (
        "print('a library says hello'); print('[1, 2]'); "
        'print(\'{"event": "progress"}\', flush=True)\n'
    )
    job = ProcessJob(
        "Trying", TryDevice("cpu"), [*command[:3], noise + command[3], *command[4:]], parent=owner
    )
    finished = recorded(job.finished)
    run_to_end(qtbot, job)
    assert finished == [(Speed(),)]


def test_a_deaf_worker_is_ended(qtbot: QtBot, owner: QObject) -> None:
    """A child that ignores a cancel is killed after the grace period; the job is cancelled."""
    job = running("time.sleep(60)", owner, cancel_grace_ms=1)
    job.started.connect(job.cancel)
    run_to_end(qtbot, job)
    assert job.state is JobState.CANCELLED


def test_a_cancel_that_comes_too_late_loses_no_result(qtbot: QtBot, owner: QObject) -> None:
    """A child that finishes after a cancel completes the job."""
    job = scripted(owner, Progress(1, 2), Speed())
    job.progress.connect(job.cancel)
    run_to_end(qtbot, job)
    assert job.state is JobState.DONE


def test_a_program_that_is_not_there_fails(qtbot: QtBot, owner: QObject, tmp_path: Path) -> None:
    """A command that cannot start gives one error."""
    job = ProcessJob("Trying", TryDevice("cpu"), [str(tmp_path / "nothing here")], parent=owner)
    failed = recorded(job.failed)
    run_to_end(qtbot, job)
    assert len(failed) == 1
    assert "could not start" in job.error


def test_stopping_ends_the_child_before_the_program(qtbot: QtBot, owner: QObject) -> None:
    """After `stop` no child process is left."""
    job = scripted(owner, "wait")
    with qtbot.waitSignal(job.started, timeout=LONG_MS):
        job.start()
    job.stop()
    assert job.process_id == 0
    assert job.state is JobState.CANCELLED


def test_a_child_is_instructed_to_report_nothing(qtbot: QtBot, owner: QObject) -> None:
    """Telemetry is disabled in the environment of the child, before any import."""
    job = running("import os; sys.exit(os.environ['ORT_DISABLE_TELEMETRY'])", owner)
    run_to_end(qtbot, job)
    assert job.details.split("\n")[1] == "1"
