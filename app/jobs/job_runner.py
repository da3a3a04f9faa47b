"""Queue of heavy jobs: one at a time, the others wait. The status bar watches it."""

from typing import final

from PySide6.QtCore import QObject, Signal

from app.jobs.job import Job, JobState


@final
class JobRunner(QObject):
    """Starts queued jobs in order, one at a time; also shows jobs that run elsewhere (`watch`).

    Signals:
        job_added: a job was queued or is watched.
        job_ended: it is done, failed or cancelled, and no longer in `jobs`.
        stopping: the program ends; every job was stopped.
    """

    job_added = Signal(object)
    job_ended = Signal(object)
    stopping = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs: list[Job] = []
        self._queue: list[Job] = []
        self._current: Job | None = None
        self._is_stopped = False

    @property
    def jobs(self) -> tuple[Job, ...]:
        """Jobs that wait or run, oldest first."""
        return tuple(self._jobs)

    def run(self, job: Job) -> None:
        """Queue a heavy job; it starts when those before it have ended."""
        self._queue.append(job)
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
        while self._current is None and self._queue and not self._is_stopped:
            job = self._queue.pop(0)
            if job.state is JobState.QUEUED:
                self._current = job
                job.start()

    def _on_job_ended(self, job: Job) -> None:
        if job in self._jobs:
            self._jobs.remove(job)
        if job in self._queue:
            self._queue.remove(job)
        self.job_ended.emit(job)
        if job is self._current:
            self._current = None
        self._start_next()
        job.deleteLater()
