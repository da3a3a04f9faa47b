"""Server side of workers: reads requests from standard input, answers on standard output.

The end of standard input cancels the request in progress and ends the process: its parent has died.
"""

import logging
import os
import queue
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, final

from engine.errors import Cancelled, ProtoleafError
from engine.events import CancelToken
from engine.full_disk import as_full_disk
from engine.log import ProcessKind, logging_to_file
from engine.new_folder import clear_abandoned
from engine.priority import lower_process_priority
from engine.worker.protocol import Cancel, Failed, Request, Stopped, encode, read

_log = logging.getLogger(__name__)

Send = Callable[[object], None]  # sends an event; safe from any thread
# sends events while it works, and returns the result
Handler = Callable[[Any, Send, CancelToken], object]
Handlers = Mapping[type[Request[Any]], Handler]

NOT_A_REQUEST = 2  # exit status after a line that is not a request


@final
class _Requests:
    """Requests that were read and not answered yet; reads on a thread of its own."""

    def __init__(self, stdin: Iterator[bytes], known: tuple[type[Any], ...]) -> None:
        self._stdin = stdin
        self._known = known
        self._tokens: dict[int, CancelToken] = {}
        self._waiting: queue.SimpleQueue[tuple[int, Request[Any] | ProtoleafError | None]] = (
            queue.SimpleQueue()
        )
        threading.Thread(target=self._listen, name="listener", daemon=True).start()

    def next(self) -> tuple[int, Request[Any] | ProtoleafError | None]:
        """Wait for the next request; None at the end, and an error for an invalid one."""
        return self._waiting.get()

    def token(self, number: int) -> CancelToken:
        """The token of a request; a cancel may have come before."""
        return self._tokens.setdefault(number, CancelToken())

    def forget(self, number: int) -> None:
        self._tokens.pop(number, None)

    def _listen(self) -> None:
        try:
            for line in self._stdin:
                self._take(line)
        except ProtoleafError as error:
            self._waiting.put((0, error))
        finally:  # also without memory for the next line: a process that listens no more has to end
            for token in list(self._tokens.values()):
                token.cancel()
            self._waiting.put((0, None))

    def _take(self, line: bytes) -> None:
        envelope = read(line)
        message = envelope.message(Cancel, *self._known)
        if not isinstance(message, Cancel):
            self.token(envelope.number)  # first, so that the end of standard input cancels it, too
            self._waiting.put((envelope.number, message))
        elif (token := self._tokens.get(envelope.number)) is not None:
            token.cancel()


def serve(stdin: Iterator[bytes], stdout: IO[bytes], handlers: Handlers) -> int:
    """Answer requests until standard input ends.

    Returns:
        exit status: 0, 1 when a request failed, `NOT_A_REQUEST` after another line.
    """
    requests, lock, status = _Requests(stdin, tuple(handlers)), threading.Lock(), 0

    def write(number: int, message: object) -> None:
        line = encode(number, message)
        with lock:
            stdout.write(line)
            stdout.flush()

    while True:
        number, request = requests.next()
        if request is None:
            return status
        if isinstance(request, ProtoleafError):
            write(number, Failed.of(request))
            return NOT_A_REQUEST
        answer = _answer(
            request, handlers[type(request)], partial(write, number), requests.token(number)
        )
        requests.forget(number)
        write(number, answer)
        status = 1 if isinstance(answer, Failed) else status


def _answer(request: Request[Any], handler: Handler, send: Send, cancel: CancelToken) -> object:
    try:
        return handler(request, send, cancel)
    except Cancelled:
        return Stopped()
    except Exception as error:  # noqa: BLE001 (the parent logs it, and shows it once)
        places = [value for value in vars(request).values() if isinstance(value, Path)]
        plain = as_full_disk(error, *places)
        if isinstance(plain, ProtoleafError):
            return Failed.of(plain)
        _log.exception("%s failed", type(request).__name__)
        return Failed("", traceback.format_exc())


def serve_standard_streams(handlers: Handlers) -> int:
    """Be a worker until standard input ends."""
    lower_process_priority()
    clear_abandoned()
    # Unbuffered, so that the listening thread holds no lock that the interpreter wants at its end.
    with (
        logging_to_file(ProcessKind.WORKER),
        _own_stdout() as stdout,
        os.fdopen(os.dup(0), "rb", buffering=0) as stdin,
    ):
        return serve(iter(stdin.readline, b""), stdout, handlers)


@contextmanager
def _own_stdout() -> Iterator[IO[bytes]]:
    """Keep standard output for messages: output of libraries goes to standard error instead."""
    with os.fdopen(os.dup(1), "wb") as stdout:
        os.dup2(2, 1)
        yield stdout
