"""Restoring a backup: close the project, replace its file, and reopen it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal

from app.jobs.background_thread import BackgroundThread
from app.jobs.slow_work import SlowWork
from app.texts import tr
from engine.errors import Cancelled
from engine.project.backups.listing import Offer, offer_for

if TYPE_CHECKING:  # lazy imports for a fast start
    from app.session import Session
    from app.status.toast import Toast
    from engine.project.backups.restoring import Restoration


@final
class Restoring(QObject):
    """Restore the open project, or one that is too damaged to open."""

    # The damaged project and its `Offer`; the user has to choose a backup.
    choice_wanted = Signal(Path, Offer)
    refused = Signal(str)  # why restoring a damaged project failed

    def __init__(
        self, session: Session, worker: BackgroundThread, toast: Toast, parent: QObject
    ) -> None:
        super().__init__(parent)
        self.is_running = False  # project closed for a restore, to be reopened
        self._session = session
        self._worker = worker
        self._toast = toast
        self._waiting: Callable[[], None] | None = None  # called once the project is closed
        self._done: Restoration | None = None  # set until the project is reopened
        self._refusal = ""  # set until the project is reopened
        self._is_copy = False  # whether the backup becomes a new project
        session.closed.connect(self._on_closed)
        session.loaded.connect(self._on_loaded)
        session.failed.connect(lambda _message: self._give_up())
        session.damaged.connect(self._on_damaged)

    def restore(self, backup: Path) -> None:
        """Replace the open project by a backup, after a backup of the current state."""
        info = self._session.info
        if info is None or self.is_running:
            return
        project = info.path
        self._close_for(
            lambda: self._begin(project, backup, lambda reason: self._on_refused(project, reason))
        )

    def continue_as(self, copy: Path) -> None:
        """Copy the open backup, which is not changed, to a new project and open that."""
        info = self._session.info
        if info is None or self.is_running:
            return
        backup, self._is_copy = info.path, True
        refused = partial(self._on_refused, backup)
        self._close_for(lambda: self._begin(copy, backup, refused, is_doubt_allowed=True))

    def _close_for(self, go_on: Callable[[], None]) -> None:
        self.is_running = True
        self._waiting = go_on
        self._session.close()

    def _on_closed(self) -> None:
        if self._waiting is not None:
            go_on, self._waiting = self._waiting, None
            go_on()

    def restore_damaged(self, project: Path, backup: Path) -> None:
        """Replace a project that cannot be opened by a backup that the user chose."""
        if not self.is_running:
            self._begin(project, backup, self._on_refused_damaged, is_doubt_allowed=True)

    def _begin(
        self,
        project: Path,
        backup: Path,
        on_refused: Callable[[str], None],
        *,
        is_doubt_allowed: bool = False,
    ) -> None:
        """Restore in the background; `on_refused` gets the reason of a failure, "" if cancelled."""
        self.is_running = True
        watch = SlowWork(tr("Restoring {1}", project.stem), self._session.jobs, self._worker.post)

        def restore_file() -> Restoration | None:
            from engine.project.backups.restoring import restore
            from engine.project.clock import present_time

            try:
                return restore(
                    project,
                    backup,
                    is_doubt_allowed=is_doubt_allowed,
                    when=present_time(),
                    on_progress=watch.on_progress,
                    cancel=watch.cancel,
                )
            except Cancelled:
                return None
            finally:
                watch.end()

        self._worker.ask(
            restore_file,
            lambda done: on_refused("") if done is None else self._on_restored(done),
            on_refused,
        )

    def _on_restored(self, done: Restoration) -> None:
        self._done = done
        self._session.open(done.project)

    def _on_refused(self, project: Path, reason: str) -> None:
        """Reopen the unchanged project, then report the failure."""
        self._refusal = reason
        self._session.open(project)

    def _on_refused_damaged(self, reason: str) -> None:
        """Report the failure; an open project is not affected."""
        self._give_up()
        if reason:
            self._toast.report_failure(reason)
        self.refused.emit(reason)

    def _on_loaded(self) -> None:
        """Report the result once the project has been reopened."""
        done, refusal, info, is_copy = self._done, self._refusal, self._session.info, self._is_copy
        self._give_up()
        if refusal:
            self._toast.report_failure(refusal)
        if done is None or info is None or info.path != done.project:
            return
        message, kept = tr("Copied the backup") if is_copy else tr("Restored the backup"), done.kept
        if kept is None or done.was_damaged:
            self._toast.show_message(message)
            return
        self._toast.show_message(
            message, action=tr("Go back"), on_action=lambda: self._go_back(done.project, kept)
        )

    def _give_up(self) -> None:
        self._done, self._refusal, self.is_running, self._is_copy = None, "", False, False

    def _go_back(self, project: Path, kept: Path) -> None:
        """Undo a restore, unless another project has been opened."""
        info = self._session.info
        if info is not None and info.path == project:
            self.restore(kept)

    # -- damaged projects

    def _on_damaged(self, project: Path) -> None:
        """Offer the newest valid backup of a project that cannot be opened, or a choice."""
        self._worker.ask(
            lambda: offer_for(project, is_verified=True),
            lambda offer: self._offer(project, offer),
            self._session.failed.emit,
        )

    def _offer(self, project: Path, offer: Offer) -> None:
        from app.backups.logic import first_sure, offered_groups
        from app.backups.wording import counts, title

        newest = first_sure(offer)
        if newest is not None:
            self._toast.report_failure(
                tr(
                    "{1} is damaged. The backup of {2} can take its place: {3}. "
                    "The damaged file is kept.",
                    project.name,
                    title(newest),
                    counts(newest),
                ),
                action=tr("Restore"),
                on_action=lambda: self.restore_damaged(project, newest.path),
            )
        elif offered_groups(offer, project):
            self._toast.report_failure(
                tr("{1} is damaged. Choose the backup to restore.", project.name),
                action=tr("Choose backup…"),
                on_action=lambda: self.choice_wanted.emit(project, offer),
            )
