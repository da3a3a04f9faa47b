"""A training that runs: curves, how far it is, and Cancel. The curves stay when it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.side_panel.cards import ProgressView
from app.texts import tr
from app.theme.tokens import tokens
from app.training.job import Phase
from app.training.wording import stage_text
from engine.events import Progress

if TYPE_CHECKING:
    from app.training.chart import Chart
    from app.training.job import Training


@final
class RunView(QWidget):
    """Follows a training."""

    cancel_requested = Signal()

    def __init__(self, training: Training) -> None:
        super().__init__()
        self._training = training
        self.chart: Chart | None = None
        self._chart_place = QVBoxLayout()
        self._progress = ProgressView(tr("Stop; the project stays unchanged"))
        self.cancel_button = self._progress.cancel_button
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(tokens().spacing.small)
        column.addLayout(self._chart_place)
        column.addWidget(self._progress)
        self._progress.cancel_requested.connect(self.cancel_requested)
        training.phase_changed.connect(self._on_phase_changed)
        training.point_added.connect(self._on_point_added)
        training.progressed.connect(self._on_progressed)
        self._on_phase_changed(training.phase)

    @property
    def facts(self) -> str:
        return self._progress.facts

    def _on_phase_changed(self, phase: Phase) -> None:
        if phase is Phase.WAITING:
            self._progress.show_waiting()
        elif phase is Phase.RUNNING:
            self._show_chart()
            self._progress.show_step(tr("Preparing…"))
            if self._training.progress is not None:
                self._on_progressed(self._training.progress)
        elif phase is Phase.STORING:
            self._progress.show_step(tr("Saving the new version in the project…"), can_cancel=False)
        else:
            self._progress.show_ended()
        if phase is Phase.DONE:
            self._show_chart()
            if self.chart is not None and self._training.trained is not None:
                self.chart.mark_kept(self._training.trained.figures.kept_iteration)

    def _on_progressed(self, progress: Progress) -> None:
        """Count, or name what happens while nothing is counted."""
        if progress.unit:
            self._progress.show_progress(progress)
        elif self.cancel_button.isEnabled():
            self._progress.show_step(stage_text(progress.note))

    def _show_chart(self) -> None:
        """Make the chart when it is first needed: its library takes half a second to load."""
        if self.chart is None:
            from app.training.chart import Chart

            self.chart = Chart()
            self._chart_place.addWidget(self.chart)
        plan = self._training.plan
        if plan is not None:
            self.chart.show_curves(self._training.curves, plan.iterations)

    def _on_point_added(self) -> None:
        if self.chart is not None:
            self.chart.redraw_soon()
