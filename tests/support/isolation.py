"""Fixtures of window tests: offscreen, with own settings and caches, and checks for leaks."""

import os

os.environ["QT_QPA_PLATFORM"] = os.environ.get(
    "PROTOLEAF_TEST_PLATFORM", "offscreen"
)  # before Qt is imported

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QLocale, QSettings, QtMsgType
from PySide6.QtWidgets import QApplication, QMainWindow

from app.key_names import name_keys
from app.language import _of_qt
from engine.collation import collate_with
from tests.support.sessions import LONG_MS

_HARMLESS_MESSAGES = (
    "This plugin does not support",  # the offscreen platform has no window manager, tray or theme
    "propagateSizeHints",
)
_GRAVE = (QtMsgType.QtWarningMsg, QtMsgType.QtCriticalMsg, QtMsgType.QtFatalMsg)


@pytest.fixture(autouse=True)
def own_settings_and_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings and caches are in the test's temporary folder."""
    monkeypatch.setenv("PROTOLEAF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PROTOLEAF_BACKBONES", str(tmp_path / "backbones"))
    monkeypatch.setenv("PROTOLEAF_BACKBONE", "fast")  # without questions and preparation
    for variable in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "home" / variable.lower()))
    for scope in (QSettings.Scope.UserScope, QSettings.Scope.SystemScope):
        for kind in (QSettings.Format.IniFormat, QSettings.Format.NativeFormat):
            QSettings.setPath(kind, scope, str(tmp_path / "settings"))


@pytest.fixture(autouse=True)
def keys_named(qapp: QApplication) -> None:
    """Name keys as the program does."""
    name_keys(qapp)


@pytest.fixture(autouse=True)
def nothing_left_behind(qapp: QApplication) -> Iterator[None]:
    """Check that no window, thread or translator outlives its test.

    Closed windows are deleted, since Python keeps them alive, and each change of theme would
    restyle them.
    """
    widgets = set(QApplication.topLevelWidgets())
    threads, locale = set(threading.enumerate()), QLocale()
    yield
    _speak_english(qapp)
    QLocale.setDefault(locale)
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    new_widgets = [widget for widget in QApplication.topLevelWidgets() if widget not in widgets]
    left_widgets = [widget for widget in new_widgets if widget.isVisible()]
    assert not left_widgets, f"top-level widgets left open: {left_widgets}"
    for widget in new_widgets:
        if isinstance(widget, QMainWindow):
            widget.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    left_threads = [
        thread for thread in threading.enumerate() if thread not in threads and _is_ours(thread)
    ]
    for thread in left_threads:  # ending may take time on a busy machine
        thread.join(LONG_MS / 1000)
    left_threads = [thread for thread in left_threads if thread.is_alive()]
    assert not left_threads, f"threads left running: {left_threads}"


@pytest.fixture(autouse=True)
def no_qt_warnings(qtlog: object) -> Iterator[None]:
    """Qt warnings fail the test unless listed as harmless."""
    yield
    records = getattr(qtlog, "records", [])
    grave = [record.message for record in records if record.type in _GRAVE]
    unexpected = [message for message in grave if not message.startswith(_HARMLESS_MESSAGES)]
    assert not unexpected, f"Qt warned: {unexpected}"


def _speak_english(qapp: QApplication) -> None:
    collate_with(None)
    while _of_qt:  # Qt's own texts and names of keys
        qapp.removeTranslator(_of_qt.pop())


def _is_ours(thread: threading.Thread) -> bool:
    # Qt's threads show up as dummies once they ran Python code. The pools of fits and
    # classification are made once per process (`engine.everyday.blocks`).
    if thread.name.startswith(("classify_", "fit_")):
        return False
    return thread.is_alive() and not isinstance(thread, threading._DummyThread)  # noqa: SLF001 (threading has no public name for it)
