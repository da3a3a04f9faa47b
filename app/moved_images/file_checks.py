"""Detection of missing and modified files, on threads as an unreachable share responds slowly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication

from app.jobs.slot import JobSlot
from engine.file_parts import ImageSource

if TYPE_CHECKING:
    from app.images.thumbnails import Thumbnails
    from app.session import Session
    from engine.collection.live import LiveCollection
    from engine.events import CancelToken, OnProgress
    from engine.project import Change, ImageTable

DOUBT_MS = 500  # debounce interval: many thumbnails fail at once when a share disconnects
REST_S = 0.001  # pause after each millisecond of work: the window needs the interpreter

LastKnown = Mapping[Path, tuple[int, int]]


@final
class MissingImages(QObject):
    """Check files when a project is loaded, its images change, or the window is activated."""

    missing_changed = Signal(frozenset)  # ids of missing images
    reappeared = Signal()  # missing images exist again

    def __init__(self, session: Session, thumbnails: Thumbnails) -> None:
        super().__init__(session)
        self.missing: frozenset[int] = frozenset()
        self.looks = 0  # number of checks since the project was opened
        self._session = session
        self._thumbnails = thumbnails
        self._looking = JobSlot(parent=self)
        self._looks_again = False
        self._doubt_timer = QTimer(self, singleShot=True, interval=DOUBT_MS)
        self._doubt_timer.timeout.connect(self.look)
        session.loaded.connect(self.look)
        session.closed.connect(self._on_closed)
        session.change_made.connect(self._on_change_made)
        thumbnails.ready.connect(self._on_thumbnail_ready)
        application = QGuiApplication.instance()
        if isinstance(application, QGuiApplication):
            application.applicationStateChanged.connect(self._on_application_state_changed)

    @property
    def is_looking(self) -> bool:
        return self._looking.is_busy

    def look(self) -> None:
        """Start a check, or repeat a running one when it has finished."""
        state = self._session.state
        if state is None:
            return
        if self._looking.is_busy:
            self._looks_again = True
            return
        self._looks_again = False

        resting = self._session.resting_token()

        def missing(_on_progress: OnProgress, cancel: CancelToken) -> frozenset[int]:
            from engine.images.files_on_disk import missing_files

            rest = _pause(resting, cancel)
            rows = missing_files(state.folder, state.paths, cancel=cancel, rest=rest)
            return frozenset(state.image_ids[rows].tolist())

        self._looking.start(
            "presence", missing, self._on_looked, lambda _message: self._on_looked(self.missing)
        )

    def stop(self) -> None:
        self._doubt_timer.stop()
        self._looking.stop()

    def _on_looked(self, missing: frozenset[int]) -> None:
        self.looks += 1
        before, self.missing = self.missing, missing
        if missing != before:
            self._remember_files()
            self.missing_changed.emit(missing)
        if before - missing:
            self.reappeared.emit()
        if self._looks_again:
            self.look()

    def _remember_files(self) -> None:
        """Keep cached thumbnails of missing files available."""
        missing, show = self.missing, self._thumbnails.show_last_known
        if missing:
            self._session.ask(
                lambda live: last_known(live, missing), show, owner=self, topic="last known files"
            )
        else:
            show({})

    def _on_closed(self) -> None:
        self._doubt_timer.stop()
        self._looking.abandon()
        self._looks_again, self.looks = False, 0
        if self.missing:
            self.missing = frozenset()
            self._thumbnails.show_last_known({})
            self.missing_changed.emit(self.missing)

    def _on_change_made(self, change: Change) -> None:
        if change.images_moved or change.images_added or change.images_removed:
            self.look()

    def _on_thumbnail_ready(self, source: ImageSource) -> None:
        if self._thumbnails.has_newly_failed(source) and not self._doubt_timer.isActive():
            self._doubt_timer.start()

    def _on_application_state_changed(self, state: Qt.ApplicationState) -> None:
        if state == Qt.ApplicationState.ApplicationActive:
            self.look()


def last_known(live: LiveCollection, missing: frozenset[int]) -> LastKnown:
    """Size and modification time of missing files as stored; called on the project thread."""
    table, state = live.project.images.table(), live.state
    files = zip(table.ids, table.paths, table.sizes_bytes, table.modified_ns, strict=True)
    return {
        state.folder / path: (size, time)
        for image_id, path, size, time in files
        if image_id in missing
    }


def _pause(resting: CancelToken, cancel: CancelToken) -> Callable[[], None]:
    """A pause between two steps of work, which ends once the user acts."""

    def pause() -> None:
        resting.raise_if_cancelled()
        cancel.wait(REST_S)

    return pause


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
            self._session.ask(
                lambda live: live.project.images.table(),
                self._look,
                owner=self,
                topic="files as read",
            )

    def _look(self, table: ImageTable) -> None:
        info, resting = self._session.info, self._session.resting_token()
        if info is None:
            return
        folder = info.path.parent

        def modified(_on_progress: OnProgress, cancel: CancelToken) -> frozenset[int]:
            from engine.images.files_on_disk import written_files

            files = table.paths, table.sizes_bytes, table.modified_ns
            return frozenset(
                table.ids[place]
                for place in written_files(
                    folder, *files, cancel=cancel, rest=_pause(resting, cancel)
                )
            )

        self._looking.start("files as read", modified, self._on_looked, replaces=True)

    def _on_looked(self, written_to: frozenset[int]) -> None:
        if written_to:
            self.found.emit(written_to)
