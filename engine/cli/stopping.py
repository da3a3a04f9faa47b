"""Ctrl+C and polite kills: a command ends with one line and the usual status, whenever they come.

Work that can stop at a safe point does so when it is asked once; asked twice, it stops at once.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from engine.errors import Cancelled
from engine.events import CancelToken

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_OF_A_SIGNAL: Final = 128
"""A shell adds this to the number of the signal that ended a command."""
_received: Final[list[int]] = []


@contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """Raise `KeyboardInterrupt` for Ctrl+C and for a polite kill; in another than the main thread, do nothing."""
    _received.clear()
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, _interrupt) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def stop_status() -> int:
    """Exit status after a stop: 130 for Ctrl+C, 143 for a polite kill."""
    return _OF_A_SIGNAL + (_received[-1] if _received else signal.SIGINT)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    _received.append(number)
    raise KeyboardInterrupt


@contextmanager
def stoppable(remedy: str) -> Iterator[CancelToken]:
    """Turn the first Ctrl+C, or a polite kill, into a token that is cancelled.

    Args:
        remedy: what the person can do to go on, for the message when the work has stopped.

    Yields:
        The token; it asks the work to stop.
    """
    token = CancelToken()
    before = {number: signal.getsignal(number) for number in SIGNALS}

    def ask(number: int, _frame: FrameType | None) -> None:
        _received.append(number)
        token.cancel()
        signal.signal(number, _interrupt)

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
