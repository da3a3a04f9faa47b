"""The Qt binding itself: a release that miscounts references ends the program after a while, without a word."""

import sys
from collections.abc import Callable

import pytest
from PySide6.QtCore import QObject, QTimer, Signal

TIMES = 50


class Speaker(QObject):
    """Says something."""

    spoken = Signal(object)


def taken_by(call: Callable[[], object]) -> list[int]:
    """References to True, False and None that are missing after many calls."""
    watched = (True, False, None)
    before = [sys.getrefcount(each) for each in watched]
    for _ in range(TIMES):
        call()
    return [count - sys.getrefcount(each) for count, each in zip(before, watched, strict=True)]


@pytest.mark.parametrize("value", [1, True, False, None])
def test_a_signal_takes_no_references(value: object, qapp: object) -> None:
    """Emitting gives back what it borrowed (PySide 6.12.0 under Python 3.11 did not)."""
    speaker = Speaker()
    speaker.spoken.connect(lambda _value: None)
    assert max(taken_by(lambda: speaker.spoken.emit(value))) < TIMES // 2


def test_a_call_takes_no_references(qapp: object) -> None:
    """Calling a method that returns nothing does not wear out None."""
    timer = QTimer()
    assert max(taken_by(lambda: timer.setSingleShot(True))) < TIMES // 2
