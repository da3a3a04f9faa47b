"""Background computation of queues of groups, one at a time, from the newest fit."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, QTimer, Signal

from app.jobs.background_thread import BackgroundThread
from engine.collection.review_groups import ReviewQueue, make_queue, next_groups

if TYPE_CHECKING:
    from app.session import Session
    from engine.collection.review_groups import GroupInput, ReviewMemory
    from engine.events import CancelToken

SOON_MS = 150  # debounce interval of answers


@final
class QueueMaker(QObject):
    """Compute queues from snapshots; `memory` returns facts other than labels."""

    made = Signal(ReviewQueue)
    impossible = Signal()  # no similar images to group, or too few images

    def __init__(
        self, session: Session, memory: Callable[[], ReviewMemory], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._memory = memory
        # Normal priority, as the user waits for it; it is paused at each key.
        self._thread = BackgroundThread("groups", self, is_low_priority=False)
        self._token: CancelToken | None = None
        self._is_due = self._is_user_request = False
        self.order_s = 0.0  # duration of the newest queue
        self._soon = QTimer(self, singleShot=True)
        self._soon.timeout.connect(self._ask)

    @property
    def is_busy(self) -> bool:
        return self._token is not None or self._is_user_request or self._soon.isActive()

    def make_soon(self, *, is_awaited: bool = False) -> None:
        """Compute a queue after the current answers; without delay if the user waits for it."""
        if is_awaited or not self._soon.isActive():
            self._soon.start(0 if is_awaited else SOON_MS)

    def make_more(self, queue: ReviewQueue) -> None:
        """Compute the classes of the next groups of a queue."""
        if self._token is None and queue.later:
            self._run(lambda token: next_groups(queue, token))

    def forget(self) -> None:
        """Cancel the running request."""
        self._soon.stop()
        self._is_due = self._is_user_request = False
        if self._token is not None:
            self._token.cancel()
            self._token = None

    def stop(self) -> None:
        self.forget()
        self._thread.stop()

    def _ask(self) -> None:
        if self._token is not None:
            self._is_due = True  # after the current queue: repeated cancellation would starve it
            return
        memory, self._is_user_request = self._memory(), True
        self._session.ask(
            lambda live: live.group_input(memory), self._on_input, owner=self, topic="review groups"
        )

    def _on_input(self, given: GroupInput | None) -> None:
        self._is_user_request = False
        if given is None:
            self.impossible.emit()
        elif self._token is None:
            self._run(lambda token: make_queue(given, token))

    def _run(self, make: Callable[[CancelToken], ReviewQueue]) -> None:
        token = self._token = self._session.resting_token()

        def timed() -> tuple[ReviewQueue, float]:
            begun_s = time.perf_counter()
            return make(token), time.perf_counter() - begun_s

        self._thread.ask(
            timed,
            lambda made: self._take(token, *made),
            lambda line: self._on_failed(token, line),
        )

    def _take(self, token: CancelToken, queue: ReviewQueue, took_s: float) -> None:
        if token is self._token:
            self.order_s = took_s
            self._end()
            self.made.emit(queue)

    def _on_failed(self, token: CancelToken, line: str) -> None:
        if token is self._token:
            self._end()
            self._session.failed.emit(line)

    def _end(self) -> None:
        self._token = None
        if self._is_due:
            self._is_due = False
            self.make_soon()
