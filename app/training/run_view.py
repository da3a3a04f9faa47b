"""A training that runs: curves, how far it is, and Cancel. The curves stay when it is done."""

from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QProgressBar, QVBoxLayout, QWidget

from app.controls import make_button, make_label
from app.jobs.training import Phase
from app.status.wording import progress_facts
from app.theme.tokens import tokens

if TYPE_CHECKING:
    from app.jobs.training import Training
    from app.training.chart import Chart
    from engine.events import Progress

_STEPS: Final = 1000


@final
class RunView(QWidget):
    """Follows a training.

    Signals:
        cancel_requested: stop it.
    """

    cancel_requested = Signal()

    def __init__(self, training: "Training", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._training = training
        self.chart: Chart | None = None
        self._chart_place = QVBoxLayout()
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._facts = make_label("", "secondary", wraps=True)
        self.cancel_button = make_button(self.tr("Cancel"), self._on_cancel, icon_name="stop")
        self.cancel_button.setToolTip(self.tr("Stop; the project stays as it was"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(tokens().spacing.small)
        column.addLayout(self._chart_place)
        for widget in (self._bar, self._facts, self.cancel_button):
            column.addWidget(widget)
        training.phase_changed.connect(self._on_phase_changed)
        training.point_added.connect(self._on_point_added)
        training.progressed.connect(self._on_progressed)
        self._on_phase_changed(training.phase)

    @property
    def facts(self) -> str:
        """The line below the bar."""
        return self._facts.text()

    def _on_phase_changed(self, phase: Phase) -> None:
        is_busy = self._training.is_busy
        self.cancel_button.setEnabled(True)
        for widget in (self._bar, self._facts):
            widget.setVisible(is_busy)
        self.cancel_button.setVisible(phase in (Phase.WAITING, Phase.RUNNING))
        if phase is Phase.WAITING:
            self._show_unknown(self.tr("Waits until the other work is done."))
        elif phase is Phase.RUNNING:
            self._show_chart()
            self._show_unknown(self.tr("Getting ready…"))
            if self._training.progress is not None:
                self._on_progressed(self._training.progress)
        elif phase is Phase.STORING:
            self._show_unknown(self.tr("Keeping the new version in the project…"))
        elif phase is Phase.DONE:
            self._show_chart()
            if self.chart is not None and self._training.trained is not None:
                self.chart.mark_kept(self._training.trained.figures.kept_iteration)

    def _show_unknown(self, text: str) -> None:
        self._bar.setRange(0, 0)
        self._facts.setText(text)

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

    def _on_cancel(self) -> None:
        """Answer at once: a step that was begun may take seconds to end."""
        self.cancel_button.setEnabled(False)
        self._show_unknown(self.tr("Stopping…"))
        self.cancel_requested.emit()

    def _on_progressed(self, progress: "Progress") -> None:
        if not self.cancel_button.isEnabled():
            return
        if progress.total:
            self._bar.setRange(0, _STEPS)
            self._bar.setValue(_STEPS * progress.done // progress.total)
        self._facts.setText(progress_facts(progress))
        self._bar.setAccessibleName(self._facts.text())
