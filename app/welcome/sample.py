"""Opening the sample project; its pictures are copied into the person's folder first when they are not there yet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal

from app.jobs.background_thread import DetachedJob
from app.texts import tr
from engine.config import sample_folder

if TYPE_CHECKING:  # the window shows first
    from app.jobs.job import Job
    from app.session import Session
    from engine.events import CancelToken, OnProgress


@final
class SampleStart(QObject):
    """Copies the sample project on a thread and opens it."""

    ready = Signal(Path)  # path of the project, to be opened
    face_wanted = Signal(int)  # the class that shows best what the program does, as soon as the sample is open

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self._job: Job | None = None
        self._left: object = None  # the project that was open at the start
        self._awaited: Path | None = None
        session.loaded.connect(self._on_loaded)

    def start(self) -> None:
        """Open the sample as soon as it is there."""
        if self._job is not None:
            return
        self._left = self._session.info
        self._job = DetachedJob(tr("Opening the sample collection"), _copy, self)
        self._job.finished.connect(self._on_copied)
        self._job.failed.connect(self._on_failed)
        self._job.cancelled.connect(self._end)
        self._job.start()

    def stop(self) -> None:
        if self._job is not None:
            self._job.stop()

    def _on_copied(self, project: Path) -> None:
        """Open it, unless the person has gone on to another project meanwhile."""
        self._end()
        if self._session.info is self._left:
            self._awaited = project
            self.ready.emit(project)

    def _on_failed(self, message: str) -> None:
        self._end()
        self._session.failed.emit(message)

    def _on_loaded(self) -> None:
        awaited, self._awaited = self._awaited, None
        info, state = self._session.info, self._session.state
        roots = self._session.graph.roots()
        if awaited is not None and info is not None and info.path == awaited and state is not None and roots:
            self.face_wanted.emit(max(roots, key=lambda class_id: state.image_counts.get(class_id, 0)))

    def _end(self) -> None:
        self._job = None


def _copy(_on_progress: OnProgress, cancel: CancelToken) -> Path:
    from engine.collection.new_project import copy_sample_project

    return copy_sample_project(sample_folder(), cancel=cancel)
