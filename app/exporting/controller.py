"""Export of the open project: previewed and written on a background thread."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QTimer, QUrl
from PySide6.QtGui import QDesktopServices

from app.actions.row import READ_FOR_GOOD, Section, action
from app.exporting.class_graph.controller import GraphExport
from app.feature import Feature
from app.file_dialogs import choose_folder_near, save_file_at
from app.jobs.background_thread import BackgroundThread, Work
from app.jobs.slot import JobSlot
from app.texts import marked, tr
from engine.errors import Cancelled

if TYPE_CHECKING:  # lazy imports for a fast start
    from app.exporting.logic import ExportLook
    from app.exporting.view import ExportCard
    from app.shell import Shell
    from engine.archive.pack import WrittenArchive
    from engine.bundle.export import ExportedModel
    from engine.collection.state import CollectionState
    from engine.events import CancelToken, OnProgress
    from engine.interchange.labelled_images.records import WrittenExport

    Written = WrittenExport | ExportedModel | WrittenArchive

SETTLED_MS = 150
"""Debounce interval of edits in the card, before the preview is updated."""


@final
class Exporting(Feature):
    """Open the card and handle its requests.

    Attributes:
        card: created on first use.
        class_graph: export of the classes alone.
    """

    guide_page = "exporting"

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self.card: ExportCard | None = None
        self._thread = BackgroundThread("exporting", self)
        self.class_graph = GraphExport(self._session, self._settings, self._toast, self._host)
        self._writing = JobSlot(self._session.jobs, self._thread)
        self._look = 0  # request counter; results of earlier requests are discarded
        self._settled = QTimer(self)
        self._settled.setSingleShot(True)
        self._settled.setInterval(SETTLED_MS)
        self._settled.timeout.connect(self._look_again)
        self._session.closed.connect(self._on_closed)
        self._session.state_changed.connect(lambda _state: self._on_state_changed())

    def stop(self) -> None:
        """Cancel a running export, which leaves no file, and stop the thread."""
        self._look += 1
        self._settled.stop()
        self._writing.cancel()
        self._thread.stop()
        self.class_graph.stop()

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
        if self.card is None:
            self.card = self._make_card()
        if self._writing.is_busy:
            self.card.show_over()
            self.card.progress.cancel_button.setFocus()
            return
        known, last = offered_exports(), self._settings.export_format
        self.card.show_start(last if last in known else FIRST)

    @action(
        "export_graph",
        marked("Export class graph…"),
        "export",
        "",
        Section.FILE_EXPORT,
        needs=READ_FOR_GOOD,
    )
    def export_graph(self) -> None:
        self.class_graph.choose()

    def _make_card(self) -> ExportCard:
        from app.exporting.logic import offered_exports
        from app.exporting.view import ExportCard

        card = ExportCard(self._host, offered_exports())
        self.link_guide_page(card)
        card.changed.connect(self._settled.start)
        card.export_requested.connect(self._export)
        card.browse_requested.connect(self._browse)
        card.cancel_requested.connect(self._writing.cancel)
        self._writing.progressed.connect(card.show_progress)
        return card

    @property
    def _is_looked_at(self) -> bool:
        return self.card is not None and self.card.isVisible() and not self._writing.is_busy

    def _on_closed(self) -> None:
        self._look += 1
        self._settled.stop()
        if self.card is not None:
            self.card.dismiss()
            if not self._writing.is_busy and self.card.is_running:
                self.card.show_ended()

    def _on_state_changed(self) -> None:
        """Update the preview, one at a time: states may change faster than previews complete."""
        if self._is_looked_at and not self._settled.isActive() and not self._thread.is_busy:
            self._settled.start()

    def _folder(self) -> Path:
        """Folder of the last export, else that of the project."""
        info = self._session.info
        assert info is not None, "there is a project"
        return (
            Path(self._settings.export_folder) if self._settings.export_folder else info.path.parent
        )

    # -- preview

    def _look_again(self) -> None:
        info, state, card = self._session.info, self._session.state, self.card
        self._look += 1
        look = self._look
        if info is None or state is None or card is None or not self._is_looked_at:
            return
        choice, is_named = card.choice(self._folder()), card.is_own_target

        def is_wanted() -> bool:
            return look == self._look

        def deliver(found: ExportLook) -> None:
            if is_wanted():
                card.show_look(found)
                if self._session.state is not state:
                    self._settled.start()

        def work() -> ExportLook:
            from app.exporting.logic import look_at

            if not is_wanted():
                raise Cancelled
            return look_at(info.path, state, choice, is_named=is_named)

        self._thread.ask(
            work, deliver, lambda reason: card.show_failure(reason) if is_wanted() else None
        )

    def _browse(self) -> None:
        from app.exporting.view import title_of_browsing

        card = self.card
        if card is None:
            return
        offered, present = card.offered, self._folder() / card.target.text()
        title = title_of_browsing(offered)
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

        if self.card is None or self._writing.is_busy:
            return
        self._settings.export_format = look.choice.format_name
        self._settings.export_folder = str(look.target.parent)
        self._settled.stop()
        self._look += 1
        self.card.show_waiting(job_title(look.target))
        self._session.ask(
            lambda _live: None, lambda _answer: self._start(look), owner=self.card, topic="export"
        )

    def _start(self, look: ExportLook) -> None:
        from app.exporting.wording import job_title

        info, state = self._session.info, self._session.state
        if info is None or state is None:
            return
        self._writing.keeps_finished = look.format.writes_into
        self._writing.start(
            job_title(look.target),
            self._work(info.path, state, look),
            lambda done: self._on_finished(done, look),
            self._on_failed,
            on_cancelled=lambda: self._on_cancelled(look),
        )

    def _work(self, project: Path, state: CollectionState, look: ExportLook) -> Work:
        caches = self._session.caches

        def work(on_progress: OnProgress, cancel: CancelToken) -> Written:
            from app.exporting.logic import COPY, export_copy, export_labels, export_the_model

            if look.format.has_labels:
                return export_labels(project, state, look, on_progress, cancel)
            if look.choice.format_name == COPY:
                return export_copy(project, caches, look, on_progress, cancel)
            return export_the_model(project, caches, look, on_progress, cancel)

        return work

    def _on_finished(self, done: Written, look: ExportLook) -> None:
        from app.exporting.wording import written_text
        from engine.bundle.export import ExportedModel

        self._end("")
        if self.card is not None:
            self.card.dismiss()
        is_incomplete = not isinstance(done, ExportedModel) and bool(done.failures)
        show_message = self._toast.report_failure if is_incomplete else self._toast.show_message
        folder = look.target if look.format.is_folder else look.target.parent
        show_message(
            written_text(done, look.target),
            action=tr("Show in folder"),
            on_action=lambda: self._show_folder(folder),
        )

    def _on_failed(self, message: str) -> None:
        """Report a failure in the card, or in a toast if the card is closed."""
        from app.exporting.wording import problem_text

        is_seen = self.card is not None and self.card.isVisible()
        self._end(problem_text(message))
        if not is_seen:
            self._toast.report_failure(problem_text(message))

    def _on_cancelled(self, look: ExportLook) -> None:
        from app.exporting.wording import stopped_text

        is_seen = self.card is not None and self.card.isVisible()
        self._end("")
        text = stopped_text(writes_into=look.format.writes_into)
        if is_seen or self._session.info is not None:
            self._toast.show_message(text)

    def _end(self, text: str) -> None:
        if self.card is not None:
            self.card.show_ended(text)

    def _show_folder(self, folder: Path) -> None:
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
            self._toast.report_failure(tr("The folder cannot be shown: %1", str(folder)))
