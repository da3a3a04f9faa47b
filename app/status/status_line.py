"""The status bar: saved mark on the left, the running job and the device on the right."""

from typing import TYPE_CHECKING, final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.jobs.job import Job, JobState
from app.session.embedding import Embedding
from app.status.job_bar import JobBar
from app.status.saved_mark import SavedMark

if TYPE_CHECKING:
    from app.session import Session


@final
class StatusLine(QWidget):
    """Follows the session's jobs; shows the one that runs.

    Args:
        session: whose jobs are shown.
        embedding: whose failures are shown.
        device: shows at the right end which device embeds.
    """

    def __init__(self, session: "Session", embedding: Embedding, device: QWidget) -> None:
        super().__init__()
        self._session = session
        self._embedding = embedding
        self.job_bar = JobBar(self)
        self.saved_mark = SavedMark(self)
        self._shown: Job | None = None
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 4, 12, 4)
        layout.addWidget(self.saved_mark)
        layout.addStretch(1)
        layout.addWidget(self.job_bar)
        layout.addSpacing(12)
        layout.addWidget(device, 0, Qt.AlignmentFlag.AlignVCenter)
        self.job_bar.cancel_requested.connect(self._on_cancel_requested)
        embedding.failures_changed.connect(self.job_bar.set_failures)
        session.jobs.job_added.connect(self._on_job_added)
        session.jobs.job_ended.connect(lambda _job: self._show_running())
        session.opened.connect(lambda info: self.saved_mark.show_open(is_writable=info.is_writable))
        session.change_made.connect(lambda _change: self.saved_mark.show_saved())
        session.closed.connect(self.saved_mark.clear)

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

    def _on_progress(self, job: Job, progress: object) -> None:
        from engine.events import Progress

        if job is self._shown and isinstance(progress, Progress):
            self.job_bar.show_progress(progress)

    def _on_cancel_requested(self) -> None:
        if self._shown is not None and self._shown is self._embedding.job:
            self._embedding.cancel()
        elif self._shown is not None:
            self._shown.cancel()
