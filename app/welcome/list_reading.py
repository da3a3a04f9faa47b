"""Reads the class list of a new project in the background."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, QTimer, Signal

from app.jobs.slot import JobSlot
from app.texts import tr
from engine.files import shown

if TYPE_CHECKING:
    from engine.collection.importing.folder_choice import ClassList

PAUSE_MS = 250
"""Debounce: time after the last key before a typed list is read. Chosen: a short pause."""


@final
class ListReading(QObject):
    """Reads one list at a time; a newer one replaces it."""

    changed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.read: ClassList | None = None
        self.failure = ""
        self._reading = JobSlot(parent=self)
        self.stop = self._reading.stop
        self._text = ""
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self._read_text)

    @property
    def is_busy(self) -> bool:
        return self._reading.is_busy or self._pause.isActive()

    def read_file(self, source: Path, columns: Mapping[str, str]) -> None:
        def work() -> ClassList:
            from engine.collection.importing.folder_choice import read_class_list

            return read_class_list(source, columns)

        self.forget()
        self._begin(tr("Reading {1}", shown(source.name)), work)

    def read_soon(self, text: str) -> None:
        """Read a typed list after a pause."""
        self.forget()
        self._text = text
        if text.strip():
            self._pause.start()
        self.changed.emit()

    def read_now(self) -> None:
        """Read a typed list without waiting for the pause."""
        if self._pause.isActive():
            self._pause.stop()
            self._read_text()

    def forget(self) -> None:
        self._pause.stop()
        self.read, self.failure = None, ""
        self._reading.abandon()

    def _read_text(self) -> None:
        text, title = self._text, tr("typed list")

        def work() -> ClassList:
            from engine.collection.importing.folder_choice import read_class_text

            return read_class_text(text, title)

        self._begin(tr("Reading the classes"), work)

    def _begin(self, title: str, work: Callable[[], ClassList]) -> None:
        self._reading.start(
            title,
            lambda _on_progress, _cancel: work(),
            lambda read: self._on_ended(read, ""),
            lambda message: self._on_ended(None, message),
            replaces=True,
        )
        self.changed.emit()

    def _on_ended(self, read: ClassList | None, failure: str) -> None:
        self.read, self.failure = read, failure
        self.changed.emit()
