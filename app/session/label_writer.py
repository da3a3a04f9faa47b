"""Labels that are being written to disk: shown at once, rolled back where writing fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal

from app.session.runner import Runner, update_of_change

if TYPE_CHECKING:
    from engine.collection.live import LiveCollection
    from engine.collection.state import CollectionState
    from engine.project import Change, Project

FRAME_S = 0.016  # the GUI thread waits at most this long for the disk
Codes = Mapping[int, int]  # by image: a class id, `UNKNOWN`, `EMPTY` or `NO_CLASS`


@final
class LabelWriter(QObject):
    """Holds labels that are not on disk yet."""

    changed = Signal()  # labels were set, or rolled back
    # Number of actions not on disk after more than a frame.
    unsaved_changed = Signal(int)

    def __init__(self, runner: Runner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runner = runner
        self._waiting: list[Codes] = []  # in the order of their actions
        self._reported = 0

    def write(self, codes: Codes, action: Callable[[Project], Change]) -> None:
        """Show labels and write them in one transaction.

        Screens update while the disk writes, and repaint when this returns. It waits for the disk
        for at most one frame: nearly always a label is saved before the next card shows.
        """
        is_saved, start_s = threading.Event(), time.perf_counter()

        def save(live: LiveCollection) -> Change:
            try:
                return action(live.project)
            finally:
                is_saved.set()

        self._waiting.append(codes)
        self._runner.operate(
            save,
            update_of_change,
            first=lambda: self._forget(codes),
            on_failure=lambda: self._take_back(codes),
        )
        self.changed.emit()
        if not is_saved.wait(max(0.0, start_s + FRAME_S - time.perf_counter())):
            self._publish_unsaved(len(self._waiting))

    def over(self, state: CollectionState) -> CollectionState:
        """The state with pending labels, without images that were removed."""
        return with_codes(state, self._waiting)

    def is_unsaved(self, image_id: int) -> bool:
        """Whether a label of this image is not on disk yet."""
        return any(image_id in codes for codes in self._waiting)

    def clear(self) -> None:
        self._waiting.clear()
        self._publish_unsaved(0)

    def _take_back(self, codes: Codes) -> None:
        self._forget(codes)
        self.changed.emit()

    def _forget(self, codes: Codes) -> None:
        self._waiting = [other for other in self._waiting if other is not codes]
        if self._reported:
            self._publish_unsaved(len(self._waiting))

    def _publish_unsaved(self, count: int) -> None:
        if count != self._reported:
            self._reported = count
            self.unsaved_changed.emit(count)


def with_codes(state: CollectionState, waiting: Sequence[Codes]) -> CollectionState:
    """A state with pending labels applied in order."""
    if not waiting:
        return state
    label_class = state.label_class.copy()
    for codes in waiting:
        for image_id, code in codes.items():
            with suppress(KeyError):
                label_class[state.position(image_id)] = code
    return replace(state, label_class=label_class)
