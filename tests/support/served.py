"""A worker's loop in this process, with its request and answers."""

import io
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, final

from engine.events import Progress
from engine.jobs import Embedder
from engine.jobs import handlers as all_handlers
from engine.worker.protocol import Cancel, Failed, Request, Stopped, answers_to, encode, read
from engine.worker.serve import Handlers, serve

WAIT_S = 60


@dataclass(frozen=True)
class Served:
    """Result of a request.

    Attributes:
        status: exit status of the worker.
        events: with progress.
        ending: the last message.
    """

    status: int
    events: tuple[Any, ...]
    ending: Any

    def of(self, kind: type) -> list[Any]:
        """Events of a type."""
        return [event for event in self.events if isinstance(event, kind)]


@final
class _Output(io.RawIOBase):
    """Standard output that decodes messages."""

    def __init__(self, request: Request[Any], on_message: Callable[[Any], None]) -> None:
        self.messages: list[Any] = []
        self._types = answers_to(request)
        self._on_message = on_message

    def write(self, line: Any) -> int:
        message = read(bytes(line)).message(*self._types)
        self.messages.append(message)
        self._on_message(message)
        return len(line)


def served(
    request: Request[Any],
    *,
    cancel_at: Callable[[Any], bool] = lambda _message: False,
    is_alone: bool = False,
    handlers: Handlers | None = None,
) -> Served:
    """Send one request to a worker in this process; processes that it starts are real.

    Args:
        request: the request.
        cancel_at: whether to cancel the request after this message.
        is_alone: close the input at once.
        handlers: by default those of the program.
    """
    is_cancelled, is_over = threading.Event(), threading.Event()

    def follow(message: Any) -> None:
        if cancel_at(message):
            is_cancelled.set()
        if isinstance(message, request.result_type | Failed | Stopped):
            is_cancelled.set()
            is_over.set()

    def stdin() -> Iterator[bytes]:
        yield encode(1, request)
        if not is_alone:
            assert is_cancelled.wait(WAIT_S)
            if not is_over.is_set():
                yield encode(1, Cancel())
            assert is_over.wait(WAIT_S)

    output = _Output(request, follow)
    try:
        status = serve(stdin(), output, handlers or all_handlers(Embedder()))  # type: ignore[arg-type]
    finally:
        is_cancelled.set()
        is_over.set()
    *events, ending = output.messages
    return Served(status, tuple(events), ending)


def is_progress(message: object) -> bool:
    """Whether a message is progress."""
    return isinstance(message, Progress)
