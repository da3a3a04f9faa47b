"""A job that runs a plain function on a background thread."""

from collections.abc import Callable
from typing import final

from PySide6.QtCore import QObject

from app.jobs.background_thread import BackgroundThread, sentence_for
from app.jobs.job import Job
from engine.errors import Cancelled
from engine.events import CancelToken, OnProgress, Progress

Work = Callable[[OnProgress, CancelToken], object]


@final
class ThreadJob(Job):
    """Runs `work(on_progress, cancel)` on `thread`, after everything submitted to it before."""

    def __init__(self, title: str, work: Work, thread: BackgroundThread, parent: QObject | None = None) -> None:
        super().__init__(title, parent)
        self._work = work
        self._thread = thread
        self._token = CancelToken()

    def start(self) -> None:
        """Queue the work on the thread."""
        self._thread.submit(self._run, self._fail)

    def cancel(self) -> None:
        """Ask the work to stop; work that has not begun will not."""
        self._token.cancel()

    def _run(self) -> None:
        """Run on the background thread; each turn of the story goes back to the GUI thread."""
        post = self._thread.post
        try:
            self._token.raise_if_cancelled()
            post(self._begin)
            result = self._work(self._on_progress, self._token)
        except Cancelled:
            post(self._stop)
        except Exception as error:  # noqa: BLE001 (the job runner is where bugs stop: logged and shown once)
            line = sentence_for(error)
            post(lambda: self._fail(line))
        else:
            post(lambda: self._succeed(result))

    def _on_progress(self, progress: Progress) -> None:
        self._thread.post(lambda: self._report(progress))
