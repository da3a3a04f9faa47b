"""The backbone panel: three sources of other backbones, and a change of backbone while it is prepared."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QTabBar, QWidget

from app.backbones.computer_page import ComputerPage
from app.backbones.file_page import FilePage, dropped_file
from app.backbones.job_slot_view import JobSlotView
from app.backbones.logic import Installed, Source
from app.backbones.published_page import PublishedPage
from app.backbones.wording import SOURCE_TITLES, comparison, failures_text, measured_on, preparing_text, verdict
from app.controls import fill_column, make_label
from app.drops import DropLight
from app.jobs.process_job import Stage
from app.side_panel.cards import FailureNotice, OutcomeCard
from app.side_panel.frame import SidePanel
from app.texts import tr
from engine.backbones.published.titles import library_title

if TYPE_CHECKING:
    from app.backbones.jobs import BackboneJobs


@final
class BackbonePanel(SidePanel):
    """Stands beside the collection; what it started goes on while it is away."""

    def __init__(self, jobs: BackboneJobs) -> None:
        super().__init__()
        self._jobs = jobs
        self._lost_reason = ""
        self.setAcceptDrops(True)
        self.lost = FailureNotice()
        self.computer = ComputerPage(jobs)
        self.published = PublishedPage(jobs)
        self.file = FilePage(jobs)
        self.pages = {Source.COMPUTER: self.computer, Source.PUBLISHED: self.published, Source.FILE: self.file}
        DropLight(self, self.file.drop, lambda data: dropped_file(data) is not None)
        self.tabs, self._body = self._make_sources()
        self._change_name = make_label("", "strong", wraps=True)
        self._change_consequence = make_label(
            tr("The project does not change until you decide. If you cancel, what is finished is kept."),
            "secondary",
            wraps=True,
        )
        self.preparation = JobSlotView(
            jobs.preparation, getting_ready=tr("Preparing…"), cancel_tip=tr("Stop; the project stays as it is")
        )
        self.run = JobSlotView(
            jobs.change,
            getting_ready=tr("Preparing…"),
            cancel_tip=tr("Stop; the project stays as it is, and finished embeddings are kept"),
        )
        self.outcome = OutcomeCard(
            use=tr("Use it"),
            keep=tr("Keep the current one"),
            consequence=tr("Classes, labels and settings stay either way, and you can go back at any time."),
        )
        runs = (self.preparation, self.run)
        parts = (self.lost, self._change_name, *runs, self._change_consequence, self.outcome, self.tabs, self._body)
        self.lay_out(tr("Backbone"), tr("Close; work in progress continues"), parts)
        self.outcome.keep_requested.connect(jobs.dismiss_change)
        jobs.change.stage_changed.connect(self._on_change_stage)
        jobs.preparation.stage_changed.connect(lambda _stage: self._arrange())
        self._on_tab_changed(self.tabs.currentIndex())
        self._arrange()

    # -- putting together

    def _make_sources(self) -> tuple[QTabBar, QWidget]:
        """Not a stack of pages: it would be as high as the highest of them."""
        tabs, pages = QTabBar(), QWidget()
        fill_column(pages, *self.pages.values())
        tabs.setDrawBase(False)
        tabs.setExpanding(False)
        tabs.setAccessibleName(tr("Where the backbone comes from"))
        for source in self.pages:
            tabs.addTab(tr(SOURCE_TITLES[source]))
        tabs.currentChanged.connect(self._on_tab_changed)
        return tabs, pages

    # -- what is shown

    @property
    def source(self) -> Source:
        """The source whose page is shown."""
        return list(self.pages)[self.tabs.currentIndex()]

    def show_source(self, source: Source) -> None:
        self.tabs.setCurrentIndex(list(self.pages).index(source))

    def show_installed(self, installed: Installed, *, can_change: bool) -> None:
        """Show what is on this computer, and what is wrong with the backbone in use."""
        self.computer.show_rows(installed.rows, installed.used_name, can_change=can_change)
        self.published.set_can_change(can_change=can_change)
        self._lost_reason = installed.lost_reason
        self.order_keys(self.tabs, *self.computer.buttons)
        self._arrange()

    def _on_tab_changed(self, place: int) -> None:
        for other, page in enumerate(self.pages.values()):
            page.setVisible(other == place)
        if self.isVisible() and self.source is Source.PUBLISHED:
            self.published.begin()

    def _on_change_stage(self, stage: Stage) -> None:
        ready = self._jobs.ready
        if stage is Stage.DONE and ready is not None:
            figures, failures = ready.comparison, failures_text(len(ready.failed))
            texts = verdict(figures, library_title(ready.name)), comparison(figures), measured_on(figures), failures
            tone = "warning" if figures.is_worse else "accent"
            self.outcome.show_outcome(*texts, is_new_better=not figures.is_worse, tone=tone)
        self._arrange()
        if stage is Stage.DONE:
            self.bring_into_sight(self.outcome)

    def _arrange(self) -> None:
        """A change has the panel to itself until it is decided."""
        change = self._jobs.change
        is_ready = change.stage is Stage.DONE and self._jobs.ready is not None
        is_busy = self._jobs.is_changing
        is_open = is_busy or is_ready
        name = change.subject if change.is_busy else self._jobs.preparation.subject
        self._change_name.setText(preparing_text(name))
        self._change_name.setVisible(is_busy)
        self._change_consequence.setVisible(is_busy)
        self.outcome.setVisible(is_ready)
        self.lost.show_text("" if is_open else self._lost_reason)
        for widget in (self.tabs, self._body):
            widget.setVisible(not is_open)

    # -- Qt

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take one ONNX file anywhere on the panel; other files are the window's."""
        if dropped_file(event.mimeData()) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        path = dropped_file(event.mimeData())
        if path is not None:
            event.acceptProposedAction()
            self.show_source(Source.FILE)
            self.file.choose(path)
