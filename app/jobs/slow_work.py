"""Work on a shared thread that is usually instant; shown as a job once it takes long."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, final

from app.jobs.job import Job
from engine.events import CancelToken, Progress

if TYPE_CHECKING:
    from app.jobs.job import JobRunner

SHOWN_AFTER_S = 0.5  # work that ends sooner is not shown


@final
class SlowWorkJob(Job):
    """Job that shows the work; a cancel changes nothing in the project."""

    def __init__(self, title: str, token: CancelToken) -> None:
        super().__init__(title)
        self.keeps_finished = False
        self._token = token

    def start(self) -> None:
        self._begin()

    def cancel(self) -> None:
        self._token.cancel()
        self._stop()

    def show(self, progress: Progress) -> None:
        self._report(progress)

    def end(self) -> None:
        self._succeed(None)


@final
class SlowWork:
    """Progress, cancel token and end of the work, for use on its thread.

    Args:
        title: of the job.
        jobs: lists the job.
        post: calls a function on the GUI thread.
    """

    def __init__(
        self, title: str, jobs: JobRunner, post: Callable[[Callable[[], None]], None]
    ) -> None:
        self.cancel = CancelToken()
        self._title, self._jobs, self._post = title, jobs, post
        self._begun_s = time.monotonic()
        self._job: SlowWorkJob | None = None  # accessed on the GUI thread only

    def on_progress(self, progress: Progress) -> None:
        """Show progress; called on the thread of the work."""
        if time.monotonic() - self._begun_s >= SHOWN_AFTER_S:
            self._post(lambda: self._show(progress))

    def end(self) -> None:
        """Mark the work as ended, for any reason; called on its thread."""
        self._post(self._end)

    def _show(self, progress: Progress) -> None:
        if self._job is None:
            self._job = SlowWorkJob(self._title, self.cancel)
            self._jobs.watch(self._job)
            self._job.start()
        self._job.show(progress)

    def _end(self) -> None:
        job, self._job = self._job, None
        if job is not None:
            job.end()
