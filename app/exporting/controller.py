"""Export of the open project: previewed and written on a background thread."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QTimer

from app.actions.row import READ_FOR_GOOD, Section, action
from app.feature import CardFeature
from app.file_dialogs import choose_folder_near, save_file_at
from app.jobs.background_thread import BackgroundThread
from app.jobs.slot import JobSlot
from app.texts import marked, tr
from app.wording import sentence

if TYPE_CHECKING:  # lazy imports for a fast start
    from app.exporting.logic import ExportLook
    from app.exporting.view import ExportCard
    from app.shell import Shell
    from engine.archive.pack import WrittenArchive
    from engine.bundle.export import ExportedModel
    from engine.events import CancelToken, OnProgress
    from engine.interchange.labelled_images.records import WrittenExport

    Written = WrittenExport | ExportedModel | WrittenArchive

SETTLED_MS = 150
"""Debounce interval of edits in the card, before the preview is updated."""


@final
class Exporting(CardFeature["ExportCard"]):
    """Open the card and handle its requests."""

    guide_page = "exporting"

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._thread = BackgroundThread("exporting", self)
        self._writing = JobSlot(self._session.jobs, self._thread)
        self._looking = JobSlot(thread=self._thread, parent=self)
        self._settled = QTimer(self, singleShot=True, interval=SETTLED_MS)
        self._settled.timeout.connect(self._look_again)
        self._session.closed.connect(self._on_closed)
        self._session.state_changed.connect(lambda _state: self._on_state_changed())

    def stop(self) -> None:
        """Cancel a running export, which leaves no file, and stop the thread."""
        self._stop_looking()
        self._writing.cancel()
        self._thread.stop()

    # -- the card

    @action(
        "export",
        marked("Export labels and predictions…"),
        "export",
        "Ctrl+Shift+E",
        Section.FILE_EXPORT,
        needs=READ_FOR_GOOD,
    )
    def open_card(self) -> None:
        """Show the card with the last format, or with the running export."""
        from app.exporting.logic import FIRST, offered_exports

        if self._session.info is None:
            return
        card = self.made_card()
        if self._writing.is_busy:
            card.show_over()
            card.progress.cancel_button.setFocus()
            return
        known, last = offered_exports(), self._settings.export_format
        card.show_start(last if last in known else FIRST)

    def make_card(self) -> ExportCard:
        from app.exporting.logic import offered_exports
        from app.exporting.view import ExportCard

        card = ExportCard(self._host, offered_exports())
        card.changed.connect(self._settled.start)
        card.export_requested.connect(self._export)
        card.browse_requested.connect(self._browse)
        card.progress.cancel_requested.connect(self._writing.cancel)
        self._writing.progressed.connect(card.progress.show_progress)
        return card

    @property
    def _is_looked_at(self) -> bool:
        return self.card is not None and self.card.isVisible() and not self._writing.is_busy

    def _on_closed(self) -> None:
        self._stop_looking()
        if self.card is not None and not self._writing.is_busy and self.card.is_running:
            self.card.show_ended()

    def _on_state_changed(self) -> None:
        """Update the preview, one at a time: states may change faster than previews complete."""
        if self._is_looked_at and not self._settled.isActive() and not self._looking.is_busy:
            self._settled.start()

    def _folder(self) -> Path:
        """Folder of the last export, else that of the project."""
        info = self._session.info
        assert info is not None, "there is a project"
        return (
            Path(self._settings.export_folder) if self._settings.export_folder else info.path.parent
        )

    # -- preview

    def _stop_looking(self) -> None:
        self._settled.stop()
        self._looking.abandon()

    def _look_again(self) -> None:
        info, state, card = self._session.info, self._session.state, self.card
        self._looking.abandon()
        if info is None or state is None or card is None or not self._is_looked_at:
            return
        choice, is_named = card.choice(self._folder()), card.is_own_target

        def look(_on_progress: OnProgress, _cancel: CancelToken) -> ExportLook:
            from app.exporting.logic import look_at

            return look_at(info.path, state, choice, is_named=is_named)

        def show(found: ExportLook) -> None:
            card.show_look(found)
            if self._session.state is not state:
                self._settled.start()

        self._looking.start("preview", look, show, card.failure.show_text)

    def _browse(self) -> None:

        card = self.made_card()
        offered, present = card.offered, self._folder() / card.target.text()
        title = tr("Export into a folder") if offered.is_folder else tr("Export")
        if not offered.is_folder:
            kinds = f"{tr(offered.title)} (*{offered.suffix})"
            # The card itself asks.
            chosen, _kind = save_file_at(self._host, present, title, kinds, asks_to_replace=False)
            if chosen is not None:
                card.show_target(
                    chosen if chosen.suffix else chosen.with_name(chosen.name + offered.suffix)
                )
            return
        folder = choose_folder_near(self._host, present, title)
        if folder is not None:
            card.show_target(folder if offered.writes_into else folder / present.name)

    # -- the export

    def _export(self, look: ExportLook) -> None:
        """Start after all labels have been saved, with the predictions on the screen."""
        from app.exporting.wording import job_title

        if self._writing.is_busy:
            return
        self._settings.export_format = look.choice.format_name
        self._settings.export_folder = str(look.target.parent)
        self._stop_looking()
        card = self.made_card()
        card.show_waiting(job_title(look.target))
        self._session.ask(
            lambda _live: None, lambda _answer: self._start(look), owner=card, topic="export"
        )

    def _start(self, look: ExportLook) -> None:
        from app.exporting.logic import export
        from app.exporting.wording import job_title

        info, state, caches = self._session.info, self._session.state, self._session.caches
        if info is None or state is None:
            return
        self._writing.keeps_finished = look.format.writes_into
        self._writing.start(
            job_title(look.target),
            lambda on_progress, cancel: export(
                info.path, state, caches, look, on_progress=on_progress, cancel=cancel
            ),
            lambda done: self._on_finished(done, look),
            self._on_failed,
            on_cancelled=lambda: self._on_cancelled(look),
        )

    def _on_finished(self, done: Written, look: ExportLook) -> None:
        from app.exporting.wording import written_text
        from engine.bundle.export import ExportedModel

        self._end()
        self.made_card().dismiss()
        is_incomplete = not isinstance(done, ExportedModel) and bool(done.failures)
        show_message = self._toast.report_failure if is_incomplete else self._toast.show_message
        folder = look.target if look.format.is_folder else look.target.parent
        show_message(
            written_text(done, look.target),
            action=tr("Show in folder"),
            on_action=lambda: self.show_folder(folder),
        )

    def _on_failed(self, message: str) -> None:
        """Report a failure in the card, or in a toast if the card is closed."""
        if not self._end(sentence(message)):
            self._toast.report_failure(sentence(message))

    def _on_cancelled(self, look: ExportLook) -> None:
        from app.exporting.wording import stopped_text

        if self._end() or self._session.info is not None:
            self._toast.show_message(stopped_text(writes_into=look.format.writes_into))

    def _end(self, failure: str = "") -> bool:
        """Show the end in the card; return whether the card is visible."""
        card = self.made_card()
        is_seen = card.isVisible()
        card.show_ended(failure)
        return is_seen
