"""Slots: one kind of background work, one job at a time."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Any, final

from PySide6.QtCore import QObject, Signal

from app.jobs.background_thread import BackgroundThread, DetachedJob, ThreadJob, Work, ignore
from app.jobs.process_job import ProcessJob
from engine.events import Progress

if TYPE_CHECKING:
    from app.jobs.job import Job, JobRunner
    from engine.embedding.messages import EmbedBatch, EmbedResult
    from engine.worker.protocol import Request

MakeJob = Callable[[str, "Request[Any]"], ProcessJob]


class Stage(StrEnum):
    """Stages of a slot.

    `IDLE`: before the start, after a cancel, and after the end was dismissed.
    """

    IDLE = "idle"
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@final
class JobSlot(QObject):
    """One kind of work, one job at a time, with the state that screens show.

    A request runs in a worker process; a function on `thread`, or without one on its own thread,
    which a cancel abandons. Nothing is reported of a job once another one has replaced it.

    Args:
        jobs: lists the job in the status bar; None for work that is not shown.
        thread: runs functions in the order of their start.
        is_heavy: whether the job waits for other heavy jobs.
        keeps_finished: whether partial results are kept after a cancel.
    """

    stage_changed = Signal(Stage)  # emitted after all attributes are up to date
    progressed = Signal(Progress)
    finished = Signal(object)  # the result; emitted before `stage_changed`

    def __init__(
        self,
        jobs: JobRunner | None = None,
        thread: BackgroundThread | None = None,
        *,
        parent: QObject | None = None,
        is_heavy: bool = False,
        keeps_finished: bool = True,
    ) -> None:
        super().__init__(parent or jobs)
        self.make_job: MakeJob = ProcessJob
        self.stage = Stage.IDLE
        self.subject = ""
        self.progress: Progress | None = None
        self.error = ""
        self.news: list[EmbedResult] = []
        self._jobs = jobs
        self._thread = thread
        self._is_heavy = is_heavy
        self.keeps_finished = keeps_finished
        self._job: Job | None = None

    @property
    def is_busy(self) -> bool:
        return self.stage in (Stage.WAITING, Stage.RUNNING)

    def start(
        self,
        title: str,
        work: Request[Any] | Work,
        on_finished: Callable[[Any], object] = ignore,
        on_failed: Callable[[str], object] = ignore,
        *,
        on_cancelled: Callable[[], object] = ignore,
        subject: str = "",
        replaces: bool = False,
    ) -> None:
        """Start the work, unless busy.

        Args:
            title: shown in the status bar.
            work: a request, or a function of `on_progress` and `cancel`.
            on_finished: called with the result; no callback is called for an abandoned job.
            on_failed: called with a message.
            on_cancelled: called after a cancel.
            subject: what the work is about, for screens.
            replaces: abandon the job in progress.
        """
        if replaces:
            self.abandon()
        if self.is_busy:
            return
        self.subject, self.progress, self.error, self.news = subject, None, "", []
        job = self._make(title, work)
        job.keeps_finished = self.keeps_finished
        self._follow(job, on_finished, on_failed, on_cancelled)
        self._enter(Stage.WAITING)
        if self._jobs is None:
            job.setParent(self)
            job.ended.connect(job.deleteLater)
            job.start()
        elif self._is_heavy:
            self._jobs.run(job)
        else:
            self._jobs.watch(job)
            job.start()

    def cancel(self) -> None:
        """Cancel the work at its next safe point."""
        if self._job is not None:
            self._job.cancel()

    def abandon(self) -> None:
        """Cancel, and become idle at once; the job's end is ignored."""
        job, self._job = self._job, None
        if job is not None:
            job.cancel()
            self._enter(Stage.IDLE)

    def stop(self) -> None:
        """Abandon the job before the program ends. May block for a moment."""
        job, self._job = self._job, None
        if job is not None:
            job.stop()
            self._enter(Stage.IDLE)

    def dismiss(self) -> None:
        """Reset to idle after the user has seen the end."""
        if not self.is_busy and self.stage is not Stage.IDLE:
            self._enter(Stage.IDLE)

    def _make(self, title: str, work: Request[Any] | Work) -> Job:
        if not callable(work):
            job = self.make_job(title, work)
            job.event_came.connect(self._on_batch)
            return job
        if self._thread is not None:
            return ThreadJob(title, work, self._thread)
        return DetachedJob(title, work)

    def _follow(
        self,
        job: Job,
        on_finished: Callable[[Any], object],
        on_failed: Callable[[str], object],
        on_cancelled: Callable[[], object],
    ) -> None:
        def unless_replaced(slot: Callable[..., object]) -> Callable[..., object]:
            return lambda *arguments: slot(*arguments) if self._job is job else None

        def finish(result: object) -> None:
            self.stage = Stage.DONE
            self.finished.emit(result)
            self._enter(Stage.DONE)
            on_finished(result)

        def fail(message: str) -> None:
            self.error = message
            self._enter(Stage.FAILED)
            on_failed(message)

        def end_cancelled() -> None:
            self._enter(Stage.IDLE)
            on_cancelled()

        self._job = job
        job.started.connect(unless_replaced(lambda: self._enter(Stage.RUNNING)))
        job.progress.connect(unless_replaced(self._on_progress))
        job.finished.connect(unless_replaced(finish))
        job.failed.connect(unless_replaced(fail))
        job.cancelled.connect(unless_replaced(end_cancelled))

    def _enter(self, stage: Stage) -> None:
        self.stage = stage
        if not self.is_busy:
            self._job = None
        self.stage_changed.emit(stage)

    def _on_progress(self, progress: Progress) -> None:
        self.progress = progress
        self.progressed.emit(progress)

    def _on_batch(self, batch: EmbedBatch) -> None:
        self.news += batch.results
