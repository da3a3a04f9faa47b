"""Keeps the embeddings of a project up to date.

A worker process embeds pending images, and stays alive for a while for further ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, QTimer, Signal

from app.jobs.process_job import STOP_GRACE_S
from app.session.embed_job import EmbeddingPhase, EmbedJob, EmbedScope, Event, Views, Wanted, after
from app.texts import tr
from engine.events import Progress
from engine.file_parts import ImageSource
from engine.files import FileFailure
from engine.texts import translated
from engine.worker.client import Worker

if TYPE_CHECKING:
    from app.session import ProjectInfo, Session
    from engine.collection.live import LiveCollection
    from engine.collection.state import CollectionState
    from engine.embedding.messages import EmbedBatch, EmbedResult, EmbedSummary
    from engine.images.details_messages import FileDetails
    from engine.project import Change

# Results are batched: each update of the collection redraws the window, and triggers a fit.
FEED_INTERVAL_MS = 500
# Chosen: the updates of a long job take at most a tenth of the processor.
LONGEST_INTERVAL_MS = 2_000
IDLE_MS = 5 * 60_000  # an idle worker then exits to free its memory
# Views are embedded once the user is idle, so that labels do not compete with them.
PAUSE_MS = 2_000
WAITING = 0  # ImageStatus.WAITING; importing numpy would delay the window
FAILED = 2  # ImageStatus.FAILED

StartWorker = Callable[[], Worker]


def start_worker() -> Worker:
    return Worker(stays=True)


@final
class Embedding(QObject):
    """Starts an embedding job for pending images, stores its results, and restarts for new ones.

    Args:
        session: of the open project.
        start: starts the worker; tests replace it.
        idle_ms: how long an idle worker stays alive.
    """

    # `FileFailure` of each image that could not be read since the project was opened.
    failures_changed = Signal(tuple)
    # The device's name, and why it is not a GPU ("" where it is, or unknown).
    device_changed = Signal(str, str)
    # A warning, such as a failed GPU, once per job; "" when a job ended without one.
    notice_given = Signal(str)
    failed = Signal(str)  # reason why a job failed; also emitted by the session
    # Images are being added whose thumbnails are made while they are read.
    photos_expected = Signal()
    photos_seen = Signal(tuple)  # sources of images whose thumbnails are now cached

    def __init__(
        self, session: Session, start: StartWorker = start_worker, *, idle_ms: int = IDLE_MS
    ) -> None:
        super().__init__(session)
        self.device = "auto"
        # Side of the thumbnails to make of photos that are read; 0 for none.
        self.thumbnail_side: Callable[[], int] = int
        self.failures: dict[int, FileFailure] = {}
        self.job: EmbedJob | None = None
        self.worker: Worker | None = None
        self._session = session
        self._start_worker = start
        self._rows: list[EmbedResult] = []
        self._details: list[FileDetails] = []
        self._viewed: list[int] = []
        self._is_feeding = False  # results are being stored in the collection
        self._phase = EmbeddingPhase.IDLE
        self._wanted = Wanted.NOTHING
        self._views = Views.LATER
        # Images whose views were requested since the project was opened.
        self._without_view: set[int] = set()
        # Images whose modified files are to be read again.
        self._written_to: frozenset[int] = frozenset()
        self._notice = ""
        self._feed_timer = QTimer(self, singleShot=True)
        self._begun_s = 0.0  # start time of the job
        self._feed_timer.timeout.connect(self._feed)
        self._idle_timer = QTimer(self, singleShot=True, interval=idle_ms)
        self._idle_timer.timeout.connect(self._on_idle)
        self.pause_timer = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self.pause_timer.timeout.connect(self._on_pause)
        session.jobs.stopping.connect(self._on_stopping)
        session.loaded.connect(self._on_loaded)
        session.closed.connect(self._on_closed)
        session.change_made.connect(self._on_change_made)
        session.what_if.begun.connect(self._on_trial_begun)
        session.what_if.ended.connect(self._start_when_free)

    def expect_photos(self, count: int) -> None:
        """Start the worker ahead of `count` photos that are about to be added."""
        from engine.embedding.views import MOST_IN_ALL_VIEWS

        state = self._session.state
        if self._phase is not EmbeddingPhase.IDLE or self._session.what_if.is_on or state is None:
            return
        with suppress(OSError):  # the job reports the reason
            self._running_worker()
        self._idle_timer.start()
        if len(state.image_ids) + count <= MOST_IN_ALL_VIEWS:
            self.photos_expected.emit()

    def start(self, wanted: Wanted = Wanted.WAITING) -> None:
        """Embed images, also after a cancel; a running job is followed by another."""
        self._wanted = max(self._wanted, wanted)
        self._on(Event.ASKED)
        if self._wanted >= Wanted.FAILED:
            self._without_view.clear()
            if self.job is not None and self.job.wanted.in_views:
                self.job.cancel()  # it embeds pending images anyway, but does not retry failed ones
        self._start_when_free()

    def start_again(self) -> None:
        """Embed pending images, and retry those that could not be read."""
        self.start(Wanted.FAILED)

    def look_at_all(self) -> None:
        """Embed all images whose files have changed."""
        self.start(Wanted.ALL)

    def read_again(self, image_ids: frozenset[int]) -> None:
        """Embed images whose files were modified after they were read."""
        self._written_to |= image_ids
        self._start_when_free()

    def cancel(self) -> None:
        """Stop until `start` is called, keeping finished work.

        A cancelled run over views is not resumed while the project is open.
        """
        if self.job is not None and self.job.wanted.in_views:
            self._views = Views.ENOUGH
        else:
            self._on(Event.STOPPED)
        if self.job is not None:
            self.job.cancel()

    def use_device(self, device: str) -> None:
        """Switch to another device, and continue there unless the user stopped embedding."""
        if device == self.device:
            return
        self.device = device
        if not self._phase.is_stopped:
            self._restart()

    def _on(self, event: Event) -> None:
        self._phase = after(self._phase, event)

    def _on_loaded(self) -> None:
        self.start()
        self.pause_timer.start()

    def _on_pause(self) -> None:
        self._request_views()
        self._start_when_free()

    def _request_views(self) -> None:
        if self._views is Views.LATER:
            self._views = Views.WANTED

    def _on_closed(self) -> None:
        if self.job is not None:
            self.job.cancel()
        self._rows.clear()
        self._details.clear()
        self._viewed.clear()
        self.pause_timer.stop()
        self._without_view.clear()
        self._wanted, self._views, self._is_feeding = Wanted.NOTHING, Views.LATER, False
        self._written_to = frozenset()
        self._set_failures({})

    def _on_change_made(self, change: Change) -> None:
        from engine.project.model_rows import MODEL_SETTING

        if change.labelled or MODEL_SETTING in change.settings:
            self.pause_timer.start()
        if MODEL_SETTING in change.settings:
            self._restart()
        elif change.images_moved:
            self.start_again()
        elif change.images_added:
            self._wanted = max(self._wanted, Wanted.WAITING)
            self._start_when_free()

    def _restart(self) -> None:
        """Restart with the current model and device; a running job is cancelled."""
        self._without_view.clear()
        if self.job is not None:
            self.job.cancel()
        self.start()

    def _on_trial_begun(self) -> None:
        """Pause during a what-if: only edits may change its predictions."""
        if self.job is not None:
            if self.job.wanted.in_views:
                self._request_views()
            else:
                self._wanted = max(self._wanted, Wanted.WAITING)
            self._on(Event.HELD)
            self.job.cancel()

    def _start_when_free(self) -> None:
        """Start a job where one is wanted, none is running, and an image is pending."""
        info, state = self._session.info, self._session.state
        if (
            self._phase is not EmbeddingPhase.IDLE
            or info is None
            or state is None
            or self._session.what_if.is_on
        ):
            return
        in_views = not self._waits(state)
        if in_views and not self._needs_views(state):
            return
        wanted = EmbedScope(
            self.device,
            with_failed=self._wanted >= Wanted.FAILED,
            with_all=self._wanted is Wanted.ALL,
            written_to=self._written_to,
            in_views=in_views,
            without_view=frozenset(self._without_view),
            thumbnail_side=self.thumbnail_side(),
        )
        title = tr("Refining predictions") if in_views else tr("Analysing images")
        self._written_to = frozenset()
        self._wanted, self._views = (
            Wanted.NOTHING,
            Views.ENOUGH if self._views is Views.ENOUGH else Views.LATER,
        )
        self._on(Event.BEGUN)
        self._begun_s = time.monotonic()
        self._idle_timer.stop()
        self.job = EmbedJob(title, self._session, wanted, self._running_worker)
        self.job.event_came.connect(lambda batch: self._on_batch(info, batch))
        self._notice = ""
        self.job.progress.connect(self._on_progress)
        self.job.finished.connect(self._on_finished)
        self.job.failed.connect(self._session.failed)
        self.job.failed.connect(self.failed)
        self.job.cancelled.connect(self._on_cancelled)
        self.job.ended.connect(self._on_ended)
        self._session.jobs.run(self.job)

    def _waits(self, state: CollectionState) -> bool:
        is_wanted = (state.status == WAITING) | (
            (state.status == FAILED) & (self._wanted >= Wanted.FAILED)
        )
        if self._wanted is Wanted.ALL or self._written_to:
            return True
        return bool(self._wanted is not Wanted.NOTHING and is_wanted.any())

    def _needs_views(self, state: CollectionState) -> bool:
        return self._views is Views.WANTED and not self._without_view.issuperset(
            state.without_views.tolist()
        )

    def _running_worker(self) -> Worker:
        if self.worker is None or not self.worker.is_alive:
            self.worker = self._start_worker()
        return self.worker

    def _on_idle(self) -> None:
        worker, self.worker = self.worker, None
        if worker is not None:
            worker.close()

    def _on_stopping(self) -> None:
        self._idle_timer.stop()
        worker, self.worker = self.worker, None
        if worker is not None:
            worker.stop(STOP_GRACE_S)

    def _on_progress(self, progress: Progress) -> None:
        if progress.note:
            self.device_changed.emit(progress.note, "")
        self._publish_notice(progress.notice)

    def _on_finished(self, embedded: EmbedSummary | None) -> None:
        if embedded is None:  # no image was pending
            return
        self.device_changed.emit(embedded.device_name, translated(embedded.reason))
        self._publish_notice(embedded.notice)
        if not self._notice:
            self.notice_given.emit("")

    def _publish_notice(self, notice: str) -> None:
        if notice and notice != self._notice:
            self._notice = notice
            self.notice_given.emit(translated(notice))

    def _on_batch(self, project: ProjectInfo, batch: EmbedBatch) -> None:
        if self._session.info is not project:  # it was closed while its worker was busy
            return
        state = self._session.state
        if batch.seen and state is not None:
            self.photos_seen.emit(tuple(_source(state, image_id) for image_id in batch.seen))
        if self.job is not None and self.job.is_on_views:
            read = [result.image_id for result in batch.results]
            self._viewed += read
            self._without_view.update(read)  # not requested again, even where it failed
        else:
            self._rows += batch.results
            self._details += batch.details
            self._collect_failures(batch.results)
        if not self._is_feeding and not self._feed_timer.isActive():
            self._feed_timer.start(self._feed_interval_ms)

    def _collect_failures(self, results: Sequence[EmbedResult]) -> None:
        state = self._session.state
        if state is None:
            return
        reasons = {result.image_id: result.failure for result in results}
        kept = {
            image_id: failure
            for image_id, failure in self.failures.items()
            if image_id not in reasons
        }
        failed = {
            image_id: FileFailure(_source(state, image_id).path, why)
            for image_id, why in reasons.items()
            if why
        }
        self._set_failures(kept | failed)

    def _set_failures(self, failures: dict[int, FileFailure]) -> None:
        if failures != self.failures:
            self.failures = failures
            self.failures_changed.emit(tuple(failures.values()))

    def _feed(self) -> None:
        """Store the collected results; a timer starts the next update once this one is done."""
        if not (self._rows or self._viewed) or self._is_feeding:
            return
        rows, self._rows = self._rows, []
        details, self._details = self._details, []
        viewed, self._viewed = self._viewed, []
        self._is_feeding = True
        self._session.take(lambda live: _learn(live, rows, viewed, details), self._on_fed)

    @property
    def _feed_interval_ms(self) -> int:
        """A tenth of the time that the job has taken so far, within bounds."""
        tenth_ms = round(100 * (time.monotonic() - self._begun_s))
        return max(FEED_INTERVAL_MS, min(LONGEST_INTERVAL_MS, tenth_ms))

    def _on_fed(self) -> None:
        self._is_feeding = False
        if self._rows or self._viewed:
            self._feed_timer.start(self._feed_interval_ms)

    def _on_cancelled(self) -> None:
        if self.job is not None and not self.job.wanted.in_views:
            self._on(Event.CANCELLED)

    def _on_ended(self) -> None:
        if self.job is not None and not self.job.wanted.in_views:
            self.pause_timer.start()
        self.job = None
        self._on(Event.ENDED)
        self._feed_timer.stop()
        self._feed()
        self._start_when_free()
        if self.job is None and self.worker is not None:
            self._idle_timer.start()


def _learn(
    live: LiveCollection,
    rows: Sequence[EmbedResult],
    viewed: Sequence[int],
    details: Sequence[FileDetails],
) -> CollectionState:
    """Record results and update the collection; on the project thread."""
    from engine.embedding.messages import EmbedBatch

    relabelled = live.record_embedded_batch(EmbedBatch(tuple(rows), tuple(details)))
    read = [image_id for image_id, _hash, _failure in rows]
    return live.take_embedded([*read, *viewed], relabelled=relabelled, fits=False)


def _source(state: CollectionState, image_id: int) -> ImageSource:
    try:
        return state.source_of(image_id)
    except KeyError:  # removed from the project while it was being read
        return ImageSource(Path(str(image_id)))
