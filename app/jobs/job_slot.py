"""A place for one kind of work, one job at a time, with all that screens show of it."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Any, final

from PySide6.QtCore import QObject, Signal

from app.jobs.process_job import ProcessJob
from engine.events import Progress
from engine.worker.protocol import Request

if TYPE_CHECKING:
    from app.jobs.job_runner import JobRunner
    from engine.embedding.messages import EmbedBatch, EmbedResult

MakeJob = Callable[[str, Request[Any]], ProcessJob]


class Stage(StrEnum):
    """Where the work is; IDLE before it, after a cancel, and when its end was seen."""

    IDLE = "idle"
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@final
class JobSlot(QObject):
    """One kind of work, one at a time, with all that screens show of it; it goes on while no screen looks.

    Signals:
        stage_changed: the new `Stage`; all attributes fit it already.
        progressed: the newest `Progress`.
        finished: the worker's result; `stage_changed` comes after it.

    Args:
        jobs: the jobs it joins.
        is_heavy: whether it waits until other heavy work is done; other work starts at once.
        keeps_finished: whether a stop keeps what was finished.
    """

    stage_changed = Signal(Stage)
    progressed = Signal(Progress)
    finished = Signal(object)

    def __init__(self, jobs: JobRunner, *, is_heavy: bool = False, keeps_finished: bool = True) -> None:
        super().__init__(jobs)
        self.make_job: MakeJob = ProcessJob
        self.stage = Stage.IDLE
        self.subject = ""
        self.progress: Progress | None = None
        self.error = ""
        self.news: list[EmbedResult] = []
        self._jobs = jobs
        self._is_heavy = is_heavy
        self._keeps_finished = keeps_finished
        self._job: ProcessJob | None = None

    @property
    def is_busy(self) -> bool:
        """Whether it waits or runs."""
        return self.stage in (Stage.WAITING, Stage.RUNNING)

    def start(self, title: str, request: Request[Any], *, subject: str = "") -> None:
        """Begin, unless it is at work already.

        Args:
            title: what the status bar says.
            request: what the worker is asked for.
            subject: what it is about, for screens.
        """
        if self.is_busy:
            return
        self.subject, self.progress, self.error, self.news = subject, None, "", []
        job = self.make_job(title, request)
        job.keeps_finished = self._keeps_finished
        job.event_came.connect(self._on_batch)
        self._follow(job)
        self._enter(Stage.WAITING)
        if self._is_heavy:
            self._jobs.run(job)
        else:
            self._jobs.watch(job)
            job.start()

    def cancel(self) -> None:
        if self._job is not None:
            self._job.cancel()

    def abandon(self) -> None:
        """Ask it to stop, and be free at once: nobody hears of it any more, however it ends."""
        job, self._job = self._job, None
        if job is not None:
            job.cancel()
            self._enter(Stage.IDLE)

    def dismiss(self) -> None:
        """The person has seen the end, and goes on."""
        if not self.is_busy and self.stage is not Stage.IDLE:
            self._enter(Stage.IDLE)

    def _follow(self, job: ProcessJob) -> None:
        def while_wanted(hear: Callable[..., None]) -> Callable[..., None]:
            return lambda *arguments: hear(*arguments) if self._job is job else None

        self._job = job
        job.started.connect(while_wanted(lambda: self._enter(Stage.RUNNING)))
        job.progress.connect(while_wanted(self._on_progress))
        job.finished.connect(while_wanted(self._on_finished))
        job.failed.connect(while_wanted(self._on_failed))
        job.cancelled.connect(while_wanted(self._on_cancelled))

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

    def _on_finished(self, result: object) -> None:
        self.stage = Stage.DONE
        self.finished.emit(result)
        self._enter(Stage.DONE)

    def _on_failed(self, message: str) -> None:
        self.error = message
        self._enter(Stage.FAILED)

    def _on_cancelled(self) -> None:
        self._enter(Stage.IDLE)
