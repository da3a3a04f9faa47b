"""Garbage cycles are collected on the GUI thread."""

import gc
import threading
from collections.abc import Iterator
from weakref import finalize

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.garbage import GuiCollector
from tests.support.sessions import LONG_MS

MANY = 20_000
"""Cycles that make several collections due."""


class Cycle:
    """Refers to itself."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def collector() -> Iterator[QObject]:
    """It goes on until the test is over."""
    owner = QObject()
    GuiCollector(owner)
    yield owner
    owner.deleteLater()
    gc.unfreeze()


def test_no_other_thread_collects(qtbot: QtBot, collector: QObject) -> None:
    """Another thread leaves many cycles behind; what was in the first of them goes on the GUI thread."""
    where: list[int] = []

    def leave_cycles() -> None:
        finalize(Cycle(), lambda: where.append(threading.get_ident()))
        for _ in range(MANY):
            Cycle()

    thread = threading.Thread(target=leave_cycles)
    thread.start()
    thread.join()
    assert where == []
    qtbot.waitUntil(lambda: bool(where), timeout=LONG_MS)
    assert where == [threading.get_ident()]
