"""The thread that the open project lives on: what is asked for one project never reaches another."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, final

from PySide6.QtCore import QObject, Signal

from app.jobs.background_thread import BackgroundThread
from app.jobs.thread_job import ThreadJob
from app.session.backbone_making import BackboneMaking, UnmadeBackboneError
from app.session.opening import listed
from engine.config import CacheFolders
from engine.errors import Cancelled, ProjectDamagedError, ProjectMovedError
from engine.events import CancelToken, OnProgress

if TYPE_CHECKING:
    from app.session.news import News
    from engine.collection.live import LiveCollection

T = TypeVar("T")
Make = Callable[[Path, CacheFolders, BackboneMaking], "LiveCollection"]
"""Makes or opens a project, on the project thread."""


@final
class ProjectThread(QObject):
    """Does one piece of work after another on the open project.

    Args:
        caches: where caches lie.
        making: makes the backbone that a project waits for.
        on_entered: called on the thread with a project that was just opened, and what can be shown of it at once.

    Attributes:
        shown: what the window shows; on the GUI thread only compared.

    Signals:
        busy_changed: whether work waits or runs.
        failed: one line for a person.
        damaged: path of a project that could not be opened because it is damaged; `failed` says how.
        moved: a file is not where it was opened: whether its project is the shown one, and the reason for people.
        left: no project is open any more.
    """

    busy_changed = Signal(bool)
    failed = Signal(str)
    damaged = Signal(Path)
    moved = Signal(bool, str)
    left = Signal()

    def __init__(
        self,
        caches: CacheFolders,
        making: BackboneMaking,
        on_entered: "Callable[[LiveCollection, News], None]",
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.shown: LiveCollection | None = None
        self._caches = caches
        self._making = making
        self._on_entered = on_entered
        self._live: LiveCollection | None = None  # touched on the thread only
        self._thread = BackgroundThread("project", self)
        self._thread.busy_changed.connect(self.busy_changed)

    @property
    def is_busy(self) -> bool:
        """Whether work waits or runs."""
        return self._thread.is_busy

    def post(self, deliver: Callable[[], None]) -> None:
        """Call something on the GUI thread; safe from any thread."""
        self._thread.post(deliver)

    def stop(self) -> None:
        """Finish what was begun, then end. Blocks."""
        self._thread.stop()

    # -- opening and leaving

    def enter(self, make: Make, path: Path, *, is_new: bool = False) -> None:
        """Make a new project, or open one; a project that is open already stays as it is."""

        def work() -> None:
            is_open_already = self._live is not None and self._live.project.path == path.absolute()
            if is_new or not is_open_already:
                self._enter(make, path)

        self._submit(work)

    def leave(self) -> None:
        """Close the project after all work that was begun."""
        self._submit(self._leave)

    def _enter(self, make: Make, path: Path) -> None:
        """Open the new project first, and leave the present one only when that worked."""
        try:
            live = make(path, self._caches, self._making)
        except UnmadeBackboneError as error:
            unmade = error  # Python forgets the other name at the end of this block
            self.post(lambda: self._making.begin(unmade, lambda: self._submit(lambda: self._enter(make, path))))
            return
        except ProjectDamagedError:
            self.post(lambda: self.damaged.emit(path.absolute()))
            raise
        news = listed(live)
        self._leave()
        self._live = live
        self._on_entered(live, news)

    def _leave(self) -> None:
        if self._live is None:
            return
        live, self._live = self._live, None
        try:
            live.close()
        finally:
            self.post(self.left.emit)

    # -- work

    def submit(self, work: "Callable[[LiveCollection], None]") -> None:
        """Run work on the project that the window shows now; what was meant for one that was left is dropped."""
        live = self.shown

        def run() -> None:
            if live is not None and live is self._live:
                work(live)

        self._submit(run)

    def long_job(self, title: str, work: "Callable[[LiveCollection, OnProgress, CancelToken], T]") -> ThreadJob:
        """The same as a job, which is cancelled where that project was left."""
        live = self.shown

        def run(on_progress: OnProgress, cancel: CancelToken) -> T:
            if live is None or live is not self._live:
                raise Cancelled
            return work(live, on_progress, cancel)

        return ThreadJob(title, run, self._thread)

    def _submit(self, work: Callable[[], None]) -> None:
        live = self.shown

        def watched() -> None:
            try:
                work()
            except ProjectMovedError as error:
                reason = str(error)
                self.post(lambda: self.moved.emit(live is self.shown, reason))

        self._thread.submit(watched, self.failed.emit)
