"""Class lists: read and compared beside the window, taken over on the project's thread as one step."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, cast, final

from PySide6.QtCore import QObject

from app.file_dialogs import Purpose, choose_folder, open_file
from app.jobs.detached_job import DetachedJob
from app.texts import tr
from engine.files import shown

if TYPE_CHECKING:  # the window shows first
    from PySide6.QtWidgets import QWidget

    from app.graph_import.logic import GraphSurvey
    from app.graph_import.view import GraphImportCard
    from app.session import Session
    from app.status.toast import Toast
    from engine.collection.importing.import_graph import GraphImport
    from engine.collection.live import LiveCollection
    from engine.events import CancelToken, OnProgress


@final
class GraphImports(QObject):
    """Opens the card and does what is asked for there.

    Attributes:
        card: None until it was asked for.

    Args:
        session: the open project.
        toast: says what came of it.
        host: what the card floats over.
    """

    def __init__(self, session: "Session", toast: "Toast", host: "QWidget") -> None:
        super().__init__(host)
        self.card: GraphImportCard | None = None
        self._session = session
        self._toast = toast
        self._host = host
        self._reading: DetachedJob | None = None
        self._survey: GraphSurvey | None = None
        session.closed.connect(self._on_closed)

    def callbacks(self) -> dict[str, Callable[[], None]]:
        return {"import_classes": self.open_card}

    # -- choosing

    def open_card(self) -> None:
        """Ask for a file or folder, or show what is being read."""
        card = self._card()
        if self._reading is None:
            card.show_start()
        else:
            card.show_over()

    def _card(self) -> "GraphImportCard":
        from app.graph_import.view import GraphImportCard

        if self.card is None:
            self.card = GraphImportCard(self._host)
            self.card.file_requested.connect(self._choose_file)
            self.card.folder_requested.connect(self._choose_folder)
            self.card.progress.cancel_requested.connect(self._on_cancel)
            self.card.closed.connect(self._on_card_closed)
            self.card.import_requested.connect(self._import)
        return self.card

    def _choose_file(self) -> None:
        from app.graph_import.logic import file_patterns

        title = tr("Import classes")
        kinds = tr("Class lists (%1);;All files (*)", file_patterns())
        path = open_file(self._host, Purpose.CLASSES, title, kinds)
        if path is not None:
            self.read(path)

    def _choose_folder(self) -> None:
        folder = choose_folder(self._host, Purpose.CLASSES, tr("Import classes"))
        if folder is not None:
            self.read(folder)

    # -- reading

    def read(self, source: Path) -> None:
        """Read a source, and show what importing it would do."""
        info = self._session.info
        if info is None:
            return
        self._stop_reading()
        project = info.path

        def work(_on_progress: "OnProgress", _cancel: "CancelToken") -> "GraphSurvey":
            from app.graph_import.logic import survey_graph

            return survey_graph(project, source)

        job = DetachedJob(tr("Reading %1", shown(source.name)), work)
        job.keeps_finished = False
        job.finished.connect(lambda survey: self._on_read(job, cast("GraphSurvey", survey)))
        job.failed.connect(lambda message: self._on_failed(job, message))
        job.cancelled.connect(lambda: self._on_stopped(job))
        self._reading, self._survey = job, None
        self._card().show_reading(source.name)
        self._session.jobs.watch(job)
        job.start()

    def _stop_reading(self) -> None:
        if self._reading is not None:
            self._reading.cancel()

    def _on_card_closed(self) -> None:
        self._stop_reading()
        self._survey = None  # a large taxonomy is not kept for nothing

    def _on_cancel(self) -> None:
        self._stop_reading()
        self._card().show_start()

    def _on_read(self, job: DetachedJob, survey: "GraphSurvey") -> None:
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

    def _import(self, updates: bool, removes_gone: bool) -> None:
        survey, self._survey = self._survey, None
        if survey is None or self.card is None:
            return

        def work(live: "LiveCollection", _on_progress: "OnProgress", _cancel: "CancelToken") -> "GraphImport":
            from engine.collection.importing.import_graph import import_graph

            return import_graph(
                live.project, survey.source, updates=updates, removes_gone=removes_gone, read=survey.imported
            )

        self.card.dismiss()
        title = tr("Importing %1", shown(survey.source.name))
        job = self._session.run_long(work, title=title, change_of=lambda done: done.change)
        job.keeps_finished = False
        job.finished.connect(lambda done: self._on_imported(cast("GraphImport", done)))

    def _on_imported(self, done: "GraphImport") -> None:
        """Say what was not done, or that there was nothing to do; the rest was answered as every change is."""
        from app.graph_import.wording import stayed_text

        if done.stayed:
            undo = tr("Undo")
            self._toast.say_failure(stayed_text(done), action=undo, on_action=self._session.undo)
        elif done.change.is_empty:
            self._toast.say(tr("Nothing was imported"))
