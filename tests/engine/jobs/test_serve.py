"""Worker mode: JSON lines in and out, cancel by a line or by silence, sudden death."""

import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from engine.errors import StorageError
from engine.events import CancelToken, Progress
from engine.jobs.serve import EventWriter, Verb, run_worker
from engine.project import Project
from tests.support.collections import Collection, cache_of_test
from tests.support.unread import UNREAD_IMAGES, embed_request, unread_collection

WAIT_S: Final = 30
Event = Mapping[str, Any]


@pytest.fixture
def unread(own_caches: None, tmp_path: Path) -> Collection:
    """A project whose images were never read."""
    return unread_collection(tmp_path / "unread", cache_of_test())


@pytest.fixture
def worker() -> Iterator[subprocess.Popen[str]]:
    """A worker that waits for its job."""
    process = subprocess.Popen(
        [sys.executable, "-m", "engine.jobs.serve"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
    )  # fmt: skip
    with process:
        yield process
        process.kill()


def say(worker: "subprocess.Popen[str]", line: str) -> None:
    """Write a line to a worker."""
    assert worker.stdin is not None
    worker.stdin.write(line + "\n")
    worker.stdin.flush()


def events_of(text: str) -> list[Event]:
    """Every line is one event."""
    return [json.loads(line) for line in text.splitlines()]


def lines(*parts: str) -> Iterator[bytes]:
    """Standard input that ends after these lines."""
    return iter([part.encode() + b"\n" for part in parts])


def test_every_image_is_told_in_json_lines(worker: "subprocess.Popen[str]", unread: Collection) -> None:
    """Progress, batches and one result; the worker itself writes nothing into the project."""
    say(worker, json.dumps(embed_request(unread)))
    assert worker.stdout is not None
    events: list[Event] = []
    while not events or events[-1]["event"] in {"progress", "batch"}:
        events.append(json.loads(worker.stdout.readline()))
    assert worker.wait(WAIT_S) == 0
    rows = [row for event in events if event["event"] == "batch" for row in event["results"]]
    with Project.open(unread.project) as project:
        table = project.image_table()
        assert sorted(row[0] for row in rows) == list(table.ids)
        assert set(table.content_hashes) == {None}
    progress = [event for event in events if event["event"] == "progress"]
    assert progress[-1]["done"] == progress[-1]["total"] == UNREAD_IMAGES
    assert events[-1]["event"] == "result"
    assert (events[-1]["embedded"], events[-1]["failed"]) == (UNREAD_IMAGES, 0)


def test_a_closed_standard_input_stops_it(worker: "subprocess.Popen[str]", unread: Collection) -> None:
    """When the window has died nobody waits for the result: the worker stops by itself, without a fuss."""
    out, err = worker.communicate(json.dumps(embed_request(unread)) + "\n", timeout=WAIT_S)
    assert worker.returncode == 0
    assert events_of(out)[-1] == {"event": "cancelled"}
    assert "Traceback" not in err


def test_a_second_run_takes_what_the_first_one_kept(unread: Collection) -> None:
    """What was finished before is not done again, whoever was stopped in between."""
    for embedded in (UNREAD_IMAGES, 0):
        out = io.StringIO()
        never_ending = threading.Event()
        stdin = waiting_after(json.dumps(embed_request(unread)), never_ending)
        assert run_worker(stdin, out) == 0
        never_ending.set()
        assert events_of(out.getvalue())[-1]["embedded"] == embedded


def waiting_after(line: str, end: threading.Event) -> Iterator[bytes]:
    """Standard input that stays open until `end`."""
    yield line.encode() + b"\n"
    end.wait(WAIT_S)


def test_a_killed_worker_leaves_project_and_cache_sound(worker: "subprocess.Popen[str]", unread: Collection) -> None:
    """SIGKILL in the middle: the project has no scratch, and the next run finishes the work."""
    say(worker, json.dumps(embed_request(unread)))
    assert worker.stdout is not None
    worker.stdout.readline()
    worker.send_signal(signal.SIGKILL)
    worker.wait(WAIT_S)
    with Project.open(unread.project) as project:
        assert project.check() == []
    end, out = threading.Event(), io.StringIO()
    assert run_worker(waiting_after(json.dumps(embed_request(unread)), end), out) == 0
    end.set()
    result = events_of(out.getvalue())[-1]
    assert result["embedded"] + result["from_cache"] == UNREAD_IMAGES


def test_a_cancel_line_stops_the_verb() -> None:
    """The word "cancel" reaches the running job as a cancel token; other lines do not."""
    heard: list[bool] = []

    def verb(_job: Event, _events: EventWriter, cancel: CancelToken) -> Event:
        heard.append(cancel._event.wait(WAIT_S))
        cancel.raise_if_cancelled()
        return {}

    end = threading.Event()

    def stdin() -> Iterator[bytes]:
        yield b'{"verb": "try"}\n'
        yield b"hello\n"
        yield b"cancel\n"
        end.wait(WAIT_S)

    out = io.StringIO()
    assert run_worker(stdin(), out, {"try": verb}) == 0
    end.set()
    assert (heard, events_of(out.getvalue())) == ([True], [{"event": "cancelled"}])


def test_progress_and_batches_are_plain(tmp_path: Path) -> None:
    """Hashes travel as hex, failures as text, names in any script as they are."""

    def verb(job: Event, events: EventWriter, _cancel: CancelToken) -> Event:
        events.progress(Progress(1, 2, rate_per_s=3.5, note="CPU"))
        events.batch([(7, b"\x01\xff", None), (8, None, "kein Bild: 蓝.jpg")])
        return {"name": job["name"]}

    out = io.StringIO()
    assert run_worker(lines(json.dumps({"verb": "try", "name": "叶"})), out, {"try": verb}) == 0
    first, second, third = events_of(out.getvalue())
    assert (first["event"], first["done"], first["total"], first["note"]) == ("progress", 1, 2, "CPU")
    assert second == {"event": "batch", "results": [[7, "01ff", None], [8, None, "kein Bild: 蓝.jpg"]]}
    assert third == {"event": "result", "name": "叶"}


def test_a_refusal_is_one_error_event() -> None:
    """What the engine refuses is a sentence, and the exit status says it failed."""

    def verb(_job: Event, _events: EventWriter, _cancel: CancelToken) -> Event:
        raise StorageError("the disk is full", remedy="make room")

    out = io.StringIO()
    assert run_worker(lines('{"verb": "try"}'), out, {"try": verb}) == 1
    assert events_of(out.getvalue()) == [{"event": "error", "message": "the disk is full. Make room"}]


def test_a_path_that_is_no_unicode_is_told(unread: Collection) -> None:
    """An error about it arrives as an event, and a result keeps the very bytes of the path."""
    path = os.fsdecode(b"/pictures/m\xf6we.protoleaf")

    def verb(_job: Event, _events: EventWriter, _cancel: CancelToken) -> Event:
        return {"project": path}

    buffer = io.BytesIO()
    with io.TextIOWrapper(buffer, encoding="utf-8", write_through=True) as out:
        assert run_worker(lines('{"verb": "try"}'), out, {"try": verb}) == 0
        request = dict(embed_request(unread)) | {"project": path}
        assert run_worker(lines(json.dumps(request)), out) == 1
        result, error = events_of(buffer.getvalue().decode("ascii"))
    assert result == {"event": "result", "project": path}
    assert error["event"] == "error"
    assert path in error["message"]


@pytest.mark.parametrize("line", ["", "hello", "[1]", "7", '{"verb": "fly"}', '{"project": "x"}', '{"verb": []}'])
def test_what_is_no_job_is_refused(line: str) -> None:
    """Anything but a known job ends with status 2 and a sentence."""
    verbs: Mapping[str, Verb] = {"try": lambda _job, _events, _cancel: {}}
    out = io.StringIO()
    assert run_worker(lines(line), out, verbs) == 2
    (event,) = events_of(out.getvalue())
    assert event["event"] == "error"
    assert "\n" not in event["message"]


def test_a_missing_project_is_a_sentence(unread: Collection) -> None:
    """The window asked for a file that is gone by now."""
    out = io.StringIO()
    request = dict(embed_request(unread)) | {"project": str(unread.folder / "gone.protoleaf")}
    assert run_worker(lines(json.dumps(request)), out) == 1
    assert "gone.protoleaf" in events_of(out.getvalue())[-1]["message"]
