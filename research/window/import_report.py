"""For `protoleaf benchmark import`: add a folder to an empty project and record the times."""

import os
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, QTimer

from engine.collection.state import ImageStatus
from engine.file_parts import ImageSource
from engine.images.fingerprint_cache import FILE_NAME
from research.file_opens import FileOpenCounter
from research.window.startup_report import write_report

if TYPE_CHECKING:
    from app.main_window import MainWindow
    from engine.events import Progress

REPORT_VARIABLE = "PROTOLEAF_IMPORT_REPORT"
FOLDER_VARIABLE = "PROTOLEAF_IMPORT_FOLDER"
LOOK_MS = 20


def attach_import_report(window: "MainWindow") -> None:
    """Add a folder once the project is open, where requested by the environment; then close."""
    target = os.environ.get(REPORT_VARIABLE)
    if target:
        _Report(window, Path(target), Path(os.environ[FOLDER_VARIABLE]))


@final
class _Report(QObject):
    def __init__(self, window: "MainWindow", target: Path, folder: Path) -> None:
        super().__init__(window)
        self._window = window
        self._target = target
        self._folder = folder
        self._opened = FileOpenCounter(folder)
        self._photos = sum(1 for _ in folder.iterdir())
        self._seconds: dict[str, float] = {}
        self._estimates: list[tuple[float, float]] = []  # seconds passed, and seconds left as shown
        self._first_screen: Sequence[ImageSource] = ()
        self._start_s = 0.0
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self._look)
        window.session.loaded.connect(self._begin)

    def _begin(self) -> None:
        from app.importing.controller import Importing

        self._window.session.loaded.disconnect(self._begin)
        self._window.session.jobs.job_added.connect(
            lambda job: job.progress.connect(self._on_progress)
        )
        self._start_s = time.monotonic()
        self._window.of(Importing).take([self._folder])
        self._timer.start()

    def _on_progress(self, progress: "Progress") -> None:
        if progress.total == self._photos and progress.seconds_left is not None:
            self._estimates.append((self._passed_s, progress.seconds_left))

    @property
    def _passed_s(self) -> float:
        return time.monotonic() - self._start_s

    def _note(self, name: str, *, has_come: bool) -> bool:
        if has_come:
            self._seconds.setdefault(name, self._passed_s)
        return has_come

    def _look(self) -> None:
        state, window = self._window.session.state, self._window
        if state is None or len(state.image_ids) < self._photos:
            return
        if not self._first_screen:
            rows = window.workspace.grid.places_in_view()
            self._first_screen = [window.workspace.model.card(row).source for row in rows]
        has_picture = [
            window.thumbnails.placeholder(source) is not None for source in self._first_screen
        ]
        self._note("first screen", has_come=bool(has_picture) and all(has_picture))
        is_ready = state.status == ImageStatus.READY
        self._note("first embedding", has_come=bool(is_ready.any()))
        is_final = self._note(
            "predictions", has_come=bool(is_ready.all()) and not len(state.without_views)
        )
        if is_final and self._has_fingerprints() and not window.session.jobs.jobs:
            self._note("everything", has_come=True)
            self._finish()

    def _has_fingerprints(self) -> bool:
        path = self._window.session.caches.fingerprints / FILE_NAME
        if not path.exists():
            return False
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as cache:
            (count,) = cache.execute("SELECT count(*) FROM fingerprint").fetchone()
        return int(count) >= self._photos

    def _finish(self) -> None:
        self._timer.stop()
        opened = self._opened.counts()
        fields = {
            "seconds": self._seconds,
            "estimates": self._estimates,
            "opened": opened,
            "photos": self._photos,
        }
        write_report(self._target, fields)
        self._window.close()
