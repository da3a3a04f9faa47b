"""Automatic backups on a background thread: once a day, and after every 15 minutes of work."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, QTimer, Signal

from app.jobs.background_thread import BackgroundThread
from engine.events import CancelToken
from engine.project.backups.keeping import ProjectBackups
from engine.texts import translated

if TYPE_CHECKING:  # lazy imports for a fast start
    from app.session import Session
    from engine.project import Change
    from engine.project.backups.listing import Backup

QUARTER_OF_AN_HOUR_MS = 15 * 60 * 1000
_TOPIC = "backups"


@final
class AutomaticBackups(QObject):
    """Back up the open project periodically; silent unless a backup fails."""

    changed = Signal()  # the backups of the opened project are known, or one was made
    failed = Signal(str)  # reason; emitted once until a backup succeeds

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        # Fires after every 15 minutes of work.
        self.quarter = QTimer(self, interval=QUARTER_OF_AN_HOUR_MS)
        self.worker = BackgroundThread("backups", self)  # thread of all work on backups
        self.backups: ProjectBackups | None = None  # of the open project; None while loading
        self.cancel = CancelToken()  # cancels the running backup of the open project
        self._session = session
        self._has_complained = False
        self.quarter.timeout.connect(self._on_quarter)
        session.opened.connect(lambda _info: self._on_opened())
        session.loaded.connect(self._on_loaded)
        session.closed.connect(self._on_closed)
        session.change_made.connect(self._on_change_made)

    def stop(self) -> None:
        """Cancel a running backup, which leaves no file, and stop the thread."""
        self.cancel.cancel()
        self.worker.stop()

    def count_as_made(self) -> None:
        """Record a success, so that the next failure is reported again."""
        self._has_complained = False
        self.changed.emit()

    def _on_opened(self) -> None:
        self.cancel = CancelToken()
        self._has_complained = False
        self.quarter.start()

    def _on_loaded(self) -> None:
        """Make the daily backup once the collection has loaded."""
        self._session.ask(
            lambda live: live.project.backups, self._on_known, owner=self, topic=_TOPIC
        )

    def _on_known(self, backups: ProjectBackups) -> None:
        self.backups = backups
        self.changed.emit()
        self._keep(lambda cancel: backups.take_daily(cancel=cancel))

    def _on_quarter(self) -> None:
        backups = self.backups
        if backups is not None:
            self._keep(lambda cancel: backups.take_quarterly(cancel=cancel))

    def _keep(self, take: Callable[[CancelToken], Backup | None]) -> None:
        cancel = self.cancel
        if not self._session.is_writable:
            return
        self.worker.ask(
            lambda: take(cancel),
            lambda made: None if made is None else self.count_as_made(),
            self._complain,
        )

    def _complain(self, reason: str) -> None:
        if not self._has_complained and self._session.info is not None:
            self._has_complained = True
            self.failed.emit(translated(reason))

    def _on_closed(self) -> None:
        self.cancel.cancel()
        self.backups = None
        self.quarter.stop()

    def _on_change_made(self, change: Change) -> None:
        if change.notice:
            # After the result of the action.
            QTimer.singleShot(0, self, lambda: self._complain(change.notice))
