"""A job that nobody has to wait for: it asks a disk, which may be a share that is gone."""

import threading
import time
from collections.abc import Callable, Sequence
from types import FunctionType, MethodType
from typing import Final, final

from PySide6.QtCore import QObject, Qt, Signal

from app.jobs.background_thread import sentence_for
from app.jobs.job import Job
from app.jobs.thread_job import Work
from app.signal_types import either
from engine.errors import Cancelled
from engine.events import CancelToken

LEAVING_S: Final = 0.5
"""The end of the program waits this long for threads that read files. Chosen: a decoded photo is done by then."""


@final
class DetachedJob(Job):
    """Runs `work(on_progress, cancel)` on a thread of its own; a cancel ends the job at once and leaves the thread.

    Only for work that reads: what it does after a cancel, and at the end of the program, is lost.
    """

    _came_back = Signal(either(FunctionType | MethodType))

    def __init__(self, title: str, work: Work, parent: QObject | None = None) -> None:
        super().__init__(title, parent)
        self._work = work
        self._token = CancelToken()
        self._posting = threading.Lock()  # held while a signal is sent, so that the job cannot go away meanwhile
        self._thread = threading.Thread(target=self._run, name=title, daemon=True)
        self._came_back.connect(self._on_came_back, Qt.ConnectionType.QueuedConnection)

    def start(self) -> None:
        """Begin on the thread of its own."""
        self._begin()
        self._thread.start()

    def cancel(self) -> None:
        """End the job now, whatever its thread waits for."""
        with self._posting:
            self._token.cancel()
        self._stop()

    def stop(self) -> None:
        """End it before the program ends."""
        self.cancel()
        leave([self._thread])

    # -- on the thread

    def _run(self) -> None:
        try:
            result = self._work(lambda progress: self._post(lambda: self._report(progress)), self._token)
        except Cancelled:
            self._post(self._stop)
        except Exception as error:  # noqa: BLE001 (the job runner is where bugs stop: logged and shown once)
            line = sentence_for(error)
            self._post(lambda: self._fail(line))
        else:
            self._post(lambda: self._succeed(result))

    def _post(self, deliver: Callable[[], None]) -> None:
        with self._posting:
            if not self._token.is_cancelled:
                self._came_back.emit(deliver)

    def _on_came_back(self, deliver: Callable[[], None]) -> None:
        with self._posting:  # its thread has left the signal
            pass
        deliver()


def leave(threads: Sequence[threading.Thread]) -> None:
    """Wait for threads that were asked to end, `LEAVING_S` in all; those that wait for a slow disk are left behind."""
    until_s = time.monotonic() + LEAVING_S
    for thread in threads:
        if thread.is_alive():
            thread.join(max(0.0, until_s - time.monotonic()))
