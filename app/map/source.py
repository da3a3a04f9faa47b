"""Loads the map from its cache file, or has a worker compute or complete it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from app.jobs.background_thread import BackgroundThread
from app.jobs.slot import JobSlot, Stage
from app.texts import tr
from engine.arrays import Integers
from engine.events import Progress
from engine.map.image_map import ImageMap, content_numbers, map_file, read_map
from engine.map.make import MadeMap, MakeMap

if TYPE_CHECKING:
    from app.session import Session
    from engine.collection.live import LiveCollection
    from engine.config import CacheFolders

TOPIC: Final = "map"


@dataclass(frozen=True, eq=False)
class Embedded:
    """The embedded images, and the path of their map."""

    path: Path  # cache file of the map
    image_ids: Integers  # of the embedded images
    contents: NDArray[np.uint64]


def embedded_in(live: LiveCollection, caches: CacheFolders) -> Embedded:
    """Look up the embedded images; runs on the project thread."""
    is_ready = live.embedded.is_ready
    path = map_file(live.project, live.model, caches)
    return Embedded(
        path, live.embedded.images.ids[is_ready], content_numbers(live.embedded)[is_ready]
    )


@final
class MapSource(QObject):
    """Loads, computes and completes the map of the open project."""

    nothing_embedded = Signal()
    found = Signal(ImageMap, int)  # the map, and the number of embedded images not on it yet
    missing = Signal()  # there is no map yet; it is being computed
    progressed = Signal(Progress)
    failed = Signal(str)
    stopped = Signal()

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self.work_thread = BackgroundThread("map", self)
        self.slot = JobSlot(session.jobs, keeps_finished=False)
        self.slot.progressed.connect(self.progressed)
        self.slot.finished.connect(self._on_made)
        self.slot.stage_changed.connect(self._on_stage_changed)
        self._is_tried = False  # whether completing was tried since the last `look`

    def look(self) -> None:
        """Load the map; a worker computes a missing one and adds missing images."""
        self._is_tried = False
        self._look()

    def _look(self) -> None:
        caches = self._session.caches
        self._session.ask(
            lambda live: embedded_in(live, caches), self._read, owner=self, topic=TOPIC
        )

    def make_again(self) -> None:
        """Recompute the layout of all images."""
        self._start(is_anew=True)

    def cancel(self) -> None:
        self.slot.cancel()

    def forget(self) -> None:
        """Cancel jobs of a closed project."""
        self.slot.abandon()

    def stop(self) -> None:
        self.work_thread.stop()

    def _read(self, embedded: Embedded) -> None:
        def work() -> None:
            made = read_map(embedded.path)
            left = (
                0
                if made is None
                else int(made.missing(embedded.image_ids, embedded.contents).sum())
            )
            self.work_thread.post(lambda: self._take(made, len(embedded.image_ids), left))

        self.work_thread.submit(work, self.failed.emit)

    def _take(self, made: ImageMap | None, count: int, left: int) -> None:
        if self._session.info is None:
            return
        if made is None and not count:
            self.nothing_embedded.emit()
        elif made is None:
            self.missing.emit()
            self._start()
        else:
            self.found.emit(made, left)
            if left:
                self._start()

    def _start(self, *, is_anew: bool = False) -> None:
        info = self._session.info
        if info is None or self.slot.is_busy or (self._is_tried and not is_anew):
            return
        self._is_tried = True
        self.slot.start(
            tr("Building the map"), MakeMap(info.path, self._session.caches.root, is_anew)
        )

    def _on_made(self, _made: MadeMap) -> None:
        self._look()

    def _on_stage_changed(self, stage: Stage) -> None:
        if stage is Stage.FAILED:
            self.failed.emit(self.slot.error)
        elif stage is Stage.IDLE:
            self.stopped.emit()
