"""The training panel: set up, watch, decide, and the list of model versions. It stands beside the collection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QWidget

from app.controls import fill_column, make_button, make_label, make_row_card, make_used_mark
from app.side_panel.cards import CardList, FailureNotice, OutcomeCard
from app.side_panel.frame import SidePanel
from app.texts import tr
from app.training.job import Phase
from app.training.logic import Depth, Evidence, Plan, StoppedTraining, Trained, VersionRow
from app.training.run_view import RunView
from app.training.setup_form import SetupForm
from app.training.stopped import StoppedNotice, stopped_training
from app.training.versions import evidence, version_rows
from app.training.wording import comparison, measured_on, title, verdict, version_facts

if TYPE_CHECKING:
    from app.session import Session
    from app.training.forecast import Forecast
    from app.training.job import Training
    from engine.project import Change


@final
class VersionList(QWidget):
    """One card for each version, the newest first."""

    use_requested = Signal(VersionRow)  # the `VersionRow` to take into use

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[VersionRow, ...] = ()
        self._list = CardList()
        fill_column(self, self._list)

    def show_rows(self, rows: Sequence[VersionRow], *, is_writable: bool) -> None:
        self.rows = tuple(rows)
        self._list.show_cards([self._card(row, is_writable=is_writable) for row in rows])

    def _card(self, row: VersionRow, *, is_writable: bool) -> QFrame:
        return make_row_card(row.name, (version_facts(row),), self._end(row, is_writable=is_writable))

    def _end(self, row: VersionRow, *, is_writable: bool) -> QWidget:
        """The mark of the version in use, or the button that takes another one into use."""
        if row.is_used:
            return make_used_mark(tr("In use"))
        button = make_button(tr("Use"), lambda: self.use_requested.emit(row))
        button.setAccessibleName(tr("Use %1", row.name))
        button.setEnabled(is_writable)
        return button


TOPIC: Final = "model versions"
EVIDENCE_TOPIC: Final = "whether training would help"
STOPPED_TOPIC: Final = "stopped training"


@final
class TrainingPanel(SidePanel):
    """Shows one depth of training, or only the versions."""

    start_requested = Signal(Plan)  # a `Plan`
    cancel_requested = Signal()
    use_requested = Signal(int, str)  # id and name of a version to take into use
    keep_requested = Signal()  # go on with the version in use

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
        self.outcome = OutcomeCard(
            use=tr("Use the new version"),
            keep=tr("Keep the current one"),
            consequence=tr("Both stay in the list below."),
        )
        self._versions_title = make_label(tr("Model versions"), "section")
        self.versions = VersionList()
        parts = (
            self.failure,
            self.stopped,
            *self.forms.values(),
            self.run,
            self.outcome,
            self._versions_title,
            self.versions,
        )
        self.lay_out("", tr("Close; training continues"), parts)
        self._connect()
        self.show_depth(None)

    def _connect(self) -> None:
        for form in self.forms.values():
            form.start_requested.connect(self._on_start_requested)
        self.forms[Depth.BACKBONE].plan_changed.connect(self._show_duration)
        self._forecast.changed.connect(self._show_duration)
        self.stopped.resume_requested.connect(self._on_start_requested)
        self.run.cancel_requested.connect(self.cancel_requested)
        self.outcome.use_requested.connect(self._on_use_new)
        self.outcome.keep_requested.connect(self.keep_requested)
        self.versions.use_requested.connect(lambda row: self.use_requested.emit(row.version_id, row.name))
        self._training.phase_changed.connect(self._on_phase_changed)
        self._session.loaded.connect(self.ask_for_versions)
        self._session.state_changed.connect(lambda _state: self._ask_for_evidence())
        self._session.change_made.connect(self._on_change_made)

    def _on_start_requested(self, plan: object) -> None:
        """The button goes away; the focus stays here, and does not go to whatever stands next."""
        self.setFocus()
        self.start_requested.emit(plan)

    # -- what is shown

    def show_depth(self, depth: Depth | None) -> None:
        """Show one depth of training, None for the versions alone; what is not decided yet comes first."""
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
        self._title.setText(title(self.topic))
        is_free = phase in (Phase.IDLE, Phase.FAILED)
        for depth, form in self.forms.items():
            form.setVisible(is_free and depth is self.topic)
        self._show_stopped(None)
        if is_free and self.topic is Depth.BACKBONE and self._session.info is not None:
            caches = self._session.caches
            self._session.ask(
                lambda live: stopped_training(live.project, caches), self._show_stopped, owner=self, topic=STOPPED_TOPIC
            )
        self.run.setVisible(not is_free)
        self.failure.show_text(self._training.error if phase is Phase.FAILED else "")
        self.outcome.setVisible(phase is Phase.DONE)
        self._versions_title.setVisible(self.topic is not None)

    def _on_phase_changed(self, phase: Phase) -> None:
        if self._training.plan is not None:
            self.topic = self._training.plan.depth
        if phase is Phase.DONE and self._training.trained is not None:
            self._show_outcome(self._training.trained)
            self.ask_for_versions()
        self._arrange()
        if phase is Phase.DONE:
            self.bring_into_sight(self.outcome)

    def _show_outcome(self, trained: Trained) -> None:
        figures = trained.figures
        is_better = figures.is_better or figures.before is None
        texts = verdict(figures), comparison(figures), measured_on(figures)
        self.outcome.show_outcome(*texts, is_new_better=is_better, tone="accent" if is_better else "")

    def _show_labels(self) -> None:
        state, info = self._session.state, self._session.info
        if self.isHidden() or state is None or info is None:
            return
        labels = (self._evidence or Evidence()).labels(state)
        if self._evidence is None:  # no advice before it is known
            labels = replace(labels, will_help=False)
        for form in self.forms.values():
            form.show_labels(labels, is_writable=info.is_writable)

    def _show_duration(self) -> None:
        """Measure how long the chosen training takes, where nobody knows it yet."""
        form = self.forms[Depth.BACKBONE]
        if self.isVisible() and form.isVisible():
            self._forecast.want(form.plan)
        form.show_duration(self._forecast.of(form.plan), is_measuring=self._forecast.is_measuring)

    def _show_stopped(self, stopped: StoppedTraining | None) -> None:
        info = self._session.info
        self.stopped.show_stopped(stopped, is_writable=info is not None and info.is_writable)
        self.forms[Depth.BACKBONE].give_way(to_another=stopped is not None)

    # -- versions

    def ask_for_versions(self) -> None:
        if self._session.info is not None:
            self._session.ask(version_rows, self._on_versions, owner=self, topic=TOPIC)
            self._ask_for_evidence()

    def _ask_for_evidence(self) -> None:
        if self._session.info is not None and not self.isHidden():
            self._session.ask(evidence, self._on_evidence, owner=self, topic=EVIDENCE_TOPIC)

    def _on_evidence(self, known: Evidence) -> None:
        self._evidence = known
        self._show_labels()

    def _on_versions(self, rows: tuple[VersionRow, ...]) -> None:
        info = self._session.info
        self.versions.show_rows(rows, is_writable=info is not None and info.is_writable)

    def _on_change_made(self, change: Change) -> None:
        if change.settings:
            self.ask_for_versions()

    def _on_use_new(self) -> None:
        trained = self._training.trained
        if trained is not None and trained.version_id is not None:
            self.use_requested.emit(trained.version_id, trained.name)
