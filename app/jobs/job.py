"""A long piece of work as the window sees it: a title, a state, progress, and one of three ends."""

from enum import StrEnum

from PySide6.QtCore import QObject, Signal

from engine.events import Progress
from engine.files import shown


class JobState(StrEnum):
    """Where a job is in its life."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


ENDED = frozenset({JobState.DONE, JobState.FAILED, JobState.CANCELLED})


class Job(QObject):
    """Base of jobs; lives on the GUI thread. Exactly one of finished, failed, cancelled is said, then `ended`.

    A subclass overrides `start` and `cancel`, and tells its story with `_begin`, `_report`, `_succeed`, `_fail`
    and `_stop`.

    Attributes:
        keeps_finished: whether a stop keeps what was finished; false where only the whole is of use.
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
        self.state = JobState.QUEUED
        self.last_progress: Progress | None = None
        self.error = ""

    @property
    def has_ended(self) -> bool:
        """Whether the job is done, failed or cancelled."""
        return self.state in ENDED

    def start(self) -> None:
        """Begin the work; returns at once."""
        raise AssertionError(f"{type(self).__name__} does not say how it starts")

    def cancel(self) -> None:
        """Ask the work to stop at its next safe point."""
        raise AssertionError(f"{type(self).__name__} does not say how it is cancelled")

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
        if self._end(JobState.DONE):
            self.finished.emit(result)
            self.ended.emit()

    def _fail(self, message: str) -> None:
        if self._end(JobState.FAILED):
            self.error = shown(message)  # Qt would drop what is no Unicode in a path
            self.failed.emit(self.error)
            self.ended.emit()

    def _stop(self) -> None:
        if self._end(JobState.CANCELLED):
            self.cancelled.emit()
            self.ended.emit()

    def _end(self, state: JobState) -> bool:
        if self.has_ended:
            return False
        self.state = state
        return True
