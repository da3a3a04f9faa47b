"""Training, and choosing between model versions."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QObject

from app.side_panel.place import SidePlace
from app.texts import tr
from app.training.forecast import Forecast
from app.training.job import Phase
from app.training.logic import Depth, Evidence, StoppedTraining
from app.training.stopped import stopped_training
from app.training.versions import evidence
from app.training.wording import leaving_text, outcome_line, proposal, stopped_text

if TYPE_CHECKING:
    from app.session import Session
    from app.status.toast import Toast
    from app.training.job import Training
    from app.training.view import TrainingPanel
    from engine.project import Change, Project

EVIDENCE_TOPIC: Final = "whether to propose a training"
STOPPED_TOPIC: Final = "whether to offer a stopped training again"


def _leave(leave: Callable[[], object]) -> None:
    leave()


@final
class Models(QObject):
    """Opens the training panel and does what is asked for there."""

    def __init__(self, session: "Session", training: "Training", side: SidePlace, toast: "Toast") -> None:
        super().__init__(side)
        self.panel: TrainingPanel | None = None
        self._session = session
        self._training = training
        self._side = side
        self._toast = toast
        self.forecast = Forecast(session)
        # leaves the project, perhaps after another question
        self.leave_next: Callable[[Callable[[], object]], None] = _leave
        self._is_proposed = True
        self._is_leaving = False  # asked whether to leave while it trains
        session.loaded.connect(self._on_loaded)
        session.state_changed.connect(self._propose)
        training.phase_changed.connect(self._on_phase_changed)
        session.closed.connect(self.close_panel)

    def callbacks(self) -> dict[str, Callable[[], None]]:
        return {
            "tune_propagation": lambda: self.open_panel(Depth.PROPAGATION),
            "train_backbone": lambda: self.open_panel(Depth.BACKBONE),
            "close_project": lambda: self.leave_by(self._session.close),
            "show_model_versions": lambda: self.open_panel(None),
        }

    def open_panel(self, depth: Depth | None) -> None:
        """Show the panel in the place of the inspector."""
        if self.panel is None:
            self.panel = self._make_panel()
        self._side.show_panel(self.panel)
        self.panel.show_depth(depth)

    def close_panel(self) -> None:
        """Put the panel away; a training goes on."""
        if self.panel is not None:
            self._side.close_panel(self.panel)

    def leave_by(self, leave: Callable[[], object]) -> None:
        """Leave the project; while it trains, only when the person says so, by the button or by asking again."""
        if not self._training.is_busy or (self._is_leaving and self._toast.message == self._leaving_text()):
            self._is_leaving = False
            self.leave_next(leave)
            return
        self._is_leaving = True
        self._toast.say_failure(  # with its mark, and for longer
            self._leaving_text(),
            action=tr("Stop and close"),
            on_action=lambda: self.leave_next(leave),
        )

    def _leaving_text(self) -> str:
        plan = self._training.plan
        return leaving_text(Depth.PROPAGATION if plan is None else plan.depth)

    def use(self, version_id: int, name: str) -> None:
        """Take a model version into use; undo brings the former one back."""
        caches = self._session.caches

        def work(project: "Project") -> "Change":
            from engine.collection.models import choose_version

            return choose_version(project, caches, version_id)

        self._session.act(work, on_done=lambda _change: self._on_used(name))

    def _make_panel(self) -> "TrainingPanel":
        from app.training.view import TrainingPanel

        panel = TrainingPanel(self._session, self._training, self.forecast)
        panel.start_requested.connect(self._training.start)
        panel.cancel_requested.connect(self._training.cancel)
        panel.keep_requested.connect(self._training.dismiss)
        panel.use_requested.connect(self.use)
        panel.close_requested.connect(self.close_panel)
        return panel

    def _on_loaded(self) -> None:
        """Who opens a project with labels enough finds the advice in the panel; only new labels are told."""
        self._is_proposed = self._will_help(Evidence())
        if (info := self._session.info) is not None and info.is_writable:
            caches = self._session.caches
            self._session.ask(
                lambda live: stopped_training(live.project, caches), self._offer_again, owner=self, topic=STOPPED_TOPIC
            )

    def _offer_again(self, stopped: StoppedTraining | None) -> None:
        if stopped is not None and not self._training.is_busy:
            self._toast.say(
                stopped_text(stopped),
                action=tr("Resume"),
                on_action=lambda: self._resume(stopped),
            )

    def _resume(self, stopped: StoppedTraining) -> None:
        self._training.start(stopped.plan)
        self.open_panel(Depth.BACKBONE)

    def _propose(self, _state: object) -> None:
        """Say once that there are labels enough by now, unless something is known that speaks against it."""
        if self._may_propose(Evidence()):
            self._session.ask(evidence, self._on_evidence, owner=self, topic=EVIDENCE_TOPIC)

    def _on_evidence(self, known: Evidence) -> None:
        state = self._session.state
        if state is None or not self._may_propose(known):
            return
        self._is_proposed = True
        if self.panel is None or not self.panel.isVisible():
            self._toast.say(
                proposal(known.labels(state)),
                action=tr("Show"),
                on_action=lambda: self.open_panel(Depth.BACKBONE),
            )

    def _may_propose(self, known: Evidence) -> bool:
        return not self._is_proposed and not self._training.is_busy and self._will_help(known)

    def _will_help(self, known: Evidence) -> bool:
        state = self._session.state
        return state is not None and known.labels(state).will_help

    def _on_used(self, name: str) -> None:
        self._training.dismiss()
        self._toast.say(
            tr("Now using %1", name),
            action=tr("Undo"),
            on_action=self._session.undo,
        )

    def _on_phase_changed(self, phase: Phase) -> None:
        """Tell somebody who looks elsewhere how it ended."""
        if self.panel is not None and self.panel.isVisible():
            return
        if phase is Phase.FAILED:
            self._toast.say_failure(self._training.error)
        elif phase is Phase.DONE and self._training.trained is not None:
            depth = self._training.trained.depth
            self._toast.say(
                outcome_line(self._training.trained),
                action=tr("Show"),
                on_action=lambda: self.open_panel(depth),
            )
