"""Queues of heavy jobs: embedding never waits for a training. The status bar watches them."""

from enum import Enum, auto
from itertools import takewhile
from typing import final

from PySide6.QtCore import QObject, Signal

from app.jobs.job import Job


class Lane(Enum):
    """What a heavy job waits for: in each lane one job runs at a time."""

    EMBEDDING = auto()
    """For those before it in this lane: photos that are dropped while a backbone trains are embedded at once."""
    TRAINING = auto()
    """For every heavy job before it: it learns from what they embed."""


@final
class JobRunner(QObject):
    """Starts queued jobs in order; also shows jobs that run elsewhere (`watch`).

    Signals:
        job_added: a job was queued or is watched.
        job_ended: it is done, failed or cancelled, and no longer in `jobs`.
        stopping: the program ends; every job was stopped.
    """

    job_added = Signal(Job)
    job_ended = Signal(Job)
    stopping = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs: list[Job] = []
        self._heavy: dict[Job, Lane] = {}  # that wait or run, oldest first
        self._begun: set[Job] = set()
        self._is_stopped = False

    @property
    def jobs(self) -> tuple[Job, ...]:
        """Jobs that wait or run, oldest first."""
        return tuple(self._jobs)

    def run(self, job: Job, lane: Lane = Lane.EMBEDDING) -> None:
        """Queue a heavy job; it starts when those that it waits for have ended."""
        self._heavy[job] = lane
        self.watch(job)
        self._start_next()

    def watch(self, job: Job) -> None:
        """Show a job that somebody else starts."""
        job.setParent(self)
        self._jobs.append(job)
        job.ended.connect(lambda: self._on_job_ended(job))
        self.job_added.emit(job)

    def cancel_all(self) -> None:
        """Ask every job to stop."""
        for job in reversed(self._jobs.copy()):
            job.cancel()

    def stop(self) -> None:
        """End every job before the program ends, and begin no other. May block for a moment."""
        self._is_stopped = True
        for job in reversed(self._jobs.copy()):
            job.stop()
        self.stopping.emit()

    def _start_next(self) -> None:
        for job in list(self._heavy):
            if job in self._heavy and job not in self._begun and not self._is_stopped and self._may_start(job):
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
