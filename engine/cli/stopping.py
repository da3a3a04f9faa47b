"""Ctrl+C for work that can stop at a safe point: asked once, it stops there; asked twice, at once."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from engine.errors import Cancelled
from engine.events import CancelToken


@contextmanager
def stoppable(remedy: str) -> Iterator[CancelToken]:
    """Turn the first Ctrl+C, or a polite kill, into a token that is cancelled.

    Args:
        remedy: what the person can do to go on, for the message when the work has stopped.

    Yields:
        The token; it asks the work to stop.
    """
    token = CancelToken()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def ask(number: int, _frame: FrameType | None) -> None:
        token.cancel()
        signal.signal(number, signal.default_int_handler)

    for number in before:
        signal.signal(number, ask)
    try:
        yield token
    except Cancelled as stopped:
        stopped.remedy = remedy
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
