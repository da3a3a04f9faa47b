"""Ctrl+C and polite kills: a command ends with one line and the usual status, whenever they come.

Work that can stop at a safe point does so when it is asked once; asked twice, it stops at once.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from engine.errors import Cancelled
from engine.events import CancelToken
from engine.texts import Message

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_OF_A_SIGNAL: Final = 128  # A shell adds this to the number of the signal that ended a command
_AGAIN_AFTER_S: Final = 0.01
_received: Final[list[int]] = []
_interrupted: Final = threading.Event()


@contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """Raise `KeyboardInterrupt` for Ctrl+C and for a polite kill; in another than the main thread, do nothing."""
    _received.clear()
    _interrupted.clear()
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    unraisable = sys.unraisablehook
    try:
        sys.unraisablehook = _not_lost
        for number in SIGNALS:
            signal.signal(number, _interrupt)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        sys.unraisablehook = unraisable


def was_interrupted() -> bool:
    """Whether `KeyboardInterrupt` was raised: an error that comes after it may be what a library made of it."""
    return _interrupted.is_set()


def stop_status() -> int:
    """Exit status after a stop: 130 for Ctrl+C, 143 for a polite kill."""
    return _OF_A_SIGNAL + (_received[-1] if _received else signal.SIGINT)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    _received.append(number)
    _interrupted.set()
    raise KeyboardInterrupt


def _not_lost(error: "sys.UnraisableHookArgs") -> None:
    """Interrupt once more where it came while an object was being cleared away: Python drops errors there."""
    if issubclass(error.exc_type, KeyboardInterrupt) and _received:
        threading.Timer(_AGAIN_AFTER_S, os.kill, (os.getpid(), _received[-1])).start()
    else:
        sys.__unraisablehook__(error)


@contextmanager
def stoppable(remedy: str) -> Iterator[CancelToken]:
    """Turn the first Ctrl+C, or a polite kill, into a token that is cancelled.

    Args:
        remedy: what the person can do to go on, for the message when the work has stopped.
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
        stopped.remedy = Message(remedy)
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
