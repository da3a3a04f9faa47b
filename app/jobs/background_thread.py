"""Work on background threads; results are delivered on the GUI thread."""

import logging
import threading
import time
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import FunctionType, MethodType
from typing import TypeVar, final

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from app.jobs.job import Job
from app.signal_types import either
from app.texts import tr
from engine.errors import Cancelled, ProtoleafError
from engine.events import CancelToken, OnProgress
from engine.files import shown
from engine.full_disk import as_full_disk
from engine.priority import lower_thread_priority

_log = logging.getLogger(__name__)

Deliver = Callable[[], object]
T = TypeVar("T")


def ignore(*_result: object) -> None:
    """Do nothing with a result."""


@final
class BackgroundThread(QObject):
    """Runs submitted work in order on one thread; delivers results in order on the GUI thread.

    Submitted work always runs, even while the program is closing: no action of the user is lost.
    """

    busy_changed = Signal(bool)
    _result_ready = Signal(either(FunctionType | MethodType))

    def __init__(
        self, name: str, parent: QObject | None = None, *, is_low_priority: bool = True
    ) -> None:
        super().__init__(parent)
        self._executor = ThreadPoolExecutor(
            1, name, lower_thread_priority if is_low_priority else None
        )
        self._waiting = 0
        self._is_stopped = False
        self._arrived: deque[Deliver] = deque()
        self._result_ready.connect(self._on_result_ready, Qt.ConnectionType.QueuedConnection)
        # A queued signal would not yield to the event loop.
        self._turn = QTimer(self, singleShot=True, interval=0)
        self._turn.timeout.connect(self._deliver_next)

    @property
    def is_busy(self) -> bool:
        return self._waiting > 0

    def ask(
        self,
        question: Callable[[], T],
        on_answer: Callable[[T], object],
        on_failure: Callable[[str], object] = ignore,
    ) -> None:
        """Run `question` after all earlier work; its answer arrives on the GUI thread."""

        def work() -> None:
            answer = question()
            self.post(lambda: on_answer(answer))

        self.submit(work, on_failure)

    def submit(self, work: Callable[[], None], on_failure: Callable[[str], object]) -> None:
        """Run `work` after all earlier work; it delivers results with `post`.

        `on_failure` is called with a message.
        """
        if self._is_stopped:
            return
        self._waiting += 1
        if self._waiting == 1:
            self.busy_changed.emit(True)
        self._executor.submit(self._run, work, on_failure)

    def post(self, deliver: Deliver) -> None:
        """Call `deliver` on the GUI thread; safe from any thread."""
        self._result_ready.emit(deliver)

    def stop(self) -> None:
        """Finish submitted work, then end the thread. Blocks; later results are dropped."""
        self._is_stopped = True
        self._executor.shutdown(wait=True)

    def _run(self, work: Callable[[], None], on_failure: Callable[[str], object]) -> None:
        try:
            work()
        except Cancelled:
            pass
        except Exception as error:  # noqa: BLE001 (bugs are logged and shown here)
            line = sentence_for(error)
            self.post(lambda: on_failure(line))
        finally:
            self.post(self._count_finished)

    def _count_finished(self) -> None:
        self._waiting -= 1
        if self._waiting == 0:
            self.busy_changed.emit(False)

    def _on_result_ready(self, deliver: Deliver) -> None:
        """Queue a result; one is delivered per turn of the event loop, so that keys come first."""
        self._arrived.append(deliver)
        self._turn.start()

    def _deliver_next(self) -> None:
        deliver = self._arrived.popleft()
        if self._arrived:
            self._turn.start()
        deliver()


def sentence_for(error: Exception) -> str:
    """A message for the user; a bug is also logged with its traceback."""
    error = as_full_disk(error)
    if isinstance(error, ProtoleafError):
        return shown(error.translated())
    _log.error("unexpected error in the background", exc_info=error)
    line = "Something unexpected went wrong ({1}). Your project is safe; the log has the details."
    return tr(line, type(error).__name__)


Work = Callable[[OnProgress, CancelToken], object]


class _FunctionJob(Job):
    """Runs `work(on_progress, cancel)` on a thread."""

    def __init__(self, title: str, work: Work, parent: QObject | None = None) -> None:
        super().__init__(title, parent)
        self._work = work
        self._token = CancelToken()

    def cancel(self) -> None:
        self._token.cancel()

    def _run(self) -> None:
        try:
            self._token.raise_if_cancelled()
            self._post(self._begin)
            result = self._work(
                lambda progress: self._post(lambda: self._report(progress)), self._token
            )
        except Cancelled:
            self._post(self._stop)
        except Exception as error:  # noqa: BLE001 (bugs are logged and shown here)
            line = sentence_for(error)
            self._post(lambda: self._fail(line))
        else:
            self._post(lambda: self._succeed(result))

    @abstractmethod
    def _post(self, deliver: Deliver) -> None:
        """Call `deliver` on the GUI thread."""


@final
class ThreadJob(_FunctionJob):
    """A job on `thread`, after all work submitted before; may be cancelled while queued."""

    def __init__(self, title: str, work: Work, thread: BackgroundThread) -> None:
        super().__init__(title, work)
        self._thread = thread

    def start(self) -> None:
        self._thread.submit(self._run, self._fail)

    def _post(self, deliver: Deliver) -> None:
        self._thread.post(deliver)


LEAVING_S = 0.5
"""Timeout at the program's end for threads that read files. Chosen: enough to finish decoding a
photo."""


@final
class DetachedJob(_FunctionJob):
    """A job on its own thread; a cancel ends the job at once and abandons the thread.

    Only for reading work: anything it does after a cancel, or after the program's end, is lost.
    """

    _result_ready = Signal(either(FunctionType | MethodType))

    def __init__(self, title: str, work: Work, parent: QObject | None = None) -> None:
        super().__init__(title, work, parent)
        # Held while a signal is emitted, so that the job is not deleted meanwhile.
        self._posting = threading.Lock()
        self.worker = threading.Thread(target=self._run, name=title, daemon=True)
        self._result_ready.connect(self._on_result_ready, Qt.ConnectionType.QueuedConnection)

    def start(self) -> None:
        self._begin()
        self.worker.start()

    def cancel(self) -> None:
        with self._posting:
            super().cancel()
        self._stop()

    def stop(self) -> None:
        self.cancel()
        leave([self.worker])

    def _post(self, deliver: Deliver) -> None:
        with self._posting:
            if not self._token.is_cancelled:
                self._result_ready.emit(deliver)

    def _on_result_ready(self, deliver: Deliver) -> None:
        with self._posting:  # wait until its thread has emitted the signal
            pass
        deliver()


def leave(threads: Sequence[threading.Thread]) -> None:
    """Wait up to `LEAVING_S` for cancelled threads; those blocked by a slow disk are abandoned."""
    until_s = time.monotonic() + LEAVING_S
    for thread in threads:
        if thread.is_alive():
            thread.join(max(0.0, until_s - time.monotonic()))
