"""How long training a backbone would take on this computer: measured in a child process when somebody wants to know."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QObject, QTimer, Signal

from app.jobs.process_job import ProcessJob
from app.texts import tr
from app.training.logic import Plan, StartingPoint
from engine.training.curve import TrainingDuration

if TYPE_CHECKING:
    from app.session import Session
    from engine.collection.messages import EstimateTraining
    from engine.project import Change

MakeJob = Callable[[str, "EstimateTraining"], ProcessJob]
_Key = tuple[StartingPoint, int | None]
SETTLING_MS: Final = 1_500  # without another label for so long, the labels are what a training would learn from


@final
class Forecast(QObject):
    """Measures once for each network to start from, and again when the project has another model or other labels."""

    changed = Signal()  # `of` answers otherwise now

    def __init__(self, session: Session, make_job: MakeJob = ProcessJob, parent: QObject | None = None) -> None:
        super().__init__(parent or session)
        self._session = session
        self._make_job = make_job
        self._known: dict[_Key, TrainingDuration | None] = {}
        self._job: ProcessJob | None = None
        self._settling = QTimer(self, singleShot=True, interval=SETTLING_MS)
        self._settling.timeout.connect(self.changed)
        session.closed.connect(self._forget)
        session.change_made.connect(self._on_change_made)

    def of(self, plan: Plan) -> TrainingDuration | None:
        """How long a plan's kind of training takes; None while nobody knows."""
        return self._known.get((plan.start, plan.side))

    @property
    def is_measuring(self) -> bool:
        return self._job is not None or self._settling.isActive()

    def want(self, plan: Plan) -> None:
        """Measure what is not known yet; one thing at a time, and nothing while labels still come."""
        from engine.collection.messages import EstimateTraining

        info, key = self._session.info, (plan.start, plan.side)
        if info is None or self.is_measuring or key in self._known:
            return
        settings = {name: value for name, value in plan.settings().items() if name != "iterations"}
        request = EstimateTraining(info.path, self._session.caches.root, settings)
        job = self._make_job(tr("Measuring how long training takes"), request)
        job.finished.connect(lambda duration: self._take(key, duration))
        job.failed.connect(lambda _message: self._take(key, None))
        job.ended.connect(self._on_ended)
        self._job = job
        self._session.jobs.watch(job)
        job.start()

    def _take(self, key: _Key, duration: TrainingDuration | None) -> None:
        self._known[key] = duration

    def _on_ended(self) -> None:
        self._job = None
        self.changed.emit()

    def _on_change_made(self, change: Change) -> None:
        """Other labels make other iterations: a training takes longer with more images of a class."""
        if change.settings:
            self._forget()
        elif change.labelled or change.graph_edits or change.images_removed:
            self._forget()
            self._settling.start()
            self.changed.emit()

    def _forget(self) -> None:
        self._settling.stop()
        self._known.clear()
        if self._job is not None:
            self._job.cancel()
