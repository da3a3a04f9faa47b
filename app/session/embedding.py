"""Keeps a project embedded: whenever images wait, a worker embeds them and the collection learns batch by batch."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from PySide6.QtCore import QObject, QTimer, Signal

from app.jobs.process_job import ProcessJob
from engine.events import Progress
from engine.files import FileFailure

if TYPE_CHECKING:
    from app.session import ProjectInfo, Session
    from engine.collection.live import LiveCollection
    from engine.collection.state import CollectionState
    from engine.project import Change

FEED_INTERVAL_MS: Final = 500
"""Batches are gathered this long: each update of the collection redraws the window."""

WAITING: Final = 0  # ImageStatus.WAITING, without loading numpy before the window shows
FAILED: Final = 2  # ImageStatus.FAILED

Row = tuple[int, bytes | None, str | None]
MakeJob = Callable[[str, dict[str, Any]], ProcessJob]


@final
class Embedding(QObject):
    """Starts an embedding job when images wait, feeds its results to the session, and starts anew when more came.

    Signals:
        failures_changed: `FileFailure` of each image that could not be read since the project was opened.
        device_told: what looks at images, for people, and why it is no GPU; "" when it is one, or that is not known.
        notice_given: what a person must be told, such as that the GPU failed; at once, and once for each job; "" when a
            job came to its end without.
        failed: why a job failed; the session says so, too.

    Args:
        session: the session to serve.
        make_job: makes the job from its title and request; tests give another one.
    """

    failures_changed = Signal(object)
    device_told = Signal(str, str)
    notice_given = Signal(str)
    failed = Signal(str)

    def __init__(self, session: "Session", make_job: MakeJob = ProcessJob, parent: QObject | None = None) -> None:
        super().__init__(parent or session)
        self.device = "auto"
        self.failures: dict[int, FileFailure] = {}
        self.job: ProcessJob | None = None
        self._session = session
        self._make_job = make_job
        self._rows: list[Row] = []
        self._is_feeding = False
        self._wants_start = False
        self._wants_failed = False
        self._wants_all = False
        self._is_paused = False
        self._goes_on = False  # with another job, also when this one is cancelled
        self._notice = ""
        self._feed_timer = QTimer(self, singleShot=True, interval=FEED_INTERVAL_MS)
        self._feed_timer.timeout.connect(self._feed)
        session.loaded.connect(self._on_loaded)
        session.closed.connect(self._on_closed)
        session.change_made.connect(self._on_change_made)

    def start(self) -> None:
        """Embed what waits, also after a cancel; while a job runs, another follows it."""
        self._is_paused = False
        self._wants_start = True
        self._goes_on = self.job is not None
        self._start_when_free()

    def start_again(self) -> None:
        """Embed what waits, and what could not be read before: a person may have mended it."""
        self._wants_failed = True
        self.start()

    def look_at_all(self) -> None:
        """Embed what is new in any image: files may have been changed."""
        self._wants_all = True
        self.start_again()

    def cancel(self) -> None:
        """Stop until `start` is called; what was finished is kept."""
        self._is_paused = True
        self._goes_on = False
        if self.job is not None:
            self.job.cancel()

    def use_device(self, device: str) -> None:
        """Look at images on another device from now on; a job that runs goes on there, unless a person stopped it."""
        if device == self.device:
            return
        self.device = device
        if not self._is_paused:
            self._start_anew()

    def _on_loaded(self) -> None:
        self.start()

    def _on_closed(self) -> None:
        if self.job is not None:
            self.job.cancel()
        self._rows.clear()
        self._wants_start = self._wants_failed = self._wants_all = self._is_feeding = False
        self._set_failures({})

    def _on_change_made(self, change: "Change") -> None:
        from engine.project.model_rows import MODEL_SETTING

        if MODEL_SETTING in change.settings:
            self._start_anew()
        elif change.images_moved:
            self.start_again()
        elif change.images_added:
            self._wants_start = True
            self._start_when_free()

    def _start_anew(self) -> None:
        """Embed what waits with the model and the device of now; a job that runs with the former ones ends."""
        if self.job is not None:
            self.job.cancel()
        self.start()

    def _start_when_free(self) -> None:
        """Start when wanted, nothing runs, and there is an image to read."""
        info, state = self._session.info, self._session.state
        if self.job is not None or self._is_paused or not self._wants_start or info is None or state is None:
            return
        is_wanted = (state.status == WAITING) | ((state.status == FAILED) & self._wants_failed)
        if not is_wanted.any() and not self._wants_all:
            return
        self._wants_start = self._wants_failed = self._wants_all = False
        request = {
            "verb": "embed",
            "project": str(info.path),
            "cache": str(self._session.caches.root),
            "device": self.device,
        }
        self.job = self._make_job(self.tr("Looking at images"), request)
        self.job.batch.connect(lambda results: self._on_batch(info, results))
        self._notice = ""
        self.job.progress.connect(self._on_progress)
        self.job.finished.connect(self._on_finished)
        self.job.failed.connect(self._session.failed)
        self.job.failed.connect(self.failed)
        self.job.cancelled.connect(self._on_cancelled)
        self.job.ended.connect(self._on_ended)
        self._session.jobs.run(self.job)

    def _on_progress(self, progress: Progress) -> None:
        if progress.note:
            self.device_told.emit(progress.note, "")
        self._tell_notice(progress.notice)

    def _on_finished(self, fields: Mapping[str, Any]) -> None:
        self.device_told.emit(fields["device"], fields["reason"])
        self._tell_notice(fields["notice"])
        if not self._notice:
            self.notice_given.emit("")

    def _tell_notice(self, notice: str) -> None:
        if notice and notice != self._notice:
            self._notice = notice
            self.notice_given.emit(notice)

    def _on_batch(self, project: "ProjectInfo", results: Sequence[Sequence[Any]]) -> None:
        if self._session.info is not project:  # it was left while its worker was busy
            return
        self._rows += [(image_id, bytes.fromhex(h) if h else None, failure) for image_id, h, failure in results]
        self._collect_failures(results)
        if not self._is_feeding and not self._feed_timer.isActive():
            self._feed_timer.start()

    def _collect_failures(self, results: Sequence[Sequence[Any]]) -> None:
        state = self._session.state
        if state is None:
            return
        reasons = {image_id: reason for image_id, _hash, reason in results}
        kept = {image_id: failure for image_id, failure in self.failures.items() if image_id not in reasons}
        failed = {image_id: FileFailure(_path(state, image_id), why) for image_id, why in reasons.items() if why}
        self._set_failures(kept | failed)

    def _set_failures(self, failures: dict[int, FileFailure]) -> None:
        if failures != self.failures:
            self.failures = failures
            self.failures_changed.emit(tuple(failures.values()))

    def _feed(self) -> None:
        """Hand over what was gathered; the next time comes when this is done."""
        if not self._rows or self._is_feeding:
            return
        rows, self._rows = self._rows, []
        self._is_feeding = True
        self._session.take(lambda live: _learn(live, rows), self._on_fed)

    def _on_fed(self) -> None:
        self._is_feeding = False
        if self._rows:
            self._feed_timer.start()

    def _on_cancelled(self) -> None:
        self._is_paused = not self._goes_on

    def _on_ended(self) -> None:
        self.job = None
        self._goes_on = False
        self._feed_timer.stop()
        self._feed()
        self._start_when_free()


def _learn(live: "LiveCollection", rows: Sequence[Row]) -> "CollectionState":
    """Write down what was found, then bring the collection up to date; on the project thread."""
    if live.project.is_writable:
        live.project.record_scan(rows)
    return live.take_embedded([image_id for image_id, _hash, _failure in rows])


def _path(state: "CollectionState", image_id: int) -> Path:
    try:
        return state.path_of(image_id)
    except KeyError:  # removed from the project while it was being read
        return Path(str(image_id))
