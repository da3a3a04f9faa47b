"""Work that is mostly over at once, on a thread that others use, too; a job shows it once it takes long."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, final

from app.jobs.job import Job
from engine.events import CancelToken, Progress

if TYPE_CHECKING:
    from app.jobs.job import JobRunner

SHOWN_AFTER_S: Final = 0.5  # work that is over sooner is not shown


@final
class SlowWorkJob(Job):
    """Shows the work; a cancel leaves everything as it was."""

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
    """The work as its thread meets it.

    Args:
        title: of the job.
        jobs: show the job.
        post: calls a function on the GUI thread.
    """

    def __init__(
        self, title: str, jobs: JobRunner, post: Callable[[Callable[[], None]], None]
    ) -> None:
        self.cancel = CancelToken()
        self._title, self._jobs, self._post = title, jobs, post
        self._begun_s = time.monotonic()
        self._job: SlowWorkJob | None = None  # touched on the GUI thread only

    def on_progress(self, progress: Progress) -> None:
        """Show how far the work is; on its thread."""
        if time.monotonic() - self._begun_s >= SHOWN_AFTER_S:
            self._post(lambda: self._show(progress))

    def end(self) -> None:
        """The work ended in whatever way; on its thread."""
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
