"""The Qt binding: releases with wrong reference counts end the program after a while."""

import sys
from collections.abc import Callable

import pytest
from PySide6.QtCore import QObject, QTimer, Signal

TIMES = 50


class Speaker(QObject):
    """An object with a signal."""

    spoken = Signal(object)


def taken_by(call: Callable[[], object]) -> list[int]:
    """References to True, False and None that are lost in many calls."""
    watched = (True, False, None)
    before = [sys.getrefcount(each) for each in watched]
    for _ in range(TIMES):
        call()
    return [count - sys.getrefcount(each) for count, each in zip(before, watched, strict=True)]


@pytest.mark.parametrize("value", [1, True, False, None])
def test_a_signal_takes_no_references(value: object, qapp: object) -> None:
    """Emitting leaks no reference, as PySide 6.12.0 did under Python 3.11."""
    speaker = Speaker()
    speaker.spoken.connect(lambda _value: None)
    assert max(taken_by(lambda: speaker.spoken.emit(value))) < TIMES // 2


def test_a_call_takes_no_references(qapp: object) -> None:
    """Calling a method without a result does not decrement the count of None."""
    timer = QTimer()
    assert max(taken_by(lambda: timer.setSingleShot(True))) < TIMES // 2
