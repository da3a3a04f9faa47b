"""The worker's loop: requests, results, cancelling by message or end of input."""

import io
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from engine.errors import StorageError
from engine.events import CancelToken, Progress
from engine.worker.protocol import Cancel, Failed, Request, Stopped, encode, read
from engine.worker.serve import NOT_A_REQUEST, Handlers, Send, serve
from tests.support.served import WAIT_S, served


@dataclass(frozen=True)
class Sum:
    """A result."""

    value: int


@dataclass(frozen=True)
class Add(Request[Sum]):
    """A request."""

    first: int
    second: int = 0


def answering(answer: Callable[[Add, Send, CancelToken], Sum]) -> Handlers:
    """A worker with one handler."""
    return {Add: answer}


def added(request: Add, send: Send, _cancel: CancelToken) -> Sum:
    """Add with progress."""
    send(Progress(1, 1))
    return Sum(request.first + request.second)


def until_cancelled(_request: Add, send: Send, cancel: CancelToken) -> Sum:
    """Work until cancelled."""
    send(Progress(0, 1))
    assert cancel._event.wait(WAIT_S)  # noqa: SLF001
    cancel.raise_if_cancelled()
    return Sum(0)


def test_a_request_is_answered() -> None:
    """Events first, then the result."""
    answer = served(Add(1, 2), handlers=answering(added))
    assert (answer.status, answer.events, answer.ending) == (0, (Progress(1, 1),), Sum(3))


def test_requests_are_answered_one_after_the_other() -> None:
    """With the request's number, until standard input ends."""
    out = io.BytesIO()
    assert serve(iter([encode(4, Add(1)), encode(5, Add(2))]), out, answering(added)) == 0
    envelopes = [read(line) for line in out.getvalue().splitlines()]
    results = [(each.number, each.message(Sum).value) for each in envelopes if each.kind == "Sum"]
    assert results == [(4, 1), (5, 2)]


def test_a_cancel_stops_its_request_alone() -> None:
    """A cancel with another number is ignored."""
    out, has_begun = io.BytesIO(), threading.Event()

    def second(request: Add, send: Send, cancel: CancelToken) -> Sum:
        if request.first == 2:
            return Sum(int(cancel.is_cancelled))
        has_begun.set()
        return until_cancelled(request, send, cancel)

    def stdin() -> Iterator[bytes]:
        yield encode(1, Add(1))
        assert has_begun.wait(WAIT_S)
        yield encode(7, Cancel())
        yield encode(1, Cancel())
        yield encode(2, Add(2))

    assert serve(stdin(), out, answering(second)) == 0
    endings = [read(line).message(Stopped, Sum, Progress) for line in out.getvalue().splitlines()]
    assert endings[1] == Stopped()


def test_the_end_of_standard_input_stops_it() -> None:
    """Work for a dead parent is cancelled."""
    answer = served(Add(1), is_alone=True, handlers=answering(until_cancelled))
    assert (answer.status, answer.ending) == (0, Stopped())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_worker_that_cannot_listen_any_more_ends() -> None:
    """The sender learns that the worker has ended."""

    def stdin() -> Iterator[bytes]:
        yield encode(1, Add(1))
        raise MemoryError

    before = set(threading.enumerate())
    assert serve(stdin(), io.BytesIO(), answering(added)) == 0
    for thread in set(threading.enumerate()) - before:
        thread.join()  # raises its exception in this test


def test_a_refusal_is_a_sentence() -> None:
    """An engine error is reported as text, with a failing exit status."""

    def refuse(_request: Add, _send: Send, _cancel: CancelToken) -> Sum:
        raise StorageError("the disk is full", remedy="make room")

    answer = served(Add(1), handlers=answering(refuse))
    assert (answer.status, answer.ending) == (
        1,
        Failed.of(StorageError("the disk is full", remedy="make room")),
    )
    assert isinstance(answer.ending, Failed)
    assert answer.ending.message == "the disk is full. Make room"


def test_a_bug_keeps_its_traceback() -> None:
    """An unexpected exception is reported with its traceback."""

    def fail(_request: Add, _send: Send, _cancel: CancelToken) -> Sum:
        raise KeyError("leaf")

    answer = served(Add(1), handlers=answering(fail))
    assert (answer.status, answer.ending.message) == (1, "")
    assert answer.ending.traceback.startswith("Traceback")
    assert answer.ending.traceback.endswith("KeyError: 'leaf'\n")


@pytest.mark.parametrize(
    "line", [b"hello\n", b"[1]\n", encode(1, Stopped()), encode(1, Progress(1, 2))]
)
def test_what_is_no_request_is_refused(line: bytes) -> None:
    """It ends the worker with a message and a status of its own."""
    out = io.BytesIO()
    assert serve(iter([line]), out, answering(added)) == NOT_A_REQUEST
    (answer,) = out.getvalue().splitlines()
    assert "\n" not in read(answer).message(Failed).message
