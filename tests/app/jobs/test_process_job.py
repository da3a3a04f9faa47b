"""A job in a child process: the real worker, and children that behave badly."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.jobs.job import JobState
from app.jobs.process_job import ProcessJob
from engine.events import Progress
from engine.project import Project
from tests.support.collections import Collection
from tests.support.sessions import LONG_MS, recorded
from tests.support.unread import UNREAD_IMAGES, embed_request

READS_THE_JOB = "import json, sys, time; job = json.loads(sys.stdin.readline())\n"


def scripted(program: str, owner: QObject, *, cancel_grace_ms: int = 5_000) -> ProcessJob:
    """A job whose child runs a few lines of Python."""
    command = [sys.executable, "-S", "-c", READS_THE_JOB + program]
    return ProcessJob("Trying", {"verb": "try", "value": 7}, command, cancel_grace_ms=cancel_grace_ms, parent=owner)


def run_to_end(qtbot: QtBot, job: ProcessJob) -> None:
    """Start a job and wait for its end."""
    with qtbot.waitSignal(job.ended, timeout=LONG_MS):
        job.start()


@pytest.fixture
def owner(qapp: object) -> QObject:
    """Keeps a job for the length of a test."""
    return QObject()


def test_the_real_worker_embeds_every_image(qtbot: QtBot, owner: QObject, unread: Collection) -> None:
    """A child process reads a dozen images: progress, a result for each image, and figures at the end."""
    job = ProcessJob("Looking at images", embed_request(unread), parent=owner)
    batches, progress, finished = recorded(job.batch), recorded(job.progress), recorded(job.finished)
    run_to_end(qtbot, job)
    assert (job.state, job.error) == (JobState.DONE, "")
    rows: list[Any] = [row for (batch,) in batches for row in batch]  # type: ignore[attr-defined]
    with Project.open(unread.project, for_writing=False) as project:
        assert sorted(row[0] for row in rows) == list(project.image_table().ids)
    assert all(len(bytes.fromhex(row[1])) and row[2] is None for row in rows)
    assert isinstance(progress[-1][0], Progress)
    assert (progress[-1][0].done, progress[-1][0].total) == (UNREAD_IMAGES, UNREAD_IMAGES)
    assert finished[0][0]["embedded"] == UNREAD_IMAGES  # type: ignore[index]


def test_the_real_worker_listens_to_a_cancel(qtbot: QtBot, owner: QObject, unread: Collection) -> None:
    """A job that is cancelled right after its start ends as cancelled, and the project is as it was."""
    job = ProcessJob("Looking at images", embed_request(unread), parent=owner)
    ends = recorded(job.finished), recorded(job.failed), recorded(job.cancelled)
    job.started.connect(job.cancel)
    run_to_end(qtbot, job)
    assert job.state is JobState.CANCELLED
    assert [len(said) for said in ends] == [0, 0, 1]
    with Project.open(unread.project) as project:
        assert project.check() == []


def test_an_event_without_its_fields_costs_nothing_else(qtbot: QtBot, owner: QObject) -> None:
    """What cannot be read is passed over, and the lines after it count."""
    lines = ('{"event": "progress"}', '{"event": "batch"}', '{"event": "error"}', '{"event": "result", "value": 7}')
    job = scripted(f"print({chr(10).join(lines)!r}, flush=True)", owner)
    finished = recorded(job.finished)
    run_to_end(qtbot, job)
    assert finished == [({"value": 7},)]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_path_that_is_no_unicode_is_a_message(qtbot: QtBot, owner: QObject, unread: Collection) -> None:
    """The real worker fails on a project whose name is old bytes: a sentence in which the name can be recognised."""
    request = dict(embed_request(unread)) | {"project": os.fsdecode(os.fsencode(unread.folder) + b"/m\xf6we.protoleaf")}
    job = ProcessJob("Looking at images", request, parent=owner)
    failed = recorded(job.failed)
    run_to_end(qtbot, job)
    assert len(failed) == 1
    assert "m\\xf6we.protoleaf" in str(failed[0][0])
    assert failed == [(job.error,)]


def test_a_killed_worker_is_a_sentence(qtbot: QtBot, owner: QObject) -> None:
    """A child that dies (out of memory, a driver's fault) fails the job with one line that says what to do."""
    job = scripted('print(\'{"event": "batch", "results": [[1, null, null]]}\', flush=True); time.sleep(60)', owner)
    batches = recorded(job.batch)
    job.batch.connect(lambda _rows: os.kill(job.process_id, signal.SIGKILL))
    run_to_end(qtbot, job)
    assert job.state is JobState.FAILED
    assert "Trying" in job.error
    assert "start it again" in job.error
    assert batches == [([[1, None, None]],)]


def test_an_exit_without_a_result_is_a_sentence(qtbot: QtBot, owner: QObject) -> None:
    """A child that ends by itself without a word has failed too."""
    job = scripted("sys.exit(3)", owner)
    run_to_end(qtbot, job)
    assert job.state is JobState.FAILED
    assert "ended unexpectedly" in job.error


def test_the_workers_own_sentence_is_shown(qtbot: QtBot, owner: QObject, unread: Collection) -> None:
    """What the engine says about a missing project reaches the person as it is."""
    request = dict(embed_request(unread)) | {"project": str(unread.folder / "gone.protoleaf")}
    job = ProcessJob("Looking at images", request, parent=owner)
    run_to_end(qtbot, job)
    assert job.state is JobState.FAILED
    assert "gone.protoleaf" in job.error
    assert "\n" not in job.error


def test_the_request_arrives_and_the_result_comes_back(qtbot: QtBot, owner: QObject) -> None:
    """Plain data in, plain data out; lines that are no events are passed over."""
    program = (
        "print('a library says hello'); print('[1, 2]')\n"
        "print(json.dumps({'event': 'progress', 'done': 3, 'total': 4}))\n"
        "print(json.dumps({'event': 'result', 'value': job['value'] + 1}))\n"
    )
    job = scripted(program, owner)
    finished, progress = recorded(job.finished), recorded(job.progress)
    run_to_end(qtbot, job)
    assert finished == [({"value": 8},)]
    assert progress == [(Progress(3, 4),)]


def test_a_deaf_worker_is_ended(qtbot: QtBot, owner: QObject) -> None:
    """A child that does not listen to a cancel is killed after its grace, and the job counts as cancelled."""
    job = scripted("time.sleep(60)", owner, cancel_grace_ms=1)
    job.started.connect(job.cancel)
    run_to_end(qtbot, job)
    assert job.state is JobState.CANCELLED


def test_a_cancel_that_comes_too_late_loses_no_result(qtbot: QtBot, owner: QObject) -> None:
    """When the child has finished all the same, the job is done."""
    job = scripted("sys.stdin.readline(); print(json.dumps({'event': 'result'}))", owner)
    job.started.connect(job.cancel)
    run_to_end(qtbot, job)
    assert job.state is JobState.DONE


def test_a_program_that_is_not_there_fails(qtbot: QtBot, owner: QObject, tmp_path: Path) -> None:
    """A command that cannot start is one sentence, said once."""
    job = ProcessJob("Trying", {}, [str(tmp_path / "nothing here")], parent=owner)
    failed = recorded(job.failed)
    run_to_end(qtbot, job)
    assert len(failed) == 1
    assert "could not start" in job.error


def test_stopping_ends_the_child_before_the_program(qtbot: QtBot, owner: QObject) -> None:
    """After `stop` no child is left, whatever it was doing."""
    job = scripted("sys.stdin.read()", owner)
    with qtbot.waitSignal(job.started, timeout=LONG_MS):
        job.start()
    job.stop()
    assert job.process_id == 0
    assert job.state is JobState.CANCELLED


def test_a_child_is_told_to_report_nothing(qtbot: QtBot, owner: QObject) -> None:
    """Its environment is made by hand; what libraries must know is in it before the child imports anything of ours."""
    told = "{name: os.environ[name] for name in ('ORT_DISABLE_TELEMETRY', 'MPLCONFIGDIR')}"
    job = scripted(f"import os; print(json.dumps({{'event': 'result', **{told}}}))", owner)
    finished = recorded(job.finished)
    run_to_end(qtbot, job)
    assert finished == [({"ORT_DISABLE_TELEMETRY": "1", "MPLCONFIGDIR": os.environ["MPLCONFIGDIR"]},)]
