"""Slots: one job of a kind at a time, whose end is reported once."""

import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.jobs.slot import JobSlot, Stage
from engine.errors import ProtoleafError
from engine.events import CancelToken, OnProgress
from tests.support.sessions import LONG_MS


@pytest.fixture
def slot(qapp: QApplication) -> Iterator[JobSlot]:
    """A slot whose work is not shown."""
    owner = QObject(qapp)
    yield JobSlot(parent=owner)
    owner.deleteLater()


def test_a_newer_job_replaces_the_older(qtbot: QtBot, slot: JobSlot) -> None:
    """The result of the replaced job is dropped, though it ends later."""
    found: list[str] = []
    gate = threading.Event()

    def slow(_on_progress: OnProgress, _cancel: CancelToken) -> str:
        gate.wait(LONG_MS / 1000)
        return "old"

    slot.start("first", slow, found.append)
    slot.start("ignored", lambda _on, _cancel: "busy", found.append)
    slot.start("second", lambda _on, _cancel: "new", found.append, replaces=True)
    gate.set()
    qtbot.waitUntil(lambda: not slot.is_busy, timeout=LONG_MS)
    assert found == ["new"]
    assert slot.stage is Stage.DONE


def test_failure_and_cancel_are_reported(qtbot: QtBot, slot: JobSlot) -> None:
    """A failure with its message; a cancel without one; an abandoned job not at all."""
    ends: list[str] = []

    def fail(_on_progress: OnProgress, _cancel: CancelToken) -> None:
        raise ProtoleafError("the disk is gone")

    def wait(_on_progress: OnProgress, cancel: CancelToken) -> None:
        cancel.wait(LONG_MS / 1000)

    slot.start("fails", fail, on_failed=ends.append)
    qtbot.waitUntil(lambda: slot.stage is Stage.FAILED, timeout=LONG_MS)
    slot.start("waits", wait, on_cancelled=lambda: ends.append("cancelled"))
    slot.cancel()
    slot.start("waits", wait, on_cancelled=lambda: ends.append("abandoned"))
    slot.abandon()
    assert ends == ["the disk is gone", "cancelled"]
    assert slot.stage is Stage.IDLE
