"""The status bar: save state and last label at the left, running job and device at the right."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from app.controls import ElidedLabel, fill_row, make_button, set_property
from app.jobs.job import Job, JobState
from app.session.embedding import Embedding
from app.session.subsets import Subset, subset_counts
from app.status.job_bar import JobBar
from app.texts import plain_tip, plural, tr
from app.wording import SEPARATOR, number, saved_at
from engine.collection.state import BOXED, EMPTY, NO_CLASS, UNKNOWN
from engine.files import FileFailure

if TYPE_CHECKING:
    from app.session import Session
    from engine.collection.state import CollectionState
    from engine.events import Progress
    from engine.project import Change


@final
class SavedMark(QLabel):
    """Whether all changes are saved."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", "caption")
        self._session = session
        session.opened.connect(lambda info: self._show_open(is_writable=info.is_writable))
        session.change_made.connect(self._show_saved)
        session.unsaved_changed.connect(self._show_unsaved)
        session.what_if.begun.connect(self._show_saved)
        session.what_if.ended.connect(self._show_saved)
        session.closed.connect(self.clear)

    def _show_open(self, *, is_writable: bool) -> None:
        self.setText(tr("All changes saved") if is_writable else tr("Read-only"))
        set_property(self, "role", "caption" if is_writable else "warning")
        self.setToolTip("")

    def _show_unsaved(self, count: int) -> None:
        """Show the number of labels still being written to disk; 0 when all are saved."""
        if count:
            self.setText(plural(count, "Saving 1 change…", "Saving {n} changes…"))
        else:
            self._show_saved()

    def _show_saved(self) -> None:
        is_tried_out = self._session.what_if.is_on
        self.setText(tr("Changes are not saved yet") if is_tried_out else tr("All changes saved"))
        self.setToolTip("" if is_tried_out else plain_tip(saved_at(datetime.now(UTC))))


@final
class OpeningMark(QLabel):
    """`Reading 100,000 embeddings…`, then `Classifying…`; hidden once predictions are available."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", "secondary")
        self._is_opening = False
        session.opened.connect(self._on_opened)
        session.state_changed.connect(self._on_state_changed)
        session.loaded.connect(self._on_over)
        session.closed.connect(self._on_over)
        self.hide()

    def _on_opened(self, _info: object) -> None:
        self._is_opening = True

    def _on_state_changed(self, state: CollectionState) -> None:
        count = len(state.image_ids)
        self.setVisible(self._is_opening and count > 0)
        reading = plural(count, "Reading 1 embedding…", "Reading {n} embeddings…")
        self.setText(reading if state.is_list_only else tr("Classifying…"))

    def _on_over(self) -> None:
        self._is_opening = False
        self.hide()


@final
class LabelMark(QWidget):
    """`Labelled Orange · 41 to review · Undo`, after labelling a single image."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._words = ElidedLabel("caption", takes_rest=False)
        self._undo = make_button(tr("Undo"), session.undo, variant="flat")
        self._undo.setProperty("size", "small")
        self._undo.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        fill_row(self, self._words, self._undo, None)
        session.change_made.connect(self._on_change_made)
        session.closed.connect(self._clear)
        self._clear()

    @property
    def text(self) -> str:
        return self._words.text()

    def _on_change_made(self, change: Change) -> None:
        is_single = change.kind == "done" and len(change.labelled) == 1 and not change.graph_edits
        words = self._words_for(change.labelled[0]) if is_single else ""
        self._words.show_text(words)
        self._undo.setVisible(bool(words))

    def _words_for(self, image_id: int) -> str:
        state, graph = self._session.state, self._session.graph
        if state is None:
            return ""
        try:
            label = state.label_of(image_id)
        except KeyError:  # it was removed
            return ""
        if label in {NO_CLASS, BOXED}:
            done = tr("Label removed")
        elif label == UNKNOWN:
            done = tr("Labelled as none of the classes")
        elif label == EMPTY:
            done = tr("Labelled as empty")
        else:
            done = tr("Labelled {1}", graph.shown_name(label) if label in graph else "")
        left = tr("{1} to review", number(subset_counts(state)[Subset.TO_REVIEW]))
        return f"{done}{SEPARATOR}{left}"

    def _clear(self) -> None:
        self._words.show_text("")
        self._undo.hide()


@final
class StatusLine(QWidget):
    """Shows the running job, the save state and the last label."""

    def __init__(self, session: Session, embedding: Embedding) -> None:
        super().__init__()
        self._session = session
        self._embedding = embedding
        self.job_bar = JobBar(self)
        self.saved_mark = SavedMark(session)
        self.opening_mark = OpeningMark(session)
        self.label_mark = LabelMark(session)
        self._failures: dict[int, FileFailure] = {}
        self._shown: Job | None = None
        parts = (self.saved_mark, self.label_mark, self.opening_mark, self.job_bar)
        self._layout = fill_row(self, *parts, margins=(12, 4, 12, 4), grows=1)
        self._layout.insertSpacing(1, 12)
        self.job_bar.cancel_requested.connect(self._on_cancel_requested)
        embedding.failures_changed.connect(self._show_failures)
        session.state_changed.connect(self._show_failures)
        session.closed.connect(self._show_failures)
        session.jobs.job_added.connect(self._on_job_added)
        session.jobs.job_ended.connect(self._show_running)

    def add_at_end(self, part: QWidget) -> None:
        self._layout.addSpacing(12)
        self._layout.addWidget(part, 0, Qt.AlignmentFlag.AlignVCenter)

    def _on_job_added(self, job: Job) -> None:
        job.started.connect(self._show_running)
        job.progress.connect(lambda progress: self._on_progress(job, progress))
        self._show_running()

    def _show_running(self) -> None:
        running = next(
            (job for job in self._session.jobs.jobs if job.state is JobState.RUNNING), None
        )
        if running is self._shown:
            return
        self._shown = running
        if running is None:
            self.job_bar.show_idle()
        else:
            self.job_bar.show_started(running.title, keeps_finished=running.keeps_finished)
            if running.last_progress is not None:
                self._on_progress(running, running.last_progress)

    def _show_failures(self) -> None:
        """List unreadable files: those recorded in the project, and new ones of this run."""
        state = self._session.state
        remembered = {} if state is None else failures_of(state)
        failures = self._embedding.failures | remembered
        if failures != self._failures:
            self._failures = failures
            self.job_bar.set_failures(tuple(failures.values()))

    def _on_progress(self, job: Job, progress: Progress) -> None:
        """Show progress; where an embedding job follows, without the time left.

        Dropping images then shows one estimate, that of the much longer embedding.
        """
        if job is self._shown:
            self.job_bar.show_progress(
                replace(progress, seconds_left=None) if job.is_followed else progress
            )

    def _on_cancel_requested(self) -> None:
        if self._shown is not None and self._shown is self._embedding.job:
            self._embedding.cancel()
        elif self._shown is not None:
            self._shown.cancel()


def failures_of(state: CollectionState) -> dict[int, FileFailure]:
    failed = state.image_ids[state.has_failed].tolist()
    return {
        image_id: FileFailure(state.path_of(image_id), state.failures.get(image_id, ""))
        for image_id in failed
    }
