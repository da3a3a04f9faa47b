"""One thread that does one piece of work after another and brings the answers back to the GUI thread."""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import FunctionType, MethodType
from typing import final

from PySide6.QtCore import QObject, Qt, Signal

from app.signal_types import either
from app.texts import tr
from engine.errors import Cancelled, ProtoleafError
from engine.files import shown
from engine.full_disk import as_full_disk

_log = logging.getLogger(__name__)

Deliver = Callable[[], None]


@final
class BackgroundThread(QObject):
    """Work goes in from the GUI thread, runs in order on one other thread, and answers come back in order.

    Work that was submitted always runs, also when the program is closing: nothing a person did is dropped.
    """

    busy_changed = Signal(bool)
    _came_back = Signal(either(FunctionType | MethodType))

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._waiting = 0
        self._is_stopped = False
        self._came_back.connect(self._on_came_back, Qt.ConnectionType.QueuedConnection)

    @property
    def is_busy(self) -> bool:
        """Whether work waits or runs."""
        return self._waiting > 0

    def submit(self, work: Callable[[], None], on_failure: Callable[[str], None]) -> None:
        """Run `work` on the thread after everything submitted before.

        Args:
            work: called on the thread; it answers with `post`.
            on_failure: called on the GUI thread with one line for a person when `work` raised.
        """
        if self._is_stopped:
            return
        self._waiting += 1
        if self._waiting == 1:
            self.busy_changed.emit(True)
        self._executor.submit(self._run, work, on_failure)

    def post(self, deliver: Deliver) -> None:
        """Call `deliver` on the GUI thread; safe from any thread."""
        self._came_back.emit(deliver)

    def stop(self) -> None:
        """Finish what was submitted, then end the thread. Blocks; answers that come after are dropped."""
        self._is_stopped = True
        self._executor.shutdown(wait=True)

    def _run(self, work: Callable[[], None], on_failure: Callable[[str], None]) -> None:
        try:
            work()
        except Cancelled:
            pass
        except Exception as error:  # noqa: BLE001 (the job runner is where bugs stop: logged and shown once)
            line = sentence_for(error)
            self.post(lambda: on_failure(line))
        finally:
            self.post(self._count_finished)

    def _count_finished(self) -> None:
        self._waiting -= 1
        if self._waiting == 0:
            self.busy_changed.emit(False)

    def _on_came_back(self, deliver: Deliver) -> None:
        deliver()


def sentence_for(error: Exception) -> str:
    """One line for a person; an error that is a bug also goes into the log with its traceback."""
    error = as_full_disk(error)
    if isinstance(error, ProtoleafError):
        return shown(error.translated())
    _log.error("unexpected error in the background", exc_info=error)
    line = "Something unexpected went wrong (%1). Your project is safe; the log has the details."
    return tr(line, type(error).__name__)
