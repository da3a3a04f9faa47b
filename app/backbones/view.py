"""The backbone panel: three sources of backbones, and the preparation of a change."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import final

from PySide6.QtCore import Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QAbstractButton, QTabBar, QWidget

from app.backbones.file_page import FilePage, dropped_file
from app.backbones.jobs import BackboneJobs, JobSlotView
from app.backbones.logic import BackboneRow, Installed, Source
from app.backbones.published_page import PublishedPage
from app.backbones.wording import (
    CHOICES,
    SOURCE_TITLES,
    comparison,
    failures_text,
    measured_on,
    removal_consequence,
    removal_question,
    row_details,
    row_facts,
    row_origin,
    verdict,
)
from app.controls import (
    fill_column,
    make_button,
    make_icon_button,
    make_label,
    make_row_card,
    make_used_mark,
)
from app.drops import DropLight
from app.jobs.slot import Stage
from app.side_panel.cards import AskingCard, CardList, FailureNotice, OutcomeCard
from app.side_panel.frame import SidePanel
from app.texts import breakable, plain_tip, tr
from app.theme.tokens import tokens
from engine.backbones.published.titles import library_title
from engine.texts import translated


@final
class RowCard(AskingCard):
    """Card of an installed backbone: facts, Use, and Remove with confirmation."""

    def __init__(
        self,
        row: BackboneRow,
        use: Callable[[], None],
        remove: Callable[[], None],
        *,
        can_change: bool,
    ) -> None:
        super().__init__(
            tr("Remove"), tr("Keep it"), topic=row.source, variant="danger", tone="warning"
        )
        self.row = row
        self._remove = remove
        self.use_button = make_button(tr("Use…"), use)
        self.use_button.setAccessibleName(tr("Use {1} in this project", row.name))
        self.use_button.setToolTip(
            tr(
                "Analyses all images with it first and compares the results. Nothing changes "
                "until you decide."
            )
        )
        self.use_button.setEnabled(can_change)
        self.remove_button = make_icon_button("delete", tr("Remove {1}…", row.name), self.ask)
        self.remove_button.setEnabled(row.is_removable)
        self.agree_button.setAccessibleName(tr("Remove {1}", row.name))
        self.keep_button.setAccessibleName(tr("Keep {1}", row.name))
        first = make_used_mark(tr("In use")) if row.is_used else self.use_button
        badge = None if row.choice is None else make_label(tr(CHOICES[row.choice]), "chip")
        card = make_row_card(
            row.name, (row_facts(row), row_origin(row)), first, self.remove_button, badge=badge
        )
        card.setToolTip(plain_tip(row_details(row)))
        self.remove_button.setVisible(row.is_removable)
        question = make_label(breakable(removal_question(row)), wraps=True)
        consequence = make_label(removal_consequence(row), "secondary", wraps=True)
        self.lay_out(card, self.remove_button, (question, consequence))
        self.agreed.connect(self._on_agreed)

    @property
    def buttons(self) -> tuple[QAbstractButton, ...]:
        """In tab order; hidden ones are skipped."""
        use = () if self.row.is_used else (self.use_button,)
        return *use, self.remove_button, self.agree_button, self.keep_button

    def _on_agreed(self) -> None:
        for button in self.buttons:
            button.setEnabled(False)
        self._remove()


@final
class ComputerPage(QWidget):
    """Page of installed backbones, one card each."""

    # The backbone to delete, after confirmation.
    remove_requested = Signal(BackboneRow)

    def __init__(self, jobs: BackboneJobs) -> None:
        super().__init__()
        self._jobs = jobs
        self.rows: tuple[BackboneRow, ...] = ()
        self.cards: list[RowCard] = []
        self._used = make_label("", "secondary", wraps=True)
        self._list = CardList()
        self._hint = make_label(
            tr("Add more under Published networks or ONNX file."), "secondary", wraps=True
        )
        fill_column(
            self, self._used, self._list, self._hint, spacing=tokens().spacing.medium
        ).addStretch(1)

    @property
    def buttons(self) -> list[QAbstractButton]:
        return [button for card in self.cards for button in card.buttons]

    def show_rows(self, rows: Sequence[BackboneRow], used_name: str, *, can_change: bool) -> None:
        self.rows = tuple(rows)
        self.cards = [self._card(row, can_change=can_change) for row in rows]
        self._list.show_cards(self.cards)
        self._used.setText(tr("In use: {1}", used_name))
        self._used.setVisible(not any(row.is_used for row in rows))
        self._hint.setVisible(len(rows) == 1)

    def _card(self, row: BackboneRow, *, can_change: bool) -> RowCard:
        use = partial(self._jobs.prepare_change, row.source, row.name, row.preparation)
        return RowCard(row, use, partial(self.remove_requested.emit, row), can_change=can_change)

    def card_of(self, name: str) -> RowCard:
        return next(card for card in self.cards if card.row.name == name)


@final
class BackbonePanel(SidePanel):
    """The panel; its jobs continue while it is closed."""

    def __init__(self, jobs: BackboneJobs) -> None:
        super().__init__()
        self._jobs = jobs
        self._lost_reason = ""
        self.setAcceptDrops(True)
        self.lost = FailureNotice()
        self.computer = ComputerPage(jobs)
        self.published = PublishedPage(jobs)
        self.file = FilePage(jobs)
        self.pages = {
            Source.COMPUTER: self.computer,
            Source.PUBLISHED: self.published,
            Source.FILE: self.file,
        }
        DropLight(self, self.file.drop, lambda data: dropped_file(data) is not None)
        self._body = QWidget()
        # Not a `QStackedWidget`, which would be as high as its highest page.
        fill_column(self._body, *self.pages.values())
        self.tabs = self._make_tabs()
        self._change_name = make_label("", "strong", wraps=True)
        consequence = tr(
            "The project does not change until you decide. If you cancel, what is finished is kept."
        )
        self._change_consequence = make_label(consequence, "secondary", wraps=True)
        self.preparation = JobSlotView(
            jobs.preparation, cancel_tip=tr("Stop; the project stays as it is")
        )
        stop = tr("Stop; the project stays as it is, and finished embeddings are saved")
        self.run = JobSlotView(jobs.change, cancel_tip=stop)
        way_back = tr(
            "Classes, labels and settings stay either way. You can switch back at any time."
        )
        self.outcome = OutcomeCard(
            use=tr("Use it"), keep=tr("Keep the current backbone"), consequence=way_back
        )
        runs = (self.preparation, self.run)
        parts = (
            self.lost,
            self._change_name,
            *runs,
            self._change_consequence,
            self.outcome,
            self.tabs,
            self._body,
        )
        self.lay_out(tr("Backbone"), tr("Close; work in progress continues"), parts)
        self.outcome.keep_requested.connect(jobs.dismiss_change)
        jobs.change.stage_changed.connect(self._on_change_stage)
        jobs.preparation.stage_changed.connect(lambda _stage: self._arrange())
        self._on_tab_changed(self.tabs.currentIndex())
        self._arrange()

    def _make_tabs(self) -> QTabBar:
        tabs = QTabBar()
        tabs.setDrawBase(False)
        tabs.setExpanding(False)
        tabs.setAccessibleName(tr("Where the backbone comes from"))
        for source in self.pages:
            tabs.addTab(tr(SOURCE_TITLES[source]))
        tabs.currentChanged.connect(self._on_tab_changed)
        return tabs

    @property
    def source(self) -> Source:
        return list(self.pages)[self.tabs.currentIndex()]

    def show_source(self, source: Source) -> None:
        self.tabs.setCurrentIndex(list(self.pages).index(source))

    def show_installed(self, installed: Installed, *, can_change: bool) -> None:
        self.computer.show_rows(installed.rows, installed.used_name, can_change=can_change)
        self.published.set_can_change(can_change=can_change)
        self._lost_reason = translated(installed.missing_model_reason)
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
            figures = ready.comparison
            texts = (
                verdict(figures, library_title(ready.name)),
                comparison(figures),
                measured_on(figures),
            )
            failures = failures_text(len(ready.failed))
            tone = "warning" if figures.is_worse else "accent"
            self.outcome.show_outcome(
                *texts, failures, is_new_better=not figures.is_worse, tone=tone
            )
        self._arrange()
        if stage is Stage.DONE:
            self.bring_into_sight(self.outcome)

    def _arrange(self) -> None:
        """Hide the sources while a change is prepared or undecided."""
        change = self._jobs.change
        is_ready = change.stage is Stage.DONE and self._jobs.ready is not None
        is_busy = self._jobs.is_changing
        is_open = is_busy or is_ready
        name = change.subject if change.is_busy else self._jobs.preparation.subject
        self._change_name.setText(tr("Preparing {1}", name))
        self._change_name.setVisible(is_busy)
        self._change_consequence.setVisible(is_busy)
        self.outcome.setVisible(is_ready)
        self.lost.show_text("" if is_open else self._lost_reason)
        for widget in (self.tabs, self._body):
            widget.setVisible(not is_open)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept one ONNX file anywhere on the panel; the window handles other files."""
        if dropped_file(event.mimeData()) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        path = dropped_file(event.mimeData())
        if path is not None:
            event.acceptProposedAction()
            self.show_source(Source.FILE)
            self.file.choose(path)
