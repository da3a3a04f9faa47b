"""The status bar: saved mark and the last label on the left, the running job and the device on the right."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.jobs.job import Job, JobState
from app.session.embedding import FAILED, Embedding
from app.status.job_bar import JobBar
from app.status.label_mark import LabelMark
from app.status.opening_mark import OpeningMark
from app.status.saved_mark import SavedMark
from engine.files import FileFailure

if TYPE_CHECKING:
    from app.session import Session
    from engine.collection.state import CollectionState


@final
class StatusLine(QWidget):
    """Follows the session's jobs; shows the one that runs.

    Args:
        session: whose jobs are shown.
        embedding: what it could not read is shown beside what the project remembers.
    """

    def __init__(self, session: Session, embedding: Embedding) -> None:
        super().__init__()
        self._session = session
        self._embedding = embedding
        self.job_bar = JobBar(self)
        self.saved_mark = SavedMark(self)
        self.opening_mark = OpeningMark(session)
        self.label_mark = LabelMark(session)
        self._failures: dict[int, FileFailure] = {}
        self._shown: Job | None = None
        layout = self._layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 4, 12, 4)
        layout.addWidget(self.saved_mark)
        layout.addSpacing(12)
        layout.addWidget(self.label_mark, 1)
        layout.addWidget(self.opening_mark)
        layout.addWidget(self.job_bar)
        self.job_bar.cancel_requested.connect(self._on_cancel_requested)
        embedding.failures_changed.connect(lambda _failures: self._show_failures())
        session.state_changed.connect(lambda _state: self._show_failures())
        session.closed.connect(self._show_failures)
        session.jobs.job_added.connect(self._on_job_added)
        session.jobs.job_ended.connect(lambda _job: self._show_running())
        session.opened.connect(lambda info: self.saved_mark.show_open(is_writable=info.is_writable))
        session.change_made.connect(lambda _change: self.saved_mark.show_saved())
        session.unsaved_changed.connect(self.saved_mark.show_unsaved)
        session.what_if.begun.connect(lambda: self.saved_mark.show_tried_out(is_on=True))
        session.what_if.ended.connect(lambda _is_kept: self.saved_mark.show_tried_out(is_on=False))
        session.closed.connect(self.saved_mark.clear)

    def add_at_end(self, part: QWidget) -> None:
        self._layout.addSpacing(12)
        self._layout.addWidget(part, 0, Qt.AlignmentFlag.AlignVCenter)

    def _on_job_added(self, job: Job) -> None:
        job.started.connect(self._show_running)
        job.progress.connect(lambda progress: self._on_progress(job, progress))
        self._show_running()

    def _show_running(self) -> None:
        running = next((job for job in self._session.jobs.jobs if job.state is JobState.RUNNING), None)
        if running is self._shown:
            return
        self._shown = running
        if running is None:
            self.job_bar.show_idle()
        else:
            self.job_bar.show_started(running.title, keeps_finished=running.keeps_finished)
            if running.last_progress is not None:
                self.job_bar.show_progress(running.last_progress)

    def _show_failures(self) -> None:
        """Count what the row "Could not be read" counts, and what could not be written down there."""
        state = self._session.state
        remembered = {} if state is None else failures_of(state)
        failures = self._embedding.failures | remembered
        if failures != self._failures:
            self._failures = failures
            self.job_bar.set_failures(tuple(failures.values()))

    def _on_progress(self, job: Job, progress: object) -> None:
        from engine.events import Progress

        if job is self._shown and isinstance(progress, Progress):
            self.job_bar.show_progress(progress)

    def _on_cancel_requested(self) -> None:
        if self._shown is not None and self._shown is self._embedding.job:
            self._embedding.cancel()
        elif self._shown is not None:
            self._shown.cancel()


def failures_of(state: CollectionState) -> dict[int, FileFailure]:
    """The images of a collection that could not be read, each with its reason."""
    failed = state.image_ids[state.status == FAILED].tolist()
    return {image_id: FileFailure(state.path_of(image_id), state.failures.get(image_id, "")) for image_id in failed}
