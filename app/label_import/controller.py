"""Labels of others: read and compared beside the window, taken over on the project's thread as one step."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast, final

from PySide6.QtCore import QObject

from app.file_dialogs import Purpose, choose_folder, open_file
from app.jobs.detached_job import DetachedJob
from app.texts import tr
from engine.files import shown

if TYPE_CHECKING:  # the window shows first
    from PySide6.QtWidgets import QWidget

    from app.label_import.logic import LabelSurvey
    from app.label_import.view import LabelImportCard
    from app.session import Session
    from app.status.toast import Toast
    from engine.collection.importing.import_labels import LabelImport
    from engine.collection.live import LiveCollection
    from engine.events import CancelToken, OnProgress

TakeFiles = Callable[[Sequence[Path]], None]


@final
class LabelImports(QObject):
    """Opens the card and does what is asked for there.

    Attributes:
        card: None until it was asked for.

    Args:
        session: the open project.
        toast: says what came of it.
        host: what the card floats over.
        take_files: takes dropped files that hold no labels.
    """

    def __init__(self, session: "Session", toast: "Toast", host: "QWidget", take_files: TakeFiles) -> None:
        super().__init__(host)
        self.card: LabelImportCard | None = None
        self._session = session
        self._toast = toast
        self._host = host
        self._take_files = take_files
        self._reading: DetachedJob | None = None
        self._survey: LabelSurvey | None = None
        session.closed.connect(self._on_closed)

    def callbacks(self) -> dict[str, Callable[[], None]]:
        return {"import_labels": self.open_card}

    # -- choosing

    def open_card(self) -> None:
        """Ask for a file or folder, or show what is being read."""
        card = self._card()
        if self._reading is None:
            card.show_start()
        else:
            card.show_over()

    def _card(self) -> "LabelImportCard":
        from app.label_import.view import LabelImportCard

        if self.card is None:
            self.card = LabelImportCard(self._host)
            self.card.file_requested.connect(self._choose_file)
            self.card.folder_requested.connect(self._choose_folder)
            self.card.progress.cancel_requested.connect(self._on_cancel)
            self.card.closed.connect(self._stop_reading)
            self.card.import_requested.connect(self._import)
        return self.card

    def _choose_file(self) -> None:
        title = tr("Import labels")
        kinds = tr("Labels (*.csv *.tsv *.txt *.jsonl *.json *.xml *.zip *.parquet);;All files (*)")
        path = open_file(self._host, Purpose.LABELS, title, kinds)
        if path is not None:
            self.read(path)

    def _choose_folder(self) -> None:
        folder = choose_folder(self._host, Purpose.LABELS, tr("Import labels"))
        if folder is not None:
            self.read(folder)

    def take_dropped(self, paths: Sequence[Path]) -> None:
        """Show what a dropped file of labels would bring; everything else that is dropped goes its usual way."""
        from app.label_import.logic import is_labels, may_be_labels

        info = self._session.info
        if info is None or not info.is_writable or len(paths) != 1 or not may_be_labels(paths[0]):
            self._take_files(paths)
            return
        source = paths[0]
        job = DetachedJob(_reading_title(source), lambda _on_progress, _cancel: is_labels(source))
        job.keeps_finished = False
        job.finished.connect(lambda found: self.read(source) if found else self._take_files(paths))
        job.failed.connect(self._session.failed)
        self._session.closed.connect(job.cancel)
        self._session.jobs.watch(job)
        job.start()

    # -- reading

    def read(self, source: Path) -> None:
        """Read a source, and show what importing it would do."""
        info = self._session.info
        if info is None:
            return
        self._stop_reading()
        project = info.path

        def work(_on_progress: "OnProgress", cancel: "CancelToken") -> "LabelSurvey":
            from app.label_import.logic import survey_labels

            return survey_labels(project, source, cancel)

        job = DetachedJob(_reading_title(source), work)
        job.keeps_finished = False
        job.finished.connect(lambda survey: self._on_read(job, cast("LabelSurvey", survey)))
        job.failed.connect(lambda message: self._on_failed(job, message))
        job.cancelled.connect(lambda: self._on_stopped(job))
        self._reading, self._survey = job, None
        self._card().show_reading(source.name)
        self._session.jobs.watch(job)
        job.start()

    def _stop_reading(self) -> None:
        if self._reading is not None:
            self._reading.cancel()

    def _on_cancel(self) -> None:
        self._stop_reading()
        self._card().show_start()

    def _on_read(self, job: DetachedJob, survey: "LabelSurvey") -> None:
        if job is self._reading:
            self._reading, self._survey = None, survey
            self._card().show_survey(survey)

    def _on_failed(self, job: DetachedJob, message: str) -> None:
        from app.wording import sentence

        if job is self._reading:
            self._reading = None
            self._card().show_start(sentence(message))

    def _on_stopped(self, job: DetachedJob) -> None:
        if job is self._reading:
            self._reading = None

    def _on_closed(self) -> None:
        self._stop_reading()
        if self.card is not None:
            self.card.dismiss()

    # -- the import

    def _import(self, adds_classes: bool, adds_images: bool, who: str) -> None:
        survey, self._survey = self._survey, None
        if survey is None or self.card is None:
            return

        def work(live: "LiveCollection", _on_progress: "OnProgress", cancel: "CancelToken") -> "LabelImport":
            from engine.collection.importing.import_labels import import_labels

            survey.contents.cancel = cancel

            return import_labels(
                live.project, survey.source, who=who, adds_classes=adds_classes, adds_images=adds_images,
                read=survey.read, contents=survey.contents,
            )  # fmt: skip

        self.card.dismiss()
        title = tr("Importing labels from %1", shown(survey.source.name))
        job = self._session.run_long(work, title=title, change_of=lambda done: done.change)
        job.keeps_finished = False
        job.finished.connect(lambda done: self._on_imported(cast("LabelImport", done)))

    def _on_imported(self, done: "LabelImport") -> None:
        from app.label_import.wording import done_text

        if done.change.is_empty:
            self._toast.say(tr("Nothing was imported"))
        else:
            undo = tr("Undo")
            self._toast.say(done_text(done), action=undo, on_action=self._session.undo)


def _reading_title(source: Path) -> str:
    return tr("Reading %1", shown(source.name))
