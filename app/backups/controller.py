"""Controller of the backups panel: list, restore, choice of the folder."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QTimer

from app.actions.row import READ_FOR_GOOD, Section, action
from app.backups.automatic import AutomaticBackups
from app.backups.restoring import Restoring
from app.feature import PanelFeature
from app.file_dialogs import (
    Purpose,
    choose_folder,
    folder_for,
    nearest_folder,
    save_file_at,
    show_folder,
)
from app.jobs.slot import JobSlot
from app.status.notice import Notice
from app.texts import marked, tr
from app.wording import moment_text
from app.workspace.empty_page import choosing_backup
from engine.config import PROJECT_SUFFIX
from engine.files import shown
from engine.project.backups.keeping import back_up
from engine.project.backups.listing import BackupOrigin, origin_of

if TYPE_CHECKING:  # lazy imports for a fast start
    from app.backups.view import BackupsPanel
    from app.session import ProjectInfo
    from app.shell import Shell
    from engine.events import CancelToken, OnProgress
    from engine.project.backups.contents import Changes
    from engine.project.backups.keeping import ProjectBackups
    from engine.project.backups.listing import Backup, Offer

SETTLED_MS = 700  # debounce interval of updates of the open panel after changes


@final
class Backups(PanelFeature["BackupsPanel"]):
    """Open the panel and handle its requests."""

    guide_page = "keeping"

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        session = shell.session
        self.automatic = AutomaticBackups(session, self)
        self.restoring = Restoring(session, self.automatic.worker, self._toast, self)
        # Shown while the open project is a backup.
        self.notice = Notice(tone="warning")
        shell.bands.append(self.notice)
        # Damaged project that the panel is open for; None for the open project.
        self._damaged: Path | None = None
        self._listing = JobSlot(thread=self.automatic.worker, parent=self)
        self._settled = QTimer(self, singleShot=True, interval=SETTLED_MS)
        self._settled.timeout.connect(self.refresh)
        self.automatic.changed.connect(self.refresh)
        self.automatic.failed.connect(self._on_automatic_failed)
        session.closed.connect(self._on_closed)
        session.failed.connect(lambda _message: self._on_failed())
        session.opened.connect(self._on_opened)
        session.closed.connect(self.notice.hide)
        self.restoring.choice_wanted.connect(self._show_choice)
        self.restoring.refused.connect(self._show_failure)
        session.change_made.connect(lambda _change: self._settled.start())

    @property
    def keeps_panes(self) -> bool:
        return self.restoring.is_running

    def stop(self) -> None:
        self._listing.abandon()
        self.automatic.stop()

    # -- the panel

    @action("backups", marked("Backups…"), "history", "", Section.FILE_KEEP, needs=READ_FOR_GOOD)
    def open_panel(self) -> None:
        self.show_panel()
        self.refresh()

    def close_panel(self) -> None:
        if self.panel is not None:
            self._listing.abandon()
            super().close_panel()
            self._leave_damaged()

    def show_panel(self) -> BackupsPanel:
        self.made_panel()
        self._show_failure("")
        self._leave_damaged()
        return super().show_panel()

    def _show_choice(self, project: Path, offer: Offer) -> None:
        """List the backups that a damaged project can be restored from."""
        from app.backups.logic import offered_groups
        from app.backups.wording import copies_text, doubt_text

        panel = self.show_panel()
        self._damaged = project
        self._listing.abandon()
        panel.show_damage((copies_text if offer.own else doubt_text)(project.name))
        panel.show_groups(offered_groups(offer, project), can_restore=True)
        if self._session.info is None:  # next to an empty workspace
            self._shell.workspace.empty.show_emptiness(choosing_backup())
            self._shell.show_panes()

    def _leave_damaged(self) -> None:
        if self._damaged is not None and self.panel is not None:
            self._damaged = None
            self.panel.show_damage("")
            self.panel.show_groups((), can_restore=False, is_known=False)
            if self._session.info is None and not self.restoring.is_running:
                self._shell.first_page_wanted.emit()

    def _on_opened(self, info: ProjectInfo) -> None:
        self._leave_damaged()
        self._show_failure("")
        self.notice.hide()
        self.automatic.worker.ask(
            lambda: origin_of(info.path),
            lambda origin: self._show_origin(info, origin),
            self._session.failed.emit,
        )

    def _show_origin(self, info: ProjectInfo, origin: BackupOrigin | None) -> None:
        """Show that the open project is a backup, with a link to the original project."""
        if origin is None or self._session.info is not info:
            return
        project, answers = origin.project, list[tuple[str, Callable[[], None]]]()
        if project is not None:
            answers.append((tr("Open the project"), lambda: self._shell.open_soon(project)))
        answers.append((tr("Continue as a copy…"), lambda: self._continue_as_copy(origin)))
        text = tr(
            "This is a backup of “{1}”, made {2}.", shown(origin.name), moment_text(origin.when)
        )
        self.notice.ask(text, answers)

    def make_panel(self) -> BackupsPanel:
        from app.backups.view import BackupsPanel

        panel = BackupsPanel()
        panel.back_up_requested.connect(self.back_up)
        panel.restore_requested.connect(lambda backup: self._restore(backup.path))
        panel.folder_requested.connect(self._choose_folder)
        panel.usual_folder_requested.connect(lambda: self.use_folder(None))
        panel.show_requested.connect(self._show_folder)
        return panel

    def _on_closed(self) -> None:
        self._listing.abandon()
        self._settled.stop()
        if not self.restoring.is_running:
            self.close_panel()

    def _on_failed(self) -> None:
        if self.panel is not None:
            self.panel.show_busy("")
        if self._session.info is None and not self.restoring.is_running:
            self.close_panel()

    def _on_automatic_failed(self, reason: str) -> None:
        """Report a failed backup in the panel if it is open, else in a toast."""
        from app.backups.wording import failed_text

        if self.is_panel_shown:
            self._show_failure(failed_text(reason))
            return
        self._toast.report_failure(
            failed_text(reason), action=tr("Backups…"), on_action=self.open_panel
        )

    # -- list of backups

    def refresh(self) -> None:
        """List the backups; changes since each are added in the background, newest first."""
        backups = self.automatic.backups
        self._listing.abandon()
        if backups is None or self._damaged is not None or not self.is_panel_shown:
            return
        self._listing.start("backups", partial(self._list, backups), on_failed=self._show_failure)

    def _list(self, backups: ProjectBackups, _on_progress: OnProgress, cancel: CancelToken) -> None:
        """List the backups, then verify and compare each; called on the backup thread."""
        from engine.project.backups.contents import changes_between, contents_of_backup
        from engine.project.backups.listing import verified
        from engine.project.backups.place import chosen_folder, folder_for

        def show(method: Callable[..., None], *given: object) -> None:
            cancel.raise_if_cancelled()
            self.automatic.worker.post(lambda: None if cancel.is_cancelled else method(*given))

        rows = backups.all()
        folder = folder_for(backups.path, backups.project_id)
        show(self._show_rows, rows, folder, chosen_folder(backups.project_id) is not None)
        present = backups.contents()
        for row in rows:
            read = verified(row)
            changes = None if read.fault else changes_between(contents_of_backup(row.path), present)
            show(self._show_row, read, changes)

    def _show_row(self, row: Backup, changes: Changes | None) -> None:
        if self.panel is not None:
            self.panel.show_row(row, changes)

    def _show_rows(self, rows: list[Backup], folder: Path, is_chosen: bool) -> None:
        from app.backups.logic import own_groups

        if self.panel is not None:
            self.panel.show_groups(own_groups(rows), can_restore=self._session.is_writable)
            self.panel.show_place(folder, is_chosen=is_chosen)

    def _show_failure(self, text: str) -> None:
        if self.panel is not None:
            self.panel.show_busy("")
            self.panel.failure.show_text(text)

    # -- user actions

    def back_up(self) -> None:
        backups, info, cancel = self.automatic.backups, self._session.info, self.automatic.cancel
        if backups is None or info is None or self.panel is None:
            return
        self._show_failure("")
        self.panel.show_busy(tr("Backing up…"))
        self.automatic.worker.ask(
            lambda: backups.take(cancel=cancel) if info.is_writable else back_up(info.path),
            self._on_backed_up,
            self._show_failure,
        )

    def _on_backed_up(self, made: Backup) -> None:
        from app.backups.wording import counts

        self._show_failure("")
        self._toast.show_message(tr("Backed up: {1}", counts(made)))
        self.automatic.count_as_made()

    def _restore(self, backup: Path) -> None:
        self._show_failure("")
        if self.panel is not None:
            self.panel.show_busy(tr("Restoring…"))
        if self._damaged is None:
            self.restoring.restore(backup)
        else:
            self.restoring.restore_damaged(self._damaged, backup)

    def _continue_as_copy(self, origin: BackupOrigin) -> None:
        project = origin.project
        folder = folder_for(Purpose.PROJECTS)
        if project is not None and project.is_absolute():
            folder = project.parent
        name = f"{origin.name} {origin.when.astimezone():%Y-%m-%d}{PROJECT_SUFFIX}"
        copy, _kind = save_file_at(
            self._shell,
            folder / name,
            tr("Continue as a copy"),
            tr("Protoleaf projects (*.protoleaf)"),
        )
        if copy is not None:
            self.restoring.continue_as(
                copy if copy.suffix == PROJECT_SUFFIX else Path(f"{copy}{PROJECT_SUFFIX}")
            )

    def _choose_folder(self) -> None:
        folder = choose_folder(self._shell.side, Purpose.BACKUPS, tr("Where to keep backups"))
        if folder is not None:
            self.use_folder(folder)

    def use_folder(self, folder: Path | None) -> None:
        """Set the folder for backups of this project; None for the default folder."""
        backups = self.automatic.backups
        if backups is None:
            return
        from engine.project.backups import place

        self._show_failure("")
        self.automatic.worker.ask(
            lambda: place.choose_folder(backups.project_id, folder),
            lambda _chosen: self.refresh(),
            self._show_failure,
        )

    def _show_folder(self) -> None:
        """Show the backups in the system's file browser, or the first folder above that exists."""
        if self.panel is not None:
            show_folder(nearest_folder(Path(self.panel.folder_text)), self._show_failure)
