"""Training, and choosing a model version."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, final

from app.actions.row import READ_FOR_GOOD, WRITE_FOR_GOOD, Method, Section, action
from app.feature import GoOn, PanelFeature
from app.texts import marked, tr
from app.training.job import Forecast, Phase, Training
from app.training.logic import Depth, Evidence, StoppedTraining, evidence, stopped_training
from app.training.wording import LEAVING, outcome_line, proposal, stopped_text

if TYPE_CHECKING:
    from app.shell import Shell
    from app.training.view import TrainingPanel


def _to_train(
    name: str, text: str, icon: str, keys: str, depth: Depth
) -> Callable[[Method], Method]:
    return action(name, text, icon, keys, Section.MODEL_TRAIN, needs=WRITE_FOR_GOOD, given=(depth,))


@final
class Models(PanelFeature["TrainingPanel"]):
    """Open the training panel, propose a training, and choose model versions."""

    guide_page = "backbones#training"

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        session = shell.session
        self.training = Training(session)
        self.forecast = Forecast(session)
        self._is_proposed = True
        self._is_leaving = False  # whether the user was warned that closing stops the training
        session.loaded.connect(self._on_loaded)
        session.state_changed.connect(self._propose)
        self.training.phase_changed.connect(self._on_phase_changed)
        session.closed.connect(self.close_panel)

    @_to_train("tune_propagation", marked("Tune propagation…"), "tune", "Ctrl+T", Depth.PROPAGATION)
    @_to_train(
        "train_backbone", marked("Train the backbone…"), "train", "Ctrl+Shift+T", Depth.BACKBONE
    )
    @action(
        "show_model_versions",
        marked("Model versions…"),
        "model_versions",
        "Ctrl+Shift+M",
        Section.MODEL_CHOOSE,
        needs=READ_FOR_GOOD,
        given=(None,),
    )
    def open_panel(self, depth: Depth | None) -> None:
        self.show_panel().show_depth(depth)

    def blocks_closing(self, go_on: GoOn, *, at_end: bool) -> bool:
        """Warn once while a training runs; the button, or closing again, closes the project.

        Closing the window is not held back.
        """
        if at_end:
            return False
        has_asked = self._is_leaving and self._toast.message == self._leaving_text()
        self._is_leaving = self.training.is_busy and not has_asked
        if self._is_leaving:  # as a failure, so that it stays longer
            self._toast.report_failure(
                self._leaving_text(), action=tr("Stop and close"), on_action=go_on
            )
        return self._is_leaving

    def _leaving_text(self) -> str:
        plan = self.training.plan
        return tr(LEAVING[Depth.PROPAGATION if plan is None else plan.depth])

    def use(self, version_id: int, name: str) -> None:
        """Use a model version; undo restores the previous one."""
        from engine.collection.models import choose_version

        caches = self._session.caches
        self._session.act(
            lambda project: choose_version(project, caches, version_id),
            on_done=lambda _change: self._on_used(name),
        )

    def make_panel(self) -> TrainingPanel:
        from app.training.view import TrainingPanel

        panel = TrainingPanel(self._session, self.training, self.forecast)
        panel.use_requested.connect(self.use)
        return panel

    def _on_loaded(self) -> None:
        """For a project that already has enough labels, advise only in the panel."""
        self._is_proposed = self._will_help(Evidence())
        if self._session.is_writable:
            caches = self._session.caches
            topic = "whether to offer a stopped training again"
            self._session.ask(
                lambda live: stopped_training(live.project, caches),
                self._offer_again,
                owner=self,
                topic=topic,
            )

    def _offer_again(self, stopped: StoppedTraining | None) -> None:
        if stopped is not None and not self.training.is_busy:
            self._toast.show_message(
                stopped_text(stopped), action=tr("Resume"), on_action=lambda: self._resume(stopped)
            )

    def _resume(self, stopped: StoppedTraining) -> None:
        self.training.start(stopped.plan)
        self.open_panel(Depth.BACKBONE)

    def _propose(self, _state: object) -> None:
        """Propose a training once there are enough labels and nothing known speaks against it."""
        if self._may_propose(Evidence()):
            self._session.ask(
                evidence, self._on_evidence, owner=self, topic="whether to propose a training"
            )

    def _on_evidence(self, known: Evidence) -> None:
        state = self._session.state
        if state is None or not self._may_propose(known):
            return
        self._is_proposed = True
        if not self.is_panel_shown:
            self._toast.show_message(
                proposal(known.labels(state)),
                action=tr("Show"),
                on_action=lambda: self.open_panel(Depth.BACKBONE),
            )

    def _may_propose(self, known: Evidence) -> bool:
        return not self._is_proposed and not self.training.is_busy and self._will_help(known)

    def _will_help(self, known: Evidence) -> bool:
        state = self._session.state
        return state is not None and known.labels(state).will_help

    def _on_used(self, name: str) -> None:
        self.training.dismiss()
        self.show_undoable(tr("Now using {1}", name))

    def _on_phase_changed(self, phase: Phase) -> None:
        if self.is_panel_shown:
            return
        if phase is Phase.FAILED:
            self._toast.report_failure(self.training.error)
        elif phase is Phase.DONE and self.training.trained is not None:
            depth = self.training.trained.depth
            self._toast.show_message(
                outcome_line(self.training.trained),
                action=tr("Show"),
                on_action=lambda: self.open_panel(depth),
            )
