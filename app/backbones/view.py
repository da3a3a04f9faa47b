"""The backbone panel: three doors to other backbones, and a change of backbone while it is made ready."""

from itertools import pairwise
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QStackedWidget, QTabBar, QWidget

from app.backbones.computer_page import ComputerPage
from app.backbones.file_page import FilePage, dropped_file
from app.backbones.logic import Door, ReadyChange, Shelf
from app.backbones.published_page import PublishedPage
from app.backbones.task_view import TaskView
from app.backbones.tasks import Stage
from app.backbones.wording import (
    change_fate,
    change_title,
    comparison,
    door_title,
    failures_text,
    measured_on,
    verdict,
)
from app.controls import make_label
from app.side_panel.failure import FailureNotice
from app.side_panel.frame import SidePanel
from app.side_panel.outcome import OutcomeCard

if TYPE_CHECKING:
    from app.backbones.tasks import BackboneTasks

NARROWEST: Final = 440


@final
class BackbonePanel(SidePanel):
    """Stands beside the collection; what it started goes on while it is away.

    Signals:
        use_requested: source and name of the backbone to make ready for the project.
        ready_accepted: change the project to the backbone that is ready.
        ready_refused: go on with the one in use.
    """

    use_requested = Signal(str, str)
    ready_accepted = Signal()
    ready_refused = Signal()

    def __init__(self, tasks: "BackboneTasks") -> None:
        super().__init__(NARROWEST)
        self._tasks = tasks
        self._lost_reason = ""
        self.setAcceptDrops(True)
        self.lost = FailureNotice()
        self.computer = ComputerPage()
        self.published = PublishedPage(tasks)
        self.file = FilePage(tasks)
        self.pages = {Door.COMPUTER: self.computer, Door.PUBLISHED: self.published, Door.FILE: self.file}
        self.tabs, self._stack = self._make_doors()
        self._change_name = make_label("", "strong", wraps=True)
        self._change_fate = make_label(change_fate(), "secondary", wraps=True)
        self.run = TaskView(
            tasks.change,
            getting_ready=self.tr("Getting ready…"),
            cancel_tip=self.tr("Stop; the project stays as it is, and what is finished is kept"),
        )
        self.outcome = OutcomeCard(
            use=self.tr("Use it"),
            keep=self.tr("Keep the old one"),
            fate=self.tr("Classes, labels and bars stay either way, and you can go back at any time."),
        )
        parts = (self.lost, self._change_name, self.run, self._change_fate, self.outcome, self.tabs, self._stack)
        self.lay_out(self.tr("Backbone"), self.tr("Close; what was started goes on"), parts)
        self._connect()
        self.show_door(Door.COMPUTER)
        self._arrange()

    # -- putting together

    def _make_doors(self) -> tuple[QTabBar, QStackedWidget]:
        tabs, stack = QTabBar(), QStackedWidget()
        tabs.setDrawBase(False)
        tabs.setExpanding(False)
        tabs.setAccessibleName(self.tr("Where the backbone comes from"))
        for door, page in self.pages.items():
            tabs.addTab(door_title(door))
            stack.addWidget(page)
        tabs.currentChanged.connect(self._on_tab_changed)
        return tabs, stack

    def _connect(self) -> None:
        self.computer.use_requested.connect(lambda row: self.use_requested.emit(row.source, row.name))
        self.published.use_requested.connect(self.use_requested)
        self.run.cancel_requested.connect(self._tasks.change.cancel)
        self.outcome.use_requested.connect(self.ready_accepted)
        self.outcome.keep_requested.connect(self.ready_refused)
        self._tasks.change.stage_changed.connect(self._on_change_stage)

    # -- what is shown

    @property
    def door(self) -> Door:
        """The door that is open."""
        return list(self.pages)[self.tabs.currentIndex()]

    def show_door(self, door: Door) -> None:
        """Open a door."""
        self.tabs.setCurrentIndex(list(self.pages).index(door))

    def show_shelf(self, shelf: Shelf, *, can_change: bool) -> None:
        """Show what is on this computer, and what is wrong with the backbone in use."""
        self.computer.show_rows(shelf.rows, shelf.used_name, can_change=can_change)
        self.published.card.set_can_change(can_change=can_change)
        self._lost_reason = shelf.lost_reason
        self._order_keys()
        self._arrange()

    def _order_keys(self) -> None:
        """Tab goes through the panel as the eye does; cards are made anew, which puts their buttons at the end."""
        chain = (self._close, self.tabs, *self.computer.buttons)
        for first, second in pairwise(chain):
            QWidget.setTabOrder(first, second)

    @property
    def lost_text(self) -> str:
        """What is wrong with the backbone in use; empty when all is well."""
        return self.lost.text

    def _on_tab_changed(self, place: int) -> None:
        self._stack.setCurrentIndex(place)
        if self.isVisible() and self.door is Door.PUBLISHED:
            self.published.begin()

    def _on_change_stage(self, stage: Stage) -> None:
        if stage is Stage.DONE and self._tasks.ready is not None:
            self._show_outcome(self._tasks.ready)
        self._arrange()
        if stage is Stage.DONE:
            self.bring_into_sight(self.outcome)

    def _show_outcome(self, ready: ReadyChange) -> None:
        figures, failures = ready.figures, failures_text(ready.failed)
        texts = verdict(figures, ready.name), comparison(figures), measured_on(figures), failures
        tone = "warning" if figures.is_worse else "accent"
        self.outcome.show_outcome(*texts, is_new_better=not figures.is_worse, tone=tone)

    def _arrange(self) -> None:
        """A change has the panel to itself until it is decided."""
        change = self._tasks.change
        is_ready = change.stage is Stage.DONE and self._tasks.ready is not None
        is_open = change.is_busy or is_ready
        self._change_name.setText(change_title(change.subject))
        self._change_name.setVisible(change.is_busy)
        self._change_fate.setVisible(change.is_busy)
        self.outcome.setVisible(is_ready)
        self.lost.show_text("" if is_open else self._lost_reason)
        for widget in (self.tabs, self._stack):
            widget.setVisible(not is_open)

    # -- Qt

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take one ONNX file anywhere on the panel; other files are the window's."""
        if dropped_file(event.mimeData()) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Look at a dropped file."""
        path = dropped_file(event.mimeData())
        if path is not None:
            event.acceptProposedAction()
            self.show_door(Door.FILE)
            self.file.choose(path)
