"""The base of imports with a card: read and compared beside the window, taken over on the project's thread."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from app.feature import Feature
from app.file_dialogs import Purpose, choose_folder, open_file
from app.jobs.detached_job import DetachedJob
from app.texts import tr
from engine.files import shown

if TYPE_CHECKING:  # the window shows first
    from typing import Any

    from app.palette.import_card import ImportCard
    from app.shell import Shell
    from engine.collection.live import LiveCollection
    from engine.events import CancelToken, OnProgress

Card = TypeVar("Card", bound="ImportCard[Any]")


class Imports(Feature, Generic[Card]):
    """Opens the card and does what is asked for there. A subclass says what is read, and how it is taken over."""

    purpose: Purpose

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self.card: Card | None = None  # None until it was asked for
        self._reading: DetachedJob | None = None
        self._session.closed.connect(self._on_closed)

    @abstractmethod
    def _make_card(self) -> Card: ...

    @abstractmethod
    def _title(self) -> str:
        """Of the dialogs."""

    @abstractmethod
    def _file_kinds(self) -> str:
        """What the dialog for files offers."""

    @abstractmethod
    def _survey(self, project: Path, source: Path, cancel: CancelToken) -> object:
        """Read a source, and compare it; on a thread of its own."""

    # -- choosing

    def open_card(self) -> None:
        """Ask for a file or folder, or show what is being read."""
        card = self._shown_card()
        if self._reading is None:
            card.show_start()
        else:
            card.show_over()

    def _shown_card(self) -> Card:
        if self.card is None:
            self.card = self._make_card()
            self.tell_page(self.card)
            self.card.file_requested.connect(self._choose_file)
            self.card.folder_requested.connect(self._choose_folder)
            self.card.progress.cancel_requested.connect(self._on_cancel)
            self.card.closed.connect(self._stop_reading)
        return self.card

    def _choose_file(self) -> None:
        path = open_file(self._host, self.purpose, self._title(), self._file_kinds())
        if path is not None:
            self.read(path)

    def _choose_folder(self) -> None:
        folder = choose_folder(self._host, self.purpose, self._title())
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
        job = DetachedJob(
            tr("Reading %1", shown(source.name)), lambda _on_progress, cancel: self._survey(project, source, cancel)
        )
        job.keeps_finished = False
        job.finished.connect(lambda survey: self._shown_card().show_survey(survey) if self._has_ended(job) else None)
        job.failed.connect(lambda message: self._on_failed(message) if self._has_ended(job) else None)
        job.cancelled.connect(lambda: self._has_ended(job))
        self._reading = job
        self._shown_card().show_reading(source.name)
        self._session.jobs.watch(job)
        job.start()

    def _has_ended(self, job: DetachedJob) -> bool:
        """Note that nothing is read any more; False for a job that another one took the place of."""
        is_wanted = job is self._reading
        if is_wanted:
            self._reading = None
        return is_wanted

    def _on_failed(self, message: str) -> None:
        from app.wording import sentence

        self._shown_card().show_start(sentence(message))

    def _stop_reading(self) -> None:
        if self._reading is not None:
            self._reading.cancel()

    def _on_cancel(self) -> None:
        self._stop_reading()
        self._shown_card().show_start()

    def _on_closed(self) -> None:
        self._stop_reading()
        if self.card is not None:
            self.card.dismiss()

    # -- the import

    def _take_over(
        self,
        title: str,
        work: Callable[[LiveCollection, OnProgress, CancelToken], Any],
        on_imported: Callable[[Any], None],
    ) -> None:
        """Import as one step of the project; the card is done with."""
        if self.card is not None:
            self.card.dismiss()
        job = self._session.run_long(work, title=title, change_of=lambda done: done.change)
        job.keeps_finished = False
        job.finished.connect(on_imported)
