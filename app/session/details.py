"""Reads image metadata where it is missing: for older projects and for cached files."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, QTimer, Signal

from app.jobs.process_job import WorkerJob
from app.session.embed_job import EmbedJob
from app.texts import tr
from engine.worker.client import Worker

if TYPE_CHECKING:
    from app.jobs.job import Job
    from app.session import ProjectInfo, Session
    from engine.collection.live import LiveCollection
    from engine.images.details_messages import DetailsBatch, FileDetails, ReadDetails

PAUSE_MS = 1_500  # pause after opening, so that the visible page comes first
FEED_INTERVAL_MS = 500  # between updates of the screens
MOST_AT_ONCE = 1_000  # files per write, so that the next label need not wait long
MOST_WAITING = 5_000  # files whose details are held back while the user is active

StartWorker = Callable[[], Worker]


@final
class DetailsJob(WorkerJob):
    """Reads missing image metadata of the open project, a few thousand files at a time.

    Args:
        after: read only images with a higher id.
    """

    def __init__(self, session: Session, start: StartWorker, after: int) -> None:
        super().__init__(tr("Reading dates, cameras and places"))
        self._session = session
        self._start = start
        self._process: Worker | None = None
        self.last_id = after  # the last image that was requested
        self._done = self._total = 0

    def start(self) -> None:
        self._ask_for_images()
        self._begin()  # last, so that listeners can cancel

    def _ask_for_images(self) -> None:
        after, done, total = self.last_id, self._done, self._total

        def question(live: LiveCollection) -> ReadDetails | None:
            from engine.collection.details import details_to_read

            return details_to_read(live.project, after=after, done_before=done, total=total)

        self._session.ask(question, self._on_images, owner=self, on_failure=self._stop)

    def _on_images(self, request: ReadDetails | None) -> None:
        if self.has_ended:
            return
        if request is None:
            self._succeed(self._done)
            return
        self.last_id, self._total = request.images[-1][0], request.total
        self._done += len(request.images)
        try:
            if self._process is None or not self._process.is_alive:
                self._process = self._start()
            self._ask(self._process, request)
        except OSError:
            self._refuse_to_start()

    def _on_result(self, _result: object) -> None:
        self._ask_for_images()

    def close(self) -> None:
        """End the worker after the job has ended."""
        process, self._process = self._process, None
        if process is not None:
            process.close()


def start_worker() -> Worker:
    return Worker(stays=True)


@final
class DetailsReading(QObject):
    """Starts a job where metadata is missing, and stores its results.

    After opening, and after images were embedded.
    """

    read = Signal()  # metadata of more images is available

    def __init__(self, session: Session, start: StartWorker = start_worker) -> None:
        super().__init__(session)
        self.job: DetailsJob | None = None
        self._session = session
        self._start_worker = start
        self._files: list[FileDetails] = []
        self._is_feeding = self._is_enough = False
        # Images with ids up to this one were requested: missing files are skipped.
        self._through = 0
        self._timer = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._timer.timeout.connect(self._look)
        self._feed_timer = QTimer(self, singleShot=True, interval=FEED_INTERVAL_MS)
        self._feed_timer.timeout.connect(self._feed)
        session.loaded.connect(self._timer.start)
        session.closed.connect(self._on_closed)
        session.jobs.job_ended.connect(self._on_job_ended)

    def _on_job_ended(self, job: Job) -> None:
        if isinstance(job, EmbedJob):  # it reads metadata of its images itself
            self._timer.start()

    def _look(self) -> None:
        """Start a job where metadata is missing, unless images are being embedded.

        The embedding job reads the metadata of its images.
        """
        info = self._session.info
        is_embedding = any(isinstance(job, EmbedJob) for job in self._session.jobs.jobs)
        if (
            info is None
            or not info.is_writable
            or self.job is not None
            or self._is_enough
            or is_embedding
        ):
            return
        after = self._through
        self._session.ask(
            lambda live: bool(live.project.details.missing(1, after=after)),
            lambda are_missing: self._on_known(info) if are_missing else None,
            owner=self,
            topic="details",
        )

    def _on_known(self, info: ProjectInfo) -> None:
        if self.job is not None or self._session.info is not info:
            return
        job = DetailsJob(self._session, self._start_worker, self._through)
        job.event_came.connect(lambda batch: self._on_batch(info, batch))
        job.ended.connect(lambda: self._on_ended(job))
        job.failed.connect(self._session.failed)
        job.cancelled.connect(self._on_cancelled)
        self.job = job
        self._session.jobs.watch(job)
        job.start()

    def _on_batch(self, info: ProjectInfo, batch: DetailsBatch) -> None:
        if self._session.info is info:
            self._files += batch.files
            if not self._is_feeding and not self._feed_timer.isActive():
                self._feed_timer.start()

    def _feed(self) -> None:
        if not self._files or self._is_feeding:
            return
        if self._session.what_if.is_on:  # only edits may change the display meanwhile
            self._feed_timer.start()
            return
        if len(self._files) < MOST_WAITING and self._session.current_card.frozen.idle_in_s > 0:
            self._feed_timer.start()  # the user is active: labels are written first
            return
        files, self._files = self._files[:MOST_AT_ONCE], self._files[MOST_AT_ONCE:]
        self._is_feeding = True
        self._session.learn(lambda live: live.metadata.add_details(files), self._on_fed)

    def _on_fed(self) -> None:
        self._is_feeding = False
        self.read.emit()
        if self._files:
            self._feed_timer.start()

    def _on_cancelled(self) -> None:
        # While the project is open; the next session continues from here.
        self._is_enough = True

    def _on_ended(self, job: DetailsJob) -> None:
        self.job, self._through = None, job.last_id
        job.close()
        self._feed()

    def _on_closed(self) -> None:
        self._timer.stop()
        self._feed_timer.stop()
        self._files.clear()
        if self.job is not None:
            self.job.cancel()
        self._is_feeding = self._is_enough = False
        self._through = 0
