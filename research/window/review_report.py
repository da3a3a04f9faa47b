"""For `protoleaf benchmark review`: single decisions, then groups, by keys at a given rate."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QEvent, QObject, Qt, QTimer

from app.group_review.controller import GroupReview
from engine.collection.state import NO_CLASS
from research.window.bare_card import BareKey
from research.window.startup_report import write_report

if TYPE_CHECKING:
    from app.main_window import MainWindow

REPORT_VARIABLE = "PROTOLEAF_REVIEW_REPORT"
KEYS_VARIABLE = "PROTOLEAF_REVIEW_KEYS"
"""Single keys, keys a second, groups, and groups a second: `300 5 40 1`."""
KEYS = (Qt.Key.Key_1, Qt.Key.Key_Return)
SETTLE_MS = 1000
BEAT_MS = 5


def attach_review_report(window: "MainWindow") -> None:
    """Review once loaded, where requested by the environment; then close the window."""
    target = os.environ.get(REPORT_VARIABLE)
    if target:
        keys, per_s, groups, groups_per_s = os.environ.get(KEYS_VARIABLE, "300 5 40 1").split()
        _Report(
            window,
            Path(target),
            KeyRate(int(keys), float(per_s)),
            KeyRate(int(groups), float(groups_per_s)),
        )


@final
class KeyRate:
    """Number of decisions, and decisions a second."""

    def __init__(self, count: int, per_s: float) -> None:
        self.count = count
        self.interval_s = 1 / per_s


@final
class Heartbeat(QObject):
    """Longest time that the event loop was blocked."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._longest_ms = 0.0
        self._last_s = 0.0
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)

    def restart(self) -> None:
        """Reset the maximum and the current interval."""
        self._longest_ms, self._last_s = 0.0, time.perf_counter()
        self._timer.start(BEAT_MS)

    def longest_ms(self) -> float:
        """Since the last restart, until now."""
        self._beat()
        return self._longest_ms

    def _beat(self) -> None:
        now_s = time.perf_counter()
        self._longest_ms = max(self._longest_ms, 1000 * (now_s - self._last_s) - BEAT_MS)
        self._last_s = now_s


@final
class _Report(QObject):
    """Press keys on schedule, even when the window is busy; delays count as latency."""

    def __init__(
        self, window: "MainWindow", target: Path, single: KeyRate, groups: KeyRate
    ) -> None:
        super().__init__(window)
        self._window, self._target = window, target
        self._single, self._groups = single, groups
        self._review = window.of(GroupReview)
        self._shown: list[tuple[int, int]] = []
        self._answers: list[tuple[list[int], int]] = []
        self._single_ms, self._group_ms = list[float](), list[float]()
        self._bare_ms, self._pauses_ms = list[float](), list[float]()
        self._orders_s = list[float]()
        self._groups_s = 0.0
        self._heartbeat = Heartbeat(self)
        self._painted_id: int | None = None
        self._start_s = 0.0
        self._timer = QTimer(self, singleShot=True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._then: Callable[[], None] = self._press_single
        self._timer.timeout.connect(lambda: self._then())  # noqa: PLW0108 (`_then` changes)
        window.session.loaded.connect(lambda: QTimer.singleShot(SETTLE_MS, self._begin))
        window.workspace.grid.viewport().installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Record the current card when it is painted."""
        if event.type() == QEvent.Type.Paint:
            self._painted_id = self._window.workspace.grid.current_id
        return False

    @property
    def _is_making(self) -> bool:
        return self._review.maker is not None and self._review.maker.is_busy

    @property
    def _queue_s(self) -> float:
        return 0.0 if self._review.maker is None else self._review.maker.order_s

    # -- single cards

    def _begin(self) -> None:
        self._bare_key = BareKey(self._window, self._target.parent)
        self._window.registry.trigger("show_to_review")
        self._window.workspace.grid.setFocus()
        self._go(self._press_single)

    def _go(self, press: Callable[[], None]) -> None:
        self._then = press
        self._start_s = time.perf_counter() + SETTLE_MS / 1000
        QTimer.singleShot(SETTLE_MS // 2, self._heartbeat.restart)
        self._timer.start(SETTLE_MS)

    def _note_key(self, keys_ms: list[float], due_s: float) -> None:
        """Handle a finished key; time its reference, which does not count as a pause."""
        keys_ms.append(1000 * (time.perf_counter() - due_s))
        self._pauses_ms.append(self._heartbeat.longest_ms())
        self._bare_ms.append(self._bare_key.time_ms())
        self._heartbeat.restart()

    def _wait_for(self, place: int, pace: KeyRate) -> None:
        self._timer.start(
            max(0, round(1000 * (self._start_s + place * pace.interval_s - time.perf_counter())))
        )

    def _press_single(self) -> None:
        from PySide6.QtTest import QTest

        place, grid = len(self._shown), self._window.workspace.grid
        due_s, image_id = self._start_s + place * self._single.interval_s, self._painted_id
        assert image_id is not None, "a card has the frame"
        self._shown.append((image_id, self._window.inspector.top_classes_of(image_id)[0]))
        QTest.keyClick(grid, KEYS[place % len(KEYS)])
        if self._painted_id == image_id:
            raise RuntimeError("the next card was not painted")
        self._note_key(self._single_ms, due_s)
        if len(self._shown) < self._single.count:
            self._wait_for(len(self._shown), self._single)
            return
        self._window.registry.trigger("group_review")
        self._wait_for_groups()

    # -- groups

    def _wait_for_groups(self) -> None:
        """Wait until the model knows the single labels, and a new queue is ready."""
        review = self._review.review
        if (
            review is None
            or review.current is None
            or not self._window.session.is_settled
            or self._is_making
        ):
            QTimer.singleShot(BEAT_MS, self._wait_for_groups)
            return
        self._orders_s.append(self._queue_s)
        self._go(self._press_group)

    def _press_group(self) -> None:
        from PySide6.QtTest import QTest

        review, page = self._review.review, self._review.page
        assert review is not None, "the page is open"
        assert page is not None, "the page is open"
        group, due_s = review.current, self._start_s + len(self._group_ms) * self._groups.interval_s
        assert group is not None, "images are left"
        if group.class_id == NO_CLASS:
            key, code = Qt.Key.Key_1, group.tops[0].class_id
        else:
            key, code = Qt.Key.Key_Return, group.class_id
        self._answers.append((list(review.ticked), code))
        QTest.keyClick(page, key)
        assert page.cards.image_ids != group.image_ids, "the next group was painted"
        self._note_key(self._group_ms, due_s)
        self._orders_s.append(self._queue_s)
        if len(self._group_ms) < self._groups.count:
            self._wait_for(len(self._group_ms), self._groups)
        else:
            self._groups_s = time.perf_counter() - self._start_s
            self._wait_until_settled()

    def _wait_until_settled(self) -> None:
        if self._window.session.is_settled and not self._is_making:
            self._finish()
        else:
            QTimer.singleShot(BEAT_MS, self._wait_until_settled)

    def _finish(self) -> None:
        self._bare_key.close()
        write_report(
            self._target,
            {
                "shown": self._shown,
                "answers": self._answers,
                "single_ms": self._single_ms,
                "group_ms": self._group_ms,
                "bare_ms": self._bare_ms,
                "pauses_ms": self._pauses_ms,
                "groups_s": self._groups_s,
                "orders_s": self._orders_s,
            },
        )
        self._window.close()
