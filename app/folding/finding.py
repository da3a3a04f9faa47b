"""Background update of the folds of the open project after images, files or times changed.

Missing fingerprints are computed while the user is idle; then near-duplicates are found as well.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, final

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal

from app.jobs.background_thread import BackgroundThread
from app.jobs.slot import JobSlot
from app.texts import tr

if TYPE_CHECKING:
    from app.jobs.job import Job
    from app.session import ProjectInfo, Session
    from engine.collection.find_folds import FoldInput
    from engine.collection.folding.fingerprints import Pictures
    from engine.collection.folding.folds import Folds
    from engine.collection.live import LiveCollection
    from engine.events import CancelToken, OnProgress
    from engine.project import Change

SETTLED_MS = 1_500  # debounce interval of changes
PAUSE_MS = 10_000  # idle time before fingerprints are computed
LOOKERS = 1  # threads that compute fingerprints; the others are for the window and embedding


_Waiting = list[Callable[[], object]]


def _call_back(waiting: _Waiting) -> None:
    for on_found in waiting:
        on_found()


@final
class FoldFinding(QObject):
    """Update folds after changes."""

    found = Signal()  # the state has new folds

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self.is_wanted = True  # whether fingerprints are computed automatically
        self._session = session
        self._thread = BackgroundThread("folding", self)
        self._looking = JobSlot(self._session.jobs)
        self._after_looking: _Waiting = []
        # Content hashes tried since the project was opened.
        self._tried = np.zeros(0, dtype=np.bytes_)
        self._unseen: Pictures | None = None
        self._waiting: _Waiting = []
        self._is_user_request = False  # whether the user requested the fingerprints
        self._settled = QTimer(self, singleShot=True, interval=SETTLED_MS)
        self._settled.timeout.connect(self.find)
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self._look_unasked)
        session.loaded.connect(self._settled.start)
        session.change_made.connect(self._on_change_made)
        session.jobs.job_ended.connect(self._on_job_ended)
        session.what_if.ended.connect(lambda _is_kept: self._settled.start())
        session.closed.connect(self._on_closed)

    def find(self, on_found: Callable[[], object] | None = None) -> None:
        """Find the folds of the open project; calls back once they are in the state."""
        if on_found is not None:
            self._waiting.append(on_found)
        info = self._session.info
        if info is None or self._session.what_if.is_on:
            return
        self._settled.stop()

        def input_of(live: LiveCollection) -> FoldInput:
            from engine.collection.find_folds import fold_input

            return fold_input(live.project, live.embedded)

        self._session.ask(
            input_of, lambda given: self._begin(info, given), owner=self, topic="folds"
        )

    def look(self, on_seen: Callable[[], object]) -> None:
        """Compute missing fingerprints, update the folds, and call back."""
        self._is_user_request = True
        if not self._looking.is_busy and self._unseen:
            self._start_looking()
        if self._looking.is_busy:
            self._after_looking.append(on_seen)
        else:
            on_seen()

    def stop(self) -> None:
        self._settled.stop()
        self._pause.stop()
        self._thread.stop()

    # -- finding

    def _begin(self, info: ProjectInfo, given: FoldInput) -> None:
        caches, tried = self._session.caches, self._tried
        waiting, self._waiting = self._waiting, []  # includes callbacks of a replaced request

        def find() -> tuple[Folds, Pictures]:
            from engine.collection.find_folds import find_folds
            from engine.collection.folding.fingerprints import (
                cached_fingerprints,
                without_fingerprint,
            )

            prints = cached_fingerprints(given.content_keys, caches)
            unseen = without_fingerprint(given.paths, given.parts, given.content_keys, prints)
            return find_folds(given, prints), unseen.without(tried)

        self._thread.ask(
            find, lambda found: self._take(info, waiting, *found), self._session.failed.emit
        )

    def _take(
        self, info: ProjectInfo, waiting: _Waiting, folds: Folds, without_fingerprint: Pictures
    ) -> None:
        state = self._session.state
        if self._session.info is not info or state is None:
            return
        self._unseen = without_fingerprint
        if without_fingerprint:
            self._pause.start()
        if folds.is_same(state.folds) and folds.is_as_sharp(state.folds):
            _call_back(waiting)
        else:
            self._session.take(
                lambda live: live.adopt_folds(folds), partial(self._on_taken, waiting)
            )

    def _on_taken(self, waiting: _Waiting) -> None:
        self.found.emit()
        _call_back(waiting)

    # -- fingerprints

    def _look_unasked(self) -> None:
        is_busy = bool(self._session.jobs.jobs) or self._session.what_if.is_on
        if self.is_wanted and self._unseen and not self._looking.is_busy and not is_busy:
            self._is_user_request = False
            self._start_looking()

    def _pause_s(self) -> float:
        """Pause for user activity, unless requested: hashing takes half the interpreter's time."""
        return 0.0 if self._is_user_request else self._session.current_card.frozen.idle_in_s

    def _start_looking(self) -> None:
        pictures, caches, info = self._unseen, self._session.caches, self._session.info
        if info is None or pictures is None:
            return
        folder, self._unseen = info.path.parent, None
        self._tried = np.concatenate([self._tried, pictures.contents])

        def compute(on_progress: OnProgress, cancel: CancelToken) -> int:
            from engine.collection.folding.fingerprints import compute_fingerprints

            return compute_fingerprints(
                pictures,
                folder,
                caches,
                workers=LOOKERS,
                pause_s=self._pause_s,
                on_progress=on_progress,
                cancel=cancel,
            )

        self._looking.start(
            tr("Looking for duplicates"),
            compute,
            self._on_looked,
            lambda _message: self._after_looking.clear(),
            on_cancelled=self._after_looking.clear,
        )

    def _on_looked(self, _count: int) -> None:
        if self._after_looking:
            self._waiting += self._after_looking
            self._after_looking.clear()
            self.find()

    # -- events

    def _on_change_made(self, change: Change) -> None:
        from engine.collection.find_folds import SECONDS_SETTING
        from engine.project.camera_clocks import CLOCKS_SETTING

        is_other_time = not {SECONDS_SETTING, CLOCKS_SETTING}.isdisjoint(change.settings)
        if is_other_time:
            self.find()
        elif change.images_added or change.images_removed or change.images_moved:
            self._settled.start()

    def _on_job_ended(self, _job: Job) -> None:
        """Update after a job, which may have added contents, embeddings, times or fingerprints."""
        if self._session.info is not None:
            self._settled.start()

    def _on_closed(self) -> None:
        self._settled.stop()
        self._pause.stop()
        self._waiting.clear()
        self._tried, self._unseen = np.zeros(0, dtype=np.bytes_), None
        self._looking.cancel()
