"""Detection of files modified since they were read, on a thread as a share responds slowly."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal

from app.jobs.slot import JobSlot

if TYPE_CHECKING:
    from app.session import Session
    from engine.collection.live import LiveCollection
    from engine.events import CancelToken, OnProgress
    from engine.project import ImageTable

TOPIC = "files as read"
REST_S = 0.001  # pause after each millisecond of work


@final
class WrittenImages(QObject):
    """Check files when a project is loaded, or on request: lists folders, reads no file."""

    found = Signal(frozenset)  # ids

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self._looking = JobSlot(parent=self)
        self.stop = self._looking.stop
        session.loaded.connect(self.look)
        session.closed.connect(self._looking.abandon)

    def look(self) -> None:
        """Start a check, replacing a running one."""
        if self._session.info is not None:
            self._session.ask(_as_read, self._look, owner=self, topic=TOPIC)

    def _look(self, table: ImageTable) -> None:
        info, resting = self._session.info, self._session.resting_token()
        if info is None:
            return
        folder = info.path.parent

        def work(_on_progress: OnProgress, cancel: CancelToken) -> frozenset[int]:
            from engine.images.files_on_disk import written_files

            def rest() -> None:
                resting.raise_if_cancelled()
                cancel.wait(REST_S)

            files = table.paths, table.sizes_bytes, table.modified_ns
            return frozenset(
                table.ids[place]
                for place in written_files(folder, *files, cancel=cancel, rest=rest)
            )

        self._looking.start("files as read", work, self._on_looked, replaces=True)

    def _on_looked(self, written_to: frozenset[int]) -> None:
        if written_to:
            self.found.emit(written_to)


def _as_read(live: LiveCollection) -> ImageTable:
    """Images with stored size and time; called on the project thread."""
    return live.project.images.table()
