"""Qt's messages in the log, and termination signals."""

import logging
import os
import signal
from typing import final

from PySide6.QtCore import (
    QMessageLogContext,
    QObject,
    QSocketNotifier,
    QtMsgType,
    qInstallMessageHandler,
)
from PySide6.QtWidgets import QWidget

_qt = logging.getLogger("qt")
_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


def log_qt_messages() -> None:
    qInstallMessageHandler(_on_message)


def _on_message(kind: QtMsgType, _context: QMessageLogContext, text: str) -> None:
    _qt.log(_LEVELS[kind], "%s", text)


@final
class StopSignals(QObject):
    """Close the window on a termination signal, as on logout.

    Python handles a signal only when it next runs, so a pipe wakes Qt's event loop.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        if os.name != "posix":
            return  # Windows sends messages to the window
        self._window = window
        self._read, write = os.pipe()
        for end in (self._read, write):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_signal: None)
        self._notifier = QSocketNotifier(self._read, QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_signal)

    def _on_signal(self) -> None:
        caught = os.read(self._read, 64)
        if {signal.SIGTERM, signal.SIGINT, signal.SIGHUP} & set(caught):
            self._window.close()
