"""For `protoleaf benchmark labelling`: press keys at a rate, and record what was shown."""

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QEvent, QObject, Qt, QTimer

from research.window.bare_card import BareKey
from research.window.startup_report import write_report

if TYPE_CHECKING:
    from app.main_window import MainWindow

REPORT_VARIABLE = "PROTOLEAF_LABELLING_REPORT"
KEYS_VARIABLE = "PROTOLEAF_LABELLING_KEYS"
"""Number of keys, keys a second, and last keys that wait for predictions: `300 5 4`."""
KEYS = (Qt.Key.Key_1, Qt.Key.Key_Return)
SETTLE_MS = 1000
MOST_PREDICTED = 10_000
"""Images whose predictions are reported; up to twice as many."""


def attach_labelling_report(window: "MainWindow") -> None:
    """Label once loaded, where requested by the environment; then close the window."""
    target = os.environ.get(REPORT_VARIABLE)
    if target:
        keys, per_s, unpaced = os.environ.get(KEYS_VARIABLE, "300 5 4").split()
        _Report(
            window, Path(target), keys=int(keys), interval_s=1 / float(per_s), unpaced=int(unpaced)
        )


@final
class _Report(QObject):
    """Press keys on schedule, even when the window is busy; delays count as latency."""

    def __init__(
        self, window: "MainWindow", target: Path, *, keys: int, interval_s: float, unpaced: int
    ) -> None:
        super().__init__(window)
        self._window = window
        self._target = target
        self._keys = keys
        self._paced_keys = keys - unpaced
        self._interval_s = interval_s
        self._shown: list[tuple[int, int]] = []
        self._painted_ms: list[float] = []
        self._bare_ms: list[float] = []
        self._predictions_s: list[float] = []
        self._painted_id: int | None = None
        self._last_key_s = 0.0
        self._loaded_s = 0.0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._press)
        window.session.loaded.connect(self._on_loaded)
        window.workspace.grid.viewport().installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Record the current card when it is painted."""
        if event.type() == QEvent.Type.Paint:
            self._painted_id = self._window.workspace.grid.current_id
        return False

    def _on_loaded(self) -> None:
        self._loaded_s = time.monotonic()
        QTimer.singleShot(SETTLE_MS, self._begin)

    def _begin(self) -> None:
        self._bare_key = BareKey(self._window, self._target.parent)
        self._window.registry.trigger("show_to_review")
        self._window.workspace.grid.setFocus()
        self._start_s = time.perf_counter() + SETTLE_MS / 1000
        QTimer.singleShot(SETTLE_MS, self._press)

    def _press(self) -> None:
        from PySide6.QtTest import QTest

        number, due_s = len(self._shown), time.perf_counter()
        if number < self._paced_keys:
            due_s = self._start_s + number * self._interval_s
        grid, inspector = self._window.workspace.grid, self._window.inspector
        image_id = self._painted_id
        assert image_id is not None, "a card has the frame"
        self._shown.append((image_id, inspector.top_classes_of(image_id)[0]))
        QTest.keyClick(grid, KEYS[number % len(KEYS)])
        self._last_key_s = time.perf_counter()
        if self._painted_id == image_id:
            raise RuntimeError("the next card was not painted")
        self._painted_ms.append(1000 * (self._last_key_s - due_s))
        self._bare_ms.append(self._bare_key.time_ms())
        if len(self._shown) < self._paced_keys:
            next_s = self._start_s + len(self._shown) * self._interval_s - time.perf_counter()
            self._timer.start(max(0, round(1000 * next_s)))
        else:
            self._wait_for_predictions()

    def _wait_for_predictions(self) -> None:
        session = self._window.session
        if session.is_settled:
            self._on_predicted()
        else:
            session.fitting_changed.connect(self._on_fitting_changed)

    def _on_fitting_changed(self, is_running: bool) -> None:
        if not is_running:
            self._window.session.fitting_changed.disconnect(self._on_fitting_changed)
            self._on_predicted()

    def _on_predicted(self) -> None:
        self._window.workspace.grid.viewport().repaint()
        self._predictions_s.append(time.perf_counter() - self._last_key_s)
        if len(self._shown) < self._keys:
            self._timer.start(0)
        else:
            self._finish()

    def _finish(self) -> None:
        state = self._window.session.state
        assert state is not None, "the project is open"
        spread = slice(None, None, max(1, len(state.image_ids) // MOST_PREDICTED))
        last_key_s = time.monotonic() - (time.perf_counter() - self._last_key_s)
        predicted = zip(
            state.image_ids[spread].tolist(), state.best_class[spread].tolist(), strict=True
        )
        write_report(
            self._target,
            {
                "images": len(state.image_ids),
                "shown": self._shown,
                "painted_ms": self._painted_ms,
                "bare_ms": self._bare_ms,
                "loaded_s": self._loaded_s,
                "last_key_s": last_key_s,
                "predictions_s": self._predictions_s,
                "predicted": list(predicted),
            },
        )
        self._bare_key.close()
        self._window.close()
