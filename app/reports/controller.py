"""Log and problem report: shown, copied, and offered after a crash or uncaught error."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, final

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication

from app.actions.row import Needs, Section, action
from app.feature import Feature
from app.jobs.background_thread import BackgroundThread
from app.texts import marked, tr
from engine.config import log_folder
from engine.log import UNCAUGHT, session_text

if TYPE_CHECKING:
    from app.reports.view import ReportWindow
    from app.shell import Shell

_SHOW = marked("Show the report")


@final
class Reports(Feature):
    """Actions for the log and the report; shows a notice after a fault."""

    _went_wrong = Signal(str)

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        log = self._log = shell.log
        self.shown: ReportWindow | None = None
        self._thread: BackgroundThread | None = None
        self._has_reported = False
        self._went_wrong.connect(self._on_went_wrong)
        self._listener = _Listener(self._went_wrong.emit)
        logging.getLogger(UNCAUGHT).addHandler(self._listener)
        if ended := log.crashed + log.faulty:
            line = tr("Something unexpected went wrong last time. Everything you did was saved.")
            if log.crashed:
                line = tr("Protoleaf closed unexpectedly last time. Everything you did was saved.")
            shell.report_notice.ask(line, [(tr(_SHOW), lambda: self._make(ended, self._show))])

    def stop(self) -> None:
        logging.getLogger(UNCAUGHT).removeHandler(self._listener)
        if self._thread is not None:
            self._thread.stop()
        self._close_shown()

    def _close_shown(self) -> None:
        if self.shown is not None:
            self.shown.close()
            self.shown.deleteLater()
            self.shown = None

    @action(
        "show_log", marked("Show the log"), "folder", "", Section.HELP_REPORT, needs=Needs.NOTHING
    )
    def show_log(self) -> None:
        if self._log.path is None:
            self._toast.report_failure(tr("No log could be written in {1}", str(log_folder())))
        else:
            self.show_folder(log_folder())

    @action(
        "copy_report",
        marked("Copy the problem report"),
        "copy",
        "",
        Section.HELP_REPORT,
        needs=Needs.NOTHING,
    )
    def copy_report(self) -> None:
        """Copy the report of this session to the clipboard."""
        self._make((), self._copy)

    def _make(self, sessions: tuple[str, ...], on_made: Callable[[str], None]) -> None:
        if self._thread is None:
            self._thread = BackgroundThread("reports", self)
        path, device = self._log.path, tr("Device: {1}", self._shell.device_name())

        def make_report() -> str:
            from app.reports.logic import faulty_worker_sessions, report_text

            own = sessions or ((session_text(path),) if path is not None else ())
            return report_text(device, [*own, *faulty_worker_sessions()])

        self._log.has_unread_error = False
        self._thread.ask(make_report, on_made, self._toast.report_failure)

    def _copy(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self._toast.show_message(tr("The report was copied to the clipboard."))

    def _show(self, text: str) -> None:
        from app.reports.view import ReportWindow

        self._close_shown()
        self.shown = ReportWindow(text, self._copy, self.show_log, self._shell)
        self.shown.show()

    def _on_went_wrong(self, name: str) -> None:
        """Report the first uncaught error; the same one often recurs."""
        if self._has_reported:
            return
        self._has_reported = True
        self._toast.report_failure(
            tr(
                "Something unexpected went wrong ({1}). Your project is safe; the log has the "
                "details.",
                name,
            ),
            action=tr(_SHOW),
            on_action=lambda: self._make((), self._show),
        )


@final
class _Listener(logging.Handler):
    """Log handler that reports the type of each uncaught error; thread-safe."""

    def __init__(self, on_error: Callable[[str], None]) -> None:
        super().__init__(logging.CRITICAL)
        self._on_error = on_error

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        self._on_error(type(error).__name__)
