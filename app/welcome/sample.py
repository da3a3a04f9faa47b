"""Opening the sample project; its pictures are drawn first when that was not done yet."""

from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QObject, Signal

from app.jobs.detached_job import DetachedJob
from app.texts import translate
from engine.config import PROJECT_SUFFIX, sample_folder

if TYPE_CHECKING:  # the window shows first
    from app.jobs.job import Job
    from app.session import Session
    from app.welcome.view import Welcome
    from engine.sample_collection.messages import DrawSample, PictureDrawn

PROJECT_NAME: Final = f"sample{PROJECT_SUFFIX}"


@final
class SampleStart(QObject):
    """Has the sample project made by another process, and shows its pictures as they come.

    Signals:
        ready: path of the project, to be opened.
        face_wanted: the class that shows best what the program does, as soon as the sample is open.

    Args:
        session: runs the work, and hears what fails.
        page: shows how far it is.
    """

    ready = Signal(object)
    face_wanted = Signal(int)

    def __init__(self, session: "Session", page: "Welcome") -> None:
        super().__init__(page)
        self._session = session
        self._page = page
        self._job: Job | None = None
        self._left: object = None  # the project that was open when the sample was asked for
        self._is_awaited = False
        session.loaded.connect(self._on_loaded)
        page.cancel_requested.connect(self._cancel)

    def start(self) -> None:
        """Answer at once, and open the sample as soon as it is there."""
        if self._job is not None:
            return
        self._left = self._session.info
        self._page.show_making()
        job = DetachedJob(_title(), lambda _on_progress, _cancel: _what_to_draw(), self)
        self._follow(job)
        job.finished.connect(self._on_looked)
        job.start()

    def stop(self) -> None:
        """End before the program ends."""
        if self._job is not None:
            self._job.stop()

    def _follow(self, job: "Job") -> None:
        self._job = job
        job.failed.connect(self._on_failed)
        job.cancelled.connect(self._end)

    def _cancel(self) -> None:
        if self._job is not None:
            self._job.cancel()

    def _on_looked(self, request: "DrawSample | None") -> None:
        """Open what is there, or have it drawn."""
        if request is None:
            self._open()
            return
        from app.jobs.process_job import ProcessJob

        job = ProcessJob(_title(), request)
        self._follow(job)
        job.progress.connect(self._page.sample_card.show_progress)
        job.event_came.connect(self._on_drawn)
        job.finished.connect(lambda _drawn: self._open())
        self._session.jobs.run(job)

    def _on_drawn(self, event: "PictureDrawn") -> None:
        self._page.sample_card.add_picture(event.path)

    def _on_failed(self, message: str) -> None:
        self._end()
        self._session.failed.emit(message)

    def _open(self) -> None:
        """Open it, unless the person has gone on to another project meanwhile."""
        self._end()
        if self._session.info is self._left:
            self._is_awaited = True
            self.ready.emit(sample_folder() / PROJECT_NAME)

    def _on_loaded(self) -> None:
        info, state = self._session.info, self._session.state
        is_sample = info is not None and info.path == sample_folder() / PROJECT_NAME
        is_awaited, self._is_awaited = self._is_awaited, False
        roots = self._session.graph.roots()
        if is_awaited and is_sample and state is not None and roots:
            self.face_wanted.emit(max(roots, key=lambda class_id: state.image_counts.get(class_id, 0)))

    def _end(self) -> None:
        self._job = None
        self._page.show_ways()


def _title() -> str:
    return translate("projects", "Drawing the sample collection")


def _what_to_draw() -> "DrawSample | None":
    """What a worker must be asked for; None when the project is there. On a thread: it asks the disk."""
    from engine.sample_collection.messages import DrawSample

    folder = sample_folder()
    return None if (folder / PROJECT_NAME).exists() else DrawSample(folder)
