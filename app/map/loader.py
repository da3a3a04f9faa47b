"""Loads the map from its cache file, or has a worker compute or complete it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from app.controls import make_button
from app.jobs.background_thread import BackgroundThread
from app.jobs.slot import JobSlot, Stage
from app.placeholder import PlaceholderTexts
from app.texts import tr
from app.wording import sentence
from engine.arrays import Integers
from engine.collection.state import ImageStatus
from engine.map.image_map import ImageMap, content_numbers, map_cache, read_map
from engine.map.make import MadeMap, MakeMap
from engine.mapped_cache import MappedCache

if TYPE_CHECKING:
    from app.map.view import MapPage
    from app.session import Session
    from engine.collection.live import LiveCollection
    from engine.config import CacheFolders


Embedded = tuple[MappedCache, Integers, NDArray[np.uint64]]
"""Cache of the map, and ids and content numbers of the embedded images."""


def embedded_in(live: LiveCollection, caches: CacheFolders) -> Embedded:
    """Look up the embedded images; runs on the project thread."""
    is_ready = live.embedded.is_ready
    cache = map_cache(live.project, live.model, caches)
    return cache, live.embedded.images.ids[is_ready], content_numbers(live.embedded)[is_ready]


@final
class MapLoader(QObject):
    """Loads, computes and completes the map of the open project; tells its state on the page."""

    found = Signal(ImageMap, int)  # the map, and the number of embedded images not on it yet

    def __init__(self, session: Session, page: MapPage, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._page = session, page
        self.work_thread = BackgroundThread("map", self)
        self.slot = JobSlot(session.jobs, keeps_finished=False)
        self.slot.progressed.connect(page.state.show_progress)
        self.slot.finished.connect(self._on_made)
        self.slot.stage_changed.connect(self._on_stage_changed)
        self._is_tried = False  # whether completing was tried since the last `look`

    def look(self) -> None:
        """Load the map; a worker computes a missing one and adds missing images."""
        self._is_tried = False
        self._look()

    def make_again(self) -> None:
        """Recompute the layout of all images."""
        self._page.notice.hide()
        self._start(is_from_scratch=True)

    def _look(self) -> None:
        caches = self._session.caches
        self._session.ask(
            lambda live: embedded_in(live, caches), self._read, owner=self, topic="map"
        )

    def _read(self, embedded: Embedded) -> None:
        cache, ids, contents = embedded

        def work() -> None:
            made = read_map(cache)
            left = 0 if made is None else int(made.missing(ids, contents).sum())
            self.work_thread.post(lambda: self._take(made, len(ids), left))

        self.work_thread.submit(work, self._on_failed)

    def _take(self, made: ImageMap | None, count: int, left: int) -> None:
        if self._session.info is None:
            return
        if made is not None:
            self.found.emit(made, left)
        elif count:
            text = tr("Look-alikes are placed side by side. You can keep working.")
            self._show_state(
                tr("Building the map…"), text, (tr("Cancel"), self.slot.cancel), is_working=True
            )
        else:
            self._show_nothing_embedded()
        if left or (made is None and count):
            self._start()

    def _start(self, *, is_from_scratch: bool = False) -> None:
        info = self._session.info
        if info is None or self.slot.is_busy or (self._is_tried and not is_from_scratch):
            return
        self._is_tried = True
        self.slot.start(
            tr("Building the map"), MakeMap(info.path, self._session.caches.root, is_from_scratch)
        )

    def _on_made(self, _made: MadeMap) -> None:
        self._look()

    def _on_stage_changed(self, stage: Stage) -> None:
        if stage is Stage.FAILED:
            self._on_failed(self.slot.error)
        elif stage is Stage.IDLE and not self._page.is_map_shown:
            self._show_state(
                tr("Building the map was cancelled"), "", (tr("Build the map"), self.look)
            )

    def _on_failed(self, message: str) -> None:
        again = tr("Try again"), self._try_again
        if self._page.is_map_shown:
            self._page.notice.ask(sentence(message), (again,))
        else:
            self._show_state(tr("The map could not be built"), sentence(message), again)

    def _try_again(self) -> None:
        self._page.notice.hide()
        self.look()

    def _show_nothing_embedded(self) -> None:
        state = self._session.state
        text = tr("Add images: look-alikes will be shown side by side here.")
        if state is not None and (state.status == ImageStatus.WAITING).any():
            text = tr("The map is built as soon as your images are analysed.")
        self._show_state(tr("No map yet"), text)

    def _show_state(
        self,
        title: str,
        text: str,
        *buttons: tuple[str, Callable[[], None]],
        is_working: bool = False,
    ) -> None:
        texts = PlaceholderTexts("map", title, text, is_working=is_working)
        self._page.show_state(texts, *(make_button(*button) for button in buttons))
