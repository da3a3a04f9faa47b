"""The report of the open project: computed in the background, shown as a page, saved as a file."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, final

from app.actions.row import READ_FOR_GOOD, Section, action
from app.feature import PageFeature
from app.file_dialogs import Purpose, folder_for, open_file, save_file_at
from app.jobs.background_thread import BackgroundThread
from app.jobs.slot import JobSlot
from app.session.subsets import ImageSet
from app.texts import marked, tr
from app.wording import sentence
from app.workspace.visits import Describes
from engine.files import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.report.logic import Gathered, Made, ReportChoice, Stale
    from app.report.view import ReportPage
    from app.shell import Shell
    from engine.arrays import Integers
    from engine.project import Change


@final
class ReportFeature(PageFeature["ReportPage"]):
    """Compute, show and save reports."""

    guide_page = "report"

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._thread = BackgroundThread("report", self)
        jobs = self._session.jobs
        self._making = JobSlot(jobs, keeps_finished=False)
        self._saving = JobSlot(jobs, self._thread, keeps_finished=False)
        self._resume: Callable[[], None] | None = None  # runs when predictions include all labels
        self._asked = 0  # request number; results of earlier requests are dropped
        self._stale: Stale | None = None  # changes since the latest report was started
        self._session.change_made.connect(self._on_change_made)
        self._session.fitting_changed.connect(self._on_fitting_changed)
        self._session.closed.connect(self._on_closed)

    def stop(self) -> None:
        """Stop before the program exits; a partly written file is discarded."""
        self._stop_making()
        self._saving.cancel()
        self._thread.stop()

    # -- page

    @action(
        "report", marked("Report"), "report", "Ctrl+E", Section.REVIEW_REPORT, needs=READ_FOR_GOOD
    )
    def open(self) -> None:
        """Show the latest report, or make the first one."""
        if self._session.info is None:
            return
        page = self.made_page()
        self._shell.workspace.show_page(page, tr("Report"), Describes.NOTHING)
        if page.made is None and not self._making.is_busy:
            self.make()

    def make_page(self) -> ReportPage:
        from app.report.view import ReportPage

        page = ReportPage(self._show_images, self._show_class)
        page.make_requested.connect(self.make)
        page.progress.cancel_requested.connect(self._on_cancel)
        page.truth_requested.connect(self._choose_truth)
        page.save_requested.connect(self.save)
        self._making.progressed.connect(page.progress.show_progress)
        return page

    def _show_class(self, class_id: int) -> None:
        if class_id in self._session.graph:
            self._shell.tree.select_class(class_id)

    def _show_images(self, ids: Integers, title: str) -> None:
        """Show the images of a cell in the grid; Back returns to the report."""
        if len(ids):
            self._shell.workspace.show_images(ImageSet(ids, title))

    def _on_change_made(self, change: Change) -> None:
        if self._stale is not None:
            self._stale = self._stale.after(change)
            self.made_page().stale = self._stale

    def _on_closed(self) -> None:
        self._stop_making()
        self._stale = None
        if self.page is not None:
            self.close_page()
            self.page.forget()

    # -- making a report

    def make(self) -> None:
        """Make a report with the chosen options from the current state of the project."""
        from app.report.logic import Stale

        page = self.made_page()
        if self._session.info is None:
            return
        self._stop_making()
        self._asked += 1
        self._stale = Stale()
        page.show_making()
        self._gather(page, page.choice(), waits=True)

    def _gather(self, page: ReportPage, choice: ReportChoice, *, waits: bool) -> None:
        from app.report.logic import gather_all

        self._session.ask(
            partial(gather_all, waits=waits),
            partial(self._start, self._asked, choice),
            owner=page,
            topic="report",
            on_failure=page.show_stopped,
        )

    def _on_fitting_changed(self, is_fitting: bool) -> None:
        resume = self._resume
        if resume is not None and not is_fitting:
            self._resume = None
            resume()

    def _start(self, asked: int, choice: ReportChoice, gathered: Gathered | None) -> None:
        from app.report.logic import make

        page = self.made_page()
        if asked != self._asked:
            return
        if gathered is None:
            page.progress.show_step(tr("Waiting for the predictions…"))
            self._resume = partial(self._gather, page, choice, waits=False)
            if self._session.is_settled:
                self._on_fitting_changed(is_fitting=False)
            return
        caches = self._session.caches
        self._making.start(
            tr("Building the report"),
            lambda on_progress, cancel: make(gathered, choice, caches, on_progress, cancel),
            self._on_made,
            self._on_not_made,
            on_cancelled=self._on_not_made,
        )

    def _on_made(self, made: Made) -> None:
        page = self.made_page()
        page.show_made(made)
        if self._stale is not None:
            page.stale = self._stale

    def _on_not_made(self, reason: str = "") -> None:
        self.made_page().show_stopped(sentence(reason))

    def _on_cancel(self) -> None:
        self._stop_making()
        self.made_page().show_stopped()

    def _stop_making(self) -> None:
        self._asked += 1
        self._resume = None
        self._making.abandon()

    def _choose_truth(self) -> None:
        kinds = tr("Tables (*.csv *.tsv *.txt);;All files (*)")
        path = open_file(self._host, Purpose.LABELS, tr("Compare with a truth file"), kinds)
        if path is not None:
            self.made_page().choose_truth(path)

    # -- saving

    def save(self) -> None:
        """Ask for a path and save the report there."""
        from app.report.logic import save, with_suffix
        from app.report.wording import save_filters

        page = self.page
        if page is None or page.made is None or self._saving.is_busy:
            return
        made, filters = page.made, save_filters()
        start = self._folder() / tr("{1} report.html", made.document.title)
        chosen, kind = save_file_at(page, start, tr("Save the report"), ";;".join(filters.values()))
        if chosen is None:
            return
        out = with_suffix(chosen, kind, filters)
        self._settings.remember_folder(Purpose.REPORTS, out.parent)
        page.save_button.setEnabled(False)
        self._saving.start(
            tr("Saving the report"),
            lambda _on_progress, cancel: save(made, out, cancel),
            lambda _out: self._on_saved(out),
            self._on_not_saved,
            on_cancelled=self._end_saving,
        )

    def _folder(self) -> Path:
        """The last folder used, else that of the project."""
        info = self._session.info
        usual = folder_for(Purpose.REPORTS) if info is None else info.path.parent
        return self._settings.folder_of(Purpose.REPORTS) or usual

    def _on_saved(self, out: Path) -> None:

        self._end_saving()
        self._toast.show_message(
            tr("Saved the report as {1}", shown(out.name)),
            action=tr("Show in folder"),
            on_action=lambda: self.show_folder(out.parent),
        )

    def _on_not_saved(self, reason: str) -> None:
        self._end_saving()
        self._toast.report_failure(sentence(reason))

    def _end_saving(self) -> None:
        self.made_page().save_button.setEnabled(True)
