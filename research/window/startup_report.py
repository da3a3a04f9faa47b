"""For `protoleaf benchmark startup`: times of visible and loaded window, memory, scrolling."""

import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget

from engine.collection import image_list_cache
from engine.collection.state import NO_CLASS, CollectionState
from engine.embedding import embedding_rows
from engine.everyday.collection_stage import live_basis
from engine.new_file import write_file

if TYPE_CHECKING:
    from app.main_window import MainWindow

REPORT_VARIABLE = "PROTOLEAF_STARTUP_REPORT"
SETTLE_MS = 1500
BYTES_PER_MIB = 1024 * 1024
MAPPED = (embedding_rows.SUFFIX, image_list_cache.SUFFIX, live_basis.SUFFIX)


@final
class FirstPaint(QObject):
    """Call back once, right after a widget was first painted."""

    def __init__(self, widget: QWidget, on_painted: Callable[[], None]) -> None:
        super().__init__(widget)
        self._on_painted = on_painted
        self._is_done = False
        widget.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and not self._is_done:
            self._is_done = True
            QTimer.singleShot(0, self._on_painted)
        return False


def attach_report(window: "MainWindow") -> None:
    """Measure the window where requested by the environment; then close it."""
    target = os.environ.get(REPORT_VARIABLE)
    if target:
        _Report(window, Path(target))


def write_report(target: Path, fields: Mapping[str, object]) -> None:
    """Write the figures, atomically."""
    write_file(target, json.dumps(fields))


def memory_mib() -> float:
    """Resident memory of this process, without memory-mapped files of the program."""
    import psutil

    process = psutil.Process()
    maps = process.memory_maps() if hasattr(process, "memory_maps") else []
    mapped_bytes = sum(each.rss for each in maps if each.path.endswith(MAPPED))
    return (process.memory_info().rss - mapped_bytes) / BYTES_PER_MIB


@final
class _Report(QObject):
    def __init__(self, window: "MainWindow", target: Path) -> None:
        super().__init__(window)
        self._window = window
        self._target = target
        self._fields: dict[str, float | list[float]] = {}
        FirstPaint(window, self._on_visible)
        window.session.state_changed.connect(self._on_state)
        window.session.loaded.connect(self._on_loaded)

    def _on_visible(self) -> None:
        self._fields["visible_s"] = time.monotonic()

    def _on_state(self, state: CollectionState) -> None:
        """Once a state has predictions, the visible cards are painted with them."""
        if "predicted_s" not in self._fields and bool((state.best_class != NO_CLASS).any()):
            self._window.workspace.grid.viewport().repaint()
            self._fields["predicted_s"] = time.monotonic()

    def _on_loaded(self) -> None:
        self._fields["loaded_s"] = time.monotonic()
        QTimer.singleShot(SETTLE_MS, self._scroll)

    def _scroll(self) -> None:
        from research.window.scroll_measurement import ScrollMeasurement

        ScrollMeasurement(self._window.workspace.grid, self._on_scrolled).start()

    def _on_scrolled(self, pause_ms: float, step_ms: list[float], card_ms: list[float]) -> None:
        self._fields |= {"scroll_pause_ms": pause_ms, "step_ms": step_ms, "card_ms": card_ms}
        self._fields["memory_mib"] = memory_mib()
        write_report(self._target, self._fields)
        self._window.close()
