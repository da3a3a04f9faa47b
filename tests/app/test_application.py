"""Garbage cycles are collected on the GUI thread; memory, translations, opened files."""

import gc
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from weakref import finalize

import pytest
from PySide6.QtCore import QCoreApplication, QObject
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.application import GuiCollector, OpenedFiles
from app.language import ENGLISH, LANGUAGE_VARIABLE, install_language
from app.texts import plural, tr
from engine.errors import ModelError
from tests.support.sessions import LONG_MS

MANY = 20_000
"""Enough cycles for several collections."""


class Cycle:
    """An object that refers to itself."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def collector() -> Iterator[QObject]:
    """A collector that is stopped after the test."""
    owner = QObject()
    GuiCollector(owner)
    yield owner
    owner.deleteLater()
    gc.unfreeze()


@pytest.mark.slow
def test_no_other_thread_collects(qtbot: QtBot, collector: QObject) -> None:
    """Cycles of another thread are finalized on the GUI thread."""
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


HOARD = """
import sys, threading
from pathlib import Path
from app.application import return_freed_columns
if sys.argv[1] == "returning":
    return_freed_columns()

def resident_mib():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 >> 20

def work():
    del (large := [bytearray(30 << 20)])[:]  # from now on the C library \
takes this much from its heaps
    kept = []
    for _ in range(10):
        columns = [bytearray(12 << 20) for _ in range(3)]
        kept.append(bytes(1000))

before = resident_mib()
for _ in range(4):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
print(resident_mib() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only there the C library keeps it")
def test_freed_columns_are_the_systems_again() -> None:
    """Otherwise threads that loaded a collection retain dozens of megabytes."""
    kept = {
        how: int(
            subprocess.run(
                [sys.executable, "-c", HOARD, how], capture_output=True, check=True
            ).stdout
        )
        for how in ("returning", "as it is")
    }
    assert kept["returning"] <= 4
    assert kept["as it is"] > 20, "the C library returns it by itself now"


@pytest.mark.slow
def test_texts_plurals_and_errors_are_translated(
    qapp: QApplication, pseudo_translations: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arguments are unchanged, and untranslated texts stay English."""
    monkeypatch.setenv(LANGUAGE_VARIABLE, str(pseudo_translations))
    install_language(qapp)
    try:
        assert tr("{1} of {2}", "3", "4").startswith("[3 óf 4·")
        assert plural(2, "1 image", "{n} images").startswith("[2 ímágéš·")
        error = ModelError("the model file is empty", found="/data/x.onnx")
        assert error.translated().startswith("[thé módél fílé íš émptý·")
        assert "/data/x.onnx" in error.translated()
        assert str(error) == "the model file is empty: found /data/x.onnx"
        assert tr("nobody says so") == "nobody says so"
    finally:
        monkeypatch.delenv(LANGUAGE_VARIABLE)
        install_language(qapp, ENGLISH)
    assert plural(1, "1 image", "{n} images") == "1 image"


def test_projects_are_opened_and_other_files_are_not(qapp: QApplication) -> None:
    """Events for other files are passed on."""
    opened: list[Path] = []
    listener = OpenedFiles(qapp, opened.append)
    try:
        for name in ("/photos/birds.protoleaf", "/photos/gull.jpg"):
            QCoreApplication.sendEvent(qapp, QFileOpenEvent(name))
    finally:
        qapp.removeEventFilter(listener)
        listener.deleteLater()
    assert opened == [Path("/photos/birds.protoleaf")]
