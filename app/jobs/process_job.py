"""Jobs that run in a worker process."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, final

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from app.jobs.job import Job
from app.texts import tr
from engine.events import Progress
from engine.worker.client import Died, Done, Ending, Worker
from engine.worker.protocol import Failed, Request, Stopped

_log = logging.getLogger(__name__)

# A cancelled worker finishes its batch; after this time it is killed.
CANCEL_GRACE_MS = 5_000
STOP_GRACE_S = 2.0  # the same when the program ends


class WorkerJob(Job):
    """Base of jobs in a worker process; delivers its results on the GUI thread.

    A subclass sends its first request in `start`, and handles the result in `_on_result`.
    """

    # Events other than progress, such as a batch of results or a point of a curve.
    event_came = Signal(object)
    _came = Signal()

    def __init__(
        self, title: str, *, cancel_grace_ms: int = CANCEL_GRACE_MS, parent: QObject | None = None
    ) -> None:
        super().__init__(title, parent)
        self.details = ""  # traceback or last output of a worker that crashed
        self._worker: Worker | None = None
        self._number = 0
        self._is_asking = False
        self._was_cancelled = False
        self._answers: deque[Callable[[], None]] = deque()
        self._posting = threading.Lock()
        self._came.connect(self._take_answers, Qt.ConnectionType.QueuedConnection)
        self._kill_timer = QTimer(self, singleShot=True, interval=cancel_grace_ms)
        self._kill_timer.timeout.connect(lambda: self._worker.kill() if self._worker else None)

    @property
    def process_id(self) -> int:
        """Process id of the worker; 0 without one."""
        return 0 if self._worker is None else self._worker.process_id

    def cancel(self) -> None:
        """Tell the worker to stop; kill it after a grace period."""
        self._was_cancelled = True
        if not self._is_asking:
            self._stop()
        elif self._worker is not None and not self.has_ended:
            self._worker.cancel(self._number)
            self._kill_timer.start()

    def stop(self) -> None:
        self.cancel()
        if self._worker is not None:
            self._worker.stop(STOP_GRACE_S)
            self._take_answers()

    def _ask(self, worker: Worker, request: Request[Any]) -> None:
        self._worker, self._is_asking = worker, True
        self._number = worker.send(
            request,
            lambda event: self._bring(lambda: self._on_event(event)),
            lambda ending: self._bring(lambda: self._on_ending(ending)),
        )

    def _bring(self, answer: Callable[[], None]) -> None:
        """Deliver on the GUI thread; called on a thread of the worker's client."""
        with self._posting, suppress(RuntimeError):  # the job may have been deleted
            self._answers.append(answer)
            self._came.emit()

    def _take_answers(self) -> None:
        while True:
            # The worker's thread has emitted the signal, so the job may be deleted.
            with self._posting:
                if not self._answers:
                    return
                answer = self._answers.popleft()
            answer()

    def _on_event(self, event: object) -> None:
        if isinstance(event, Progress):
            self._report(event)
        else:
            self.event_came.emit(event)

    def _on_ending(self, ending: Ending) -> None:
        self._kill_timer.stop()
        self._is_asking = False
        match ending:
            case Done(result):
                self._on_result(result)
            case Failed(message) if message:
                self._fail(ending.as_error().translated())
            case _ if self._was_cancelled or isinstance(ending, Stopped):
                self._stop()
            case Failed(_, traceback):
                self._crash(traceback)
            case Died(status, stderr):
                self._crash(f"status {status}\n{stderr}")

    def _on_result(self, result: object) -> None:
        self._succeed(result)

    def _crash(self, details: str) -> None:
        self.details = details
        _log.error("the worker ended without a result: %s", details)
        kept = tr(
            "{1} ended unexpectedly. What was finished is kept; start it again to resume.",
            self.title,
        )
        lost = tr("{1} ended unexpectedly. The project is as it was; start it again.", self.title)
        self._fail(kept if self.keeps_finished else lost)

    def _refuse_to_start(self) -> None:
        self._fail(tr("{1} could not start: the program cannot run itself again.", self.title))


@final
class ProcessJob(WorkerJob):
    """One request in its own process, by default a worker of this program."""

    def __init__(
        self,
        title: str,
        request: Request[Any],
        command: Sequence[str] = (),
        *,
        cancel_grace_ms: int = CANCEL_GRACE_MS,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(title, cancel_grace_ms=cancel_grace_ms, parent=parent)
        self._request = request
        self._command = command

    def start(self) -> None:
        try:
            worker = Worker(self._command)
        except OSError:
            self._refuse_to_start()
            return
        self._ask(worker, self._request)
        self._begin()  # last, so that listeners can cancel

    def _on_ending(self, ending: Ending) -> None:
        """Report the end after the process has exited and all its output was read."""
        if self._worker is not None:
            self._worker.join()
        super()._on_ending(ending)
