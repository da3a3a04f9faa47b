"""Training of the open project in a child process, and the estimate of its duration."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from PySide6.QtCore import QObject, QTimer, Signal

from app.jobs.background_thread import BackgroundThread, DetachedJob, ignore
from app.jobs.job import Job, Lane
from app.jobs.process_job import ProcessJob
from app.jobs.slot import JobSlot
from app.texts import marked, tr
from app.training.logic import Curves, Depth, Figures, Plan, StartingPoint, Trained, store_trained
from engine.errors import Cancelled
from engine.events import CancelToken, OnProgress, Progress
from engine.full_disk import storage_error
from engine.new_folder import ScratchFolder, clear_abandoned
from engine.training.curve import TrainingDuration

if TYPE_CHECKING:
    from app.session import ProjectInfo, Session
    from engine.collection.live import LiveCollection
    from engine.project import Change
    from engine.requests import TrainingResult
    from engine.training.curve import TrainingPoint

MakeJob = Callable[[str, Any], ProcessJob]
Store = Callable[["LiveCollection", Trained, Path], Trained]
TITLES = {
    Depth.PROPAGATION: marked("Tuning propagation"),
    Depth.BACKBONE: marked("Training the backbone"),
}
# Debounce: time without a new label before the duration is measured.
SETTLING_MS = 1_500
FOLDER = "training"
TRAINED = "trained"


@final
class Forecast(QObject):
    """Estimates the duration of a training for each starting network; changes invalidate it."""

    changed = Signal()  # the result of `of` changed

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self.measuring = JobSlot(session.jobs)
        self._known: dict[tuple[StartingPoint, int | None], TrainingDuration | None] = {}
        self._settling = QTimer(self, singleShot=True, interval=SETTLING_MS)
        self._settling.timeout.connect(self.changed)
        session.closed.connect(self._forget)
        session.change_made.connect(self._on_change_made)

    def of(self, plan: Plan) -> TrainingDuration | None:
        """Estimated duration for the kind of training of a plan; None while unknown."""
        return self._known.get((plan.start, plan.side))

    @property
    def is_measuring(self) -> bool:
        return self.measuring.is_busy or self._settling.isActive()

    def want(self, plan: Plan) -> None:
        """Measure an unknown duration, unless another measurement runs or labels still change."""
        from engine.requests import EstimateTraining

        info, key = self._session.info, (plan.start, plan.side)
        if info is None or self.is_measuring or key in self._known:
            return
        settings = {name: value for name, value in plan.settings().items() if name != "iterations"}
        request = EstimateTraining(info.path, self._session.caches.root, settings)
        self.measuring.start(
            tr("Estimating training time"),
            request,
            lambda duration: self._on_measured(key, duration),
            lambda _message: self._on_measured(key, None),
            on_cancelled=self.changed.emit,
        )

    def _on_measured(
        self, key: tuple[StartingPoint, int | None], duration: TrainingDuration | None
    ) -> None:
        self._known[key] = duration
        self.changed.emit()

    def _on_change_made(self, change: Change) -> None:
        """Invalidate estimates: the number of iterations depends on the labels and the model."""
        if change.settings:
            self._forget()
        elif change.labelled or change.graph_edits or change.images_removed:
            self._forget()
            self._settling.start()
            self.changed.emit()

    def _forget(self) -> None:
        self._settling.stop()
        self._known.clear()
        self.measuring.cancel()


class Phase(StrEnum):
    """State of a training; IDLE before it and after its result was accepted or dismissed."""

    IDLE = "idle"
    WAITING = "waiting"
    RUNNING = "running"
    STORING = "storing"
    DONE = "done"
    FAILED = "failed"


BUSY = frozenset({Phase.WAITING, Phase.RUNNING, Phase.STORING})


@final
class Training(QObject):
    """One training at a time, with its state for the screens; independent of open screens."""

    phase_changed = Signal(Phase)  # emitted after all attributes were updated
    point_added = Signal()
    progressed = Signal(Progress)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.phase = Phase.IDLE
        self.plan: Plan | None = None
        self.curves = Curves()
        self.progress: Progress | None = None
        self.trained: Trained | None = None
        self.error = ""
        self._session = session
        self._make_job: MakeJob = ProcessJob
        self._store: Store = store_trained
        self._job: Job | None = None
        self._folder: ScratchFolder | None = None
        session.closed.connect(self._on_closed)
        session.change_made.connect(self._on_change_made)
        self._cleaning = BackgroundThread("training folders", self)
        self._cleaning.submit(lambda: clear_abandoned(session.caches.root / FOLDER), ignore)
        session.jobs.stopping.connect(self._cleaning.stop)

    @property
    def is_busy(self) -> bool:
        return self.phase in BUSY

    def start(self, plan: Plan) -> None:
        """Queue a training; does nothing if one is busy or the project is read-only."""
        info = self._session.info
        if self.is_busy or info is None or not info.is_writable:
            return
        self._forget(plan)
        job = DetachedJob(tr(TITLES[plan.depth]), self._make_folder)
        job.keeps_finished = False
        job.finished.connect(lambda folder: self._train(plan, info, folder))
        self._follow(job)
        self._enter(Phase.WAITING)
        self._session.jobs.watch(job)
        job.start()

    def _make_folder(self, _on_progress: OnProgress, cancel: CancelToken) -> ScratchFolder:
        root = self._session.caches.root
        try:
            folder = ScratchFolder(root / FOLDER)
        except OSError as error:
            raise storage_error(root, error, "the training cannot be saved") from error
        if cancel.is_cancelled:
            folder.remove()
            raise Cancelled
        return folder

    def _train(self, plan: Plan, info: ProjectInfo, folder: ScratchFolder) -> None:
        self._folder = folder
        from engine.requests import Train

        out = folder.path / TRAINED
        request = Train(
            info.path, self._session.caches.root, plan.depth.value, out, plan.settings()
        )
        job = self._make_job(tr(TITLES[plan.depth]), request)
        job.keeps_finished = False
        job.event_came.connect(self._on_point)
        job.started.connect(lambda: self._enter(Phase.RUNNING))
        job.progress.connect(self._on_progress)
        job.finished.connect(lambda result: self._on_finished(plan.depth, info.path, result))
        self._follow(job)
        self._session.jobs.run(job, Lane.TRAINING)

    def cancel(self) -> None:
        if self._job is not None:
            self._job.cancel()

    def dismiss(self) -> None:
        if not self.is_busy:
            self._enter(Phase.IDLE)

    def _forget(self, plan: Plan | None) -> None:
        self.plan, self.curves, self.progress, self.trained, self.error = (
            plan,
            Curves(),
            None,
            None,
            "",
        )

    def _follow(self, job: Job) -> None:
        self._job = job
        job.failed.connect(self._on_failed)
        job.cancelled.connect(self._on_cancelled)

    def _enter(self, phase: Phase) -> None:
        self.phase = phase
        if phase not in BUSY:
            self._job = None
        self.phase_changed.emit(phase)

    def _on_point(self, point: TrainingPoint) -> None:
        self.curves.add(point)
        self.point_added.emit()

    def _on_progress(self, progress: Progress) -> None:
        self.progress = progress
        self.progressed.emit(progress)

    def _on_finished(self, depth: Depth, project_path: Path, files: TrainingResult) -> None:
        """Store the new version in the project; the user chooses whether to use it."""
        trained = Trained(depth, files.folder, files.name, Figures.of_named(files.figures))
        job = self._session.run_long(
            lambda live, _on_progress, _cancel: self._store(live, trained, project_path),
            title=tr("Saving the new model version"),
            change_of=lambda _trained: None,
        )
        job.finished.connect(self._on_stored)
        self._follow(job)
        self._enter(Phase.STORING)

    def _on_stored(self, trained: Trained) -> None:
        self._clean_up()
        self.trained = trained
        self._enter(Phase.DONE)

    def _on_failed(self, message: str) -> None:
        self._clean_up()
        self.error = message
        self._enter(Phase.FAILED)

    def _on_cancelled(self) -> None:
        self._clean_up()
        self._forget(None)
        self._enter(Phase.IDLE)

    def _on_closed(self) -> None:
        if self.is_busy:
            self.cancel()
        else:
            self._forget(None)
            self._enter(Phase.IDLE)

    def _on_change_made(self, change: Change) -> None:
        if self.phase is Phase.FAILED and not change.is_empty:
            self.dismiss()

    def _clean_up(self) -> None:
        """Delete the scratch folder in the background."""
        folder, self._folder = self._folder, None
        if folder is not None:
            self._cleaning.submit(folder.remove, ignore)
