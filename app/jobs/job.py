"""Long-running work as the window shows it, and the queues that start it."""

from abc import abstractmethod
from collections.abc import Callable
from enum import Enum, StrEnum, auto
from itertools import takewhile
from typing import final

from PySide6.QtCore import QObject, Signal

from engine.events import Progress
from engine.files import shown


class JobState(StrEnum):
    """Life cycle of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Job(QObject):
    """Base of jobs; lives on the GUI thread.

    Emits exactly one of `finished`, `failed` and `cancelled`, then `ended`. A subclass overrides
    `start` and `cancel`, and calls `_begin`, `_report`, `_succeed`, `_fail` and `_stop`.

    Attributes:
        keeps_finished: whether partial results are kept after a cancel.
        is_followed: whether longer work follows automatically, so that the time left for this job
            alone would be misleading.
    """

    started = Signal()
    progress = Signal(Progress)
    finished = Signal(object)
    failed = Signal(str)
    cancelled = Signal()
    ended = Signal()

    def __init__(self, title: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.title = title
        self.keeps_finished = True
        self.is_followed = False
        self.state = JobState.QUEUED
        self.last_progress: Progress | None = None
        self.error = ""

    @property
    def has_ended(self) -> bool:
        return self.state not in (JobState.QUEUED, JobState.RUNNING)

    @abstractmethod
    def start(self) -> None:
        """Start the work; returns at once."""

    @abstractmethod
    def cancel(self) -> None:
        """Cancel the work at its next safe point."""

    def stop(self) -> None:
        """End the work before the program ends. May block for a moment."""
        self.cancel()

    def _begin(self) -> None:
        if self.state is JobState.QUEUED:
            self.state = JobState.RUNNING
            self.started.emit()

    def _report(self, progress: Progress) -> None:
        if self.state is JobState.RUNNING:
            self.last_progress = progress
            self.progress.emit(progress)

    def _succeed(self, result: object) -> None:
        self._end(JobState.DONE, lambda: self.finished.emit(result))

    def _fail(self, message: str) -> None:
        if not self.has_ended:
            self.error = shown(message)  # Qt would drop undecodable characters of a path
        self._end(JobState.FAILED, lambda: self.failed.emit(self.error))

    def _stop(self) -> None:
        self._end(JobState.CANCELLED, self.cancelled.emit)

    def _end(self, state: JobState, emit: Callable[[], None]) -> None:
        if not self.has_ended:
            self.state = state
            emit()
            self.ended.emit()


class Lane(Enum):
    """Queues of heavy jobs: in each lane one job runs at a time."""

    # Waits for its own lane only: photos dropped during a training are embedded at once.
    EMBEDDING = auto()
    TRAINING = auto()  # waits for every heavy job: it learns from what they embed


@final
class JobRunner(QObject):
    """Starts queued jobs in order; also lists jobs that are started elsewhere (`watch`)."""

    job_added = Signal(Job)  # a job was queued or is watched
    job_ended = Signal(Job)  # it has ended, and is no longer in `jobs`
    stopping = Signal()  # the program is ending; every job was stopped

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs: list[Job] = []
        self._heavy: dict[Job, Lane] = {}  # queued and running ones, oldest first
        self._begun: set[Job] = set()
        self._is_stopped = False

    @property
    def jobs(self) -> tuple[Job, ...]:
        """Queued and running jobs, oldest first."""
        return tuple(self._jobs)

    def run(self, job: Job, lane: Lane = Lane.EMBEDDING) -> None:
        """Queue a heavy job."""
        self._heavy[job] = lane
        self.watch(job)
        self._start_next()

    def watch(self, job: Job) -> None:
        """List a job that is started elsewhere."""
        job.setParent(self)
        self._jobs.append(job)
        job.ended.connect(lambda: self._on_job_ended(job))
        self.job_added.emit(job)

    def cancel_all(self) -> None:
        for job in reversed(self._jobs.copy()):
            job.cancel()

    def stop(self) -> None:
        """Stop every job before the program ends, and start no more. May block for a moment."""
        self._is_stopped = True
        for job in reversed(self._jobs.copy()):
            job.stop()
        self.stopping.emit()

    def _start_next(self) -> None:
        for job in list(self._heavy):
            if (
                job in self._heavy
                and job not in self._begun
                and not self._is_stopped
                and self._may_start(job)
            ):
                self._begun.add(job)
                job.start()

    def _may_start(self, job: Job) -> bool:
        lane = self._heavy[job]
        before = takewhile(lambda other: other is not job, self._heavy)
        return not any(lane is Lane.TRAINING or self._heavy[other] is lane for other in before)

    def _on_job_ended(self, job: Job) -> None:
        if job in self._jobs:
            self._jobs.remove(job)
        self._heavy.pop(job, None)
        self._begun.discard(job)
        self.job_ended.emit(job)
        self._start_next()
        job.deleteLater()
