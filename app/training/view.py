"""The training panel: settings, progress, result, and the list of model versions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QWidget

from app.controls import fill_column, make_button, make_label, make_row_card, make_used_mark
from app.side_panel.cards import CardList, FailureNotice, OutcomeCard, ProgressView
from app.side_panel.frame import SidePanel
from app.texts import tr
from app.training.chart import Chart
from app.training.job import Phase
from app.training.logic import (
    Depth,
    Evidence,
    Plan,
    StoppedTraining,
    VersionRow,
    evidence,
    stopped_training,
    version_rows,
)
from app.training.setup_form import SetupForm, StoppedNotice
from app.training.wording import TITLES, comparison, measured_on, stage_text, verdict, version_facts
from engine.events import Progress

if TYPE_CHECKING:
    from app.session import Session
    from app.training.job import Forecast, Training
    from engine.project import Change


@final
class RunView(QWidget):
    """Progress of a training."""

    def __init__(self, training: Training) -> None:
        super().__init__()
        self._training = training
        self.chart = Chart()
        self.chart.hide()
        self.progress = ProgressView(tr("Stop; the project stays unchanged"))
        fill_column(self, self.chart, self.progress)
        training.point_added.connect(self.chart.redraw_soon)
        self.progress.cancel_requested.connect(training.cancel)
        training.phase_changed.connect(self._on_phase_changed)
        training.progressed.connect(self._on_progressed)
        self._on_phase_changed(training.phase)

    def _on_phase_changed(self, phase: Phase) -> None:
        if phase is Phase.WAITING:
            self.progress.show_waiting()
        elif phase is Phase.RUNNING:
            self._show_chart()
            self.progress.show_step(tr("Preparing…"))
            if self._training.progress is not None:
                self._on_progressed(self._training.progress)
        elif phase is Phase.STORING:
            self.progress.show_step(tr("Saving the new version in the project…"), can_cancel=False)
        else:
            self.progress.show_ended()
        if phase is Phase.DONE:
            self._show_chart()
            if self._training.trained is not None:
                self.chart.mark_kept(self._training.trained.figures.kept_iteration)

    def _on_progressed(self, progress: Progress) -> None:
        if progress.unit:
            self.progress.show_progress(progress)
        elif self.progress.cancel_button.isEnabled():
            self.progress.show_step(stage_text(progress.note))

    def _show_chart(self) -> None:
        plan = self._training.plan
        self.chart.show()
        if plan is not None:
            self.chart.show_curves(self._training.curves, plan.iterations)


@final
class VersionList(QWidget):
    """One card for each version, newest first."""

    use_requested = Signal(VersionRow)  # the version to use

    def __init__(self) -> None:
        super().__init__()
        self.rows: tuple[VersionRow, ...] = ()
        self._list = CardList()
        fill_column(self, self._list)

    def show_rows(self, rows: tuple[VersionRow, ...], *, is_writable: bool) -> None:
        self.rows = rows
        self._list.show_cards([self._card(row, is_writable=is_writable) for row in rows])

    def _card(self, row: VersionRow, *, is_writable: bool) -> QFrame:
        end: QWidget = make_used_mark(tr("In use"))
        if not row.is_used:
            end = make_button(tr("Use"), lambda: self.use_requested.emit(row))
            end.setAccessibleName(tr("Use {1}", row.name))
            end.setEnabled(is_writable)
        return make_row_card(row.name, (version_facts(row),), end)


@final
class TrainingPanel(SidePanel):
    """Shows one depth of training, or only the versions."""

    use_requested = Signal(int, str)  # id and name of the version to use

    def __init__(self, session: Session, training: Training, forecast: Forecast) -> None:
        super().__init__()
        self._session = session
        self._training = training
        self._forecast = forecast
        self._evidence: Evidence | None = None
        self.topic: Depth | None = None
        self.failure = FailureNotice()
        self.stopped = StoppedNotice()
        self.forms = {depth: SetupForm(depth) for depth in Depth}
        self.run = RunView(training)
        use, keep = tr("Use the new version"), tr("Keep the current version")
        self.outcome = OutcomeCard(use=use, keep=keep, consequence=tr("Both stay in the list."))
        self._versions_title = make_label(tr("Model versions"), "section")
        self.versions = VersionList()
        progress = (self.failure, self.stopped, *self.forms.values(), self.run, self.outcome)
        parts = (*progress, self._versions_title, self.versions)
        self.lay_out("", tr("Close; training continues"), parts)
        self._connect()
        self.show_depth(None)

    def _connect(self) -> None:
        for form in self.forms.values():
            form.start_requested.connect(self._on_start_requested)
        self.forms[Depth.BACKBONE].plan_changed.connect(self._show_duration)
        self._forecast.changed.connect(self._show_duration)
        self.stopped.resume_requested.connect(self._on_start_requested)
        self.outcome.use_requested.connect(self._on_use_new)
        self.outcome.keep_requested.connect(self._training.dismiss)
        self.versions.use_requested.connect(
            lambda row: self.use_requested.emit(row.version_id, row.name)
        )
        self._training.phase_changed.connect(self._on_phase_changed)
        self._session.loaded.connect(self.ask_for_versions)
        self._session.state_changed.connect(lambda _state: self._ask_for_evidence())
        self._session.change_made.connect(self._on_change_made)

    def _on_start_requested(self, plan: Plan) -> None:
        self.setFocus()  # the button will be hidden
        self._training.start(plan)

    def show_depth(self, depth: Depth | None) -> None:
        """Show one depth, or None for the versions; an unanswered result is shown first."""
        plan = self._training.plan
        if self._training.phase is Phase.FAILED and plan is not None and plan.depth is not depth:
            self._training.dismiss()
        is_open = self._training.phase is not Phase.IDLE and plan is not None
        self.topic = plan.depth if is_open and plan is not None else depth
        self._arrange()
        self._show_labels()
        self._show_duration()
        self.ask_for_versions()

    def _arrange(self) -> None:
        phase = self._training.phase
        self._title.setText(tr(TITLES[self.topic]))
        is_free = phase in (Phase.IDLE, Phase.FAILED)
        for depth, form in self.forms.items():
            form.setVisible(is_free and depth is self.topic)
        self._show_stopped(None)
        if is_free and self.topic is Depth.BACKBONE and self._session.info is not None:
            caches = self._session.caches
            self._session.ask(
                lambda live: stopped_training(live.project, caches),
                self._show_stopped,
                owner=self,
                topic="stopped training",
            )
        self.run.setVisible(not is_free)
        self.failure.show_text(self._training.error if phase is Phase.FAILED else "")
        self.outcome.setVisible(phase is Phase.DONE)
        self._versions_title.setVisible(self.topic is not None)

    def _on_phase_changed(self, phase: Phase) -> None:
        if self._training.plan is not None:
            self.topic = self._training.plan.depth
        if phase is Phase.DONE and self._training.trained is not None:
            figures = self._training.trained.figures
            is_better = figures.is_better or figures.before is None
            texts = verdict(figures), comparison(figures), measured_on(figures)
            self.outcome.show_outcome(
                *texts, is_new_better=is_better, tone="accent" if is_better else ""
            )
            self.ask_for_versions()
        self._arrange()
        if phase is Phase.DONE:
            self.bring_into_sight(self.outcome)

    def _show_labels(self) -> None:
        state = self._session.state
        if self.isHidden() or state is None:
            return
        labels = (self._evidence or Evidence()).labels(state)
        if self._evidence is None:  # no advice while unknown
            labels = replace(labels, will_help=False)
        for form in self.forms.values():
            form.show_labels(labels, is_writable=self._session.is_writable)

    def _show_duration(self) -> None:
        form = self.forms[Depth.BACKBONE]
        if self.isVisible() and form.isVisible():
            self._forecast.want(form.plan)
        form.show_duration(self._forecast.of(form.plan), is_measuring=self._forecast.is_measuring)

    def _show_stopped(self, stopped: StoppedTraining | None) -> None:
        self.stopped.show_stopped(stopped, is_writable=self._session.is_writable)
        self.forms[Depth.BACKBONE].give_way(to_another=stopped is not None)

    def ask_for_versions(self) -> None:
        if self._session.info is not None:
            self._session.ask(version_rows, self._on_versions, owner=self, topic="model versions")
            self._ask_for_evidence()

    def _ask_for_evidence(self) -> None:
        if self._session.info is not None and not self.isHidden():
            self._session.ask(
                evidence, self._on_evidence, owner=self, topic="whether training would help"
            )

    def _on_evidence(self, known: Evidence) -> None:
        self._evidence = known
        self._show_labels()

    def _on_versions(self, rows: tuple[VersionRow, ...]) -> None:
        self.versions.show_rows(rows, is_writable=self._session.is_writable)

    def _on_change_made(self, change: Change) -> None:
        if change.settings:
            self.ask_for_versions()

    def _on_use_new(self) -> None:
        trained = self._training.trained
        if trained is not None and trained.version_id is not None:
            self.use_requested.emit(trained.version_id, trained.name)
