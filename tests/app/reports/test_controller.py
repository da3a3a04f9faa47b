"""Log and report in the window: on request, and offered after a crash or unexpected error."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from PySide6.QtCore import Qt, QTimer, QUrl
from PySide6.QtGui import QAction, QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QLabel, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from app.reports.controller import Reports
from app.reports.view import ReportWindow
from app.settings import Settings
from engine import __version__
from engine.config import log_folder
from engine.log import Log, ProcessKind, logging_to_file
from tests.support.desk import Desk
from tests.support.fresh_home import program
from tests.support.sessions import LONG_MS

OFFER = "Protoleaf closed unexpectedly last time. Everything you did was saved."
FAULT_OFFER = "Something unexpected went wrong last time. Everything you did was saved."


@contextmanager
def next_start(qtbot: QtBot, settings: Settings) -> Iterator[Desk]:
    """A window started as by the program."""
    with logging_to_file(ProcessKind.WINDOW) as log:
        desk = Desk(qtbot, settings, log)
        try:
            yield desk
        finally:
            desk.leave()


def offers(desk: Desk) -> list[str]:
    """Texts of the visible report notice."""
    notice = desk.window.report_notice
    return [label.text() for label in notice.findChildren(QLabel)] if notice.isVisible() else []


def click(desk: Desk, button: QPushButton) -> None:
    desk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def shown_report(desk: Desk) -> ReportWindow:
    reports = desk.window.of(Reports)
    desk.wait(lambda: reports.shown is not None)
    assert reports.shown is not None
    return reports.shown


@pytest.fixture
def expected_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors in slots do not fail the test."""
    monkeypatch.setattr(sys, "excepthook", lambda *_error: None)


def fail_in_slot(desk: Desk, text: str) -> None:
    """Raise in a slot called by Qt."""
    log = log_folder() / "window-1.log"

    def fail() -> None:
        raise ZeroDivisionError(text)

    QTimer.singleShot(0, fail)
    desk.wait(lambda: f"ZeroDivisionError: {text}" in log.read_text(encoding="utf-8"))


def help_action(desk: Desk, text: str) -> QAction:
    """An action of the Help menu."""
    (menu,) = (
        menu for menu in desk.window.menuBar().findChildren(QMenu) if menu.title() == "&Help"
    )
    return next(action for action in menu.actions() if action.text() == text)


def start_window() -> subprocess.Popen[bytes]:
    """The program's window as a child process, once it is open."""
    return subprocess.Popen(
        program(), stderr=subprocess.DEVNULL, env={**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    )


def is_open() -> bool:
    log = log_folder() / "window-1.log"
    return log.is_file() and "the window is open" in log.read_text(
        encoding="utf-8", errors="replace"
    )


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_crash_is_offered_once(qtbot: QtBot, settings: Settings) -> None:
    """After a segmentation fault the next start offers the traceback, a later one does not."""
    process = start_window()
    qtbot.waitUntil(is_open, timeout=LONG_MS)
    process.send_signal(signal.SIGSEGV)
    process.wait()
    with next_start(qtbot, settings) as desk:
        assert OFFER in offers(desk)
        click(desk, desk.window.report_notice.findChildren(QPushButton)[0])
        assert offers(desk) == []
        report = shown_report(desk).text.toPlainText()
        assert f"process {process.pid}" in report
        assert "Fatal Python error: Segmentation fault" in report
        assert report.startswith(f"protoleaf {__version__}")
    with next_start(qtbot, settings) as desk:
        assert offers(desk) == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_an_end_that_was_asked_for_is_no_crash(
    qtbot: QtBot, settings: Settings, ending: signal.Signals
) -> None:
    """SIGTERM or Ctrl+C closes the window regularly; a second window is no crash of the first."""
    process = start_window()
    qtbot.waitUntil(is_open, timeout=LONG_MS)
    with next_start(qtbot, settings) as desk:
        assert offers(desk) == []
    process.send_signal(ending)
    assert process.wait() == 0
    with next_start(qtbot, settings) as desk:
        assert offers(desk) == []


@pytest.mark.slow
@pytest.mark.usefixtures("expected_errors")
def test_an_unexpected_error_is_reported_at_once_and_only_once(
    qtbot: QtBot, settings: Settings
) -> None:
    """The toast opens the report; once read, the next start offers nothing."""
    with next_start(qtbot, settings) as desk:
        fail_in_slot(desk, "a leaf")
        toast = desk.window.toast
        desk.wait(lambda: "(ZeroDivisionError)" in toast.message)
        fail_in_slot(desk, "a second leaf")
        click(desk, toast.findChildren(QPushButton)[0])
        assert "ZeroDivisionError: a leaf" in shown_report(desk).text.toPlainText()
        fail_in_slot(desk, "a third leaf")
        assert toast.message == ""


@pytest.mark.usefixtures("expected_errors")
@pytest.mark.parametrize("is_read", [True, False])
def test_an_unexpected_error_is_offered_until_it_was_read(
    qtbot: QtBot, settings: Settings, is_read: bool
) -> None:
    """The toast disappears; the window continued and was closed regularly."""
    with next_start(qtbot, settings) as desk:
        fail_in_slot(desk, "a leaf")
        if is_read:
            help_action(desk, "Copy the problem report").trigger()
            desk.wait(lambda: "clipboard" in desk.window.toast.message)
    with next_start(qtbot, settings) as desk:
        assert (FAULT_OFFER in offers(desk)) is not is_read
        assert OFFER not in offers(desk)


@pytest.mark.slow
def test_the_report_of_this_session_is_copied(qtbot: QtBot, settings: Settings) -> None:
    """The Help menu copies versions, device and the last lines of the log."""
    with next_start(qtbot, settings) as desk:
        help_action(desk, "Copy the problem report").trigger()
        desk.wait(lambda: "clipboard" in desk.window.toast.message)
        text = QGuiApplication.clipboard().text()
    assert text.startswith(f"protoleaf {__version__}")
    assert "\nDevice: " in text
    assert f"started: protoleaf {__version__}, window, process {os.getpid()}" in text


@pytest.mark.slow
def test_the_log_is_shown_where_it_lies(
    qtbot: QtBot, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file browser shows the log; without one, or without a log, the error is a sentence."""
    answers = iter((True, False))
    shown: list[str] = []

    def show(url: QUrl) -> bool:
        shown.append(url.toLocalFile())
        return next(answers)

    monkeypatch.setattr(QDesktopServices, "openUrl", show)
    with next_start(qtbot, settings) as desk:
        for _turn in range(2):
            help_action(desk, "Show the log").trigger()
        assert shown == [str(log_folder())] * 2
        assert desk.window.toast.message == f"The folder cannot be shown: {log_folder()}"
    desk = Desk(qtbot, settings, Log())
    help_action(desk, "Show the log").trigger()
    assert desk.window.toast.message == f"No log could be written in {log_folder()}"
    desk.leave()
