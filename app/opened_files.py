"""Projects that the system hands to the running program: on macOS a double click is an event, not an argument."""

from collections.abc import Callable
from pathlib import Path
from typing import final

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

from engine.config import PROJECT_SUFFIX


@final
class OpenedFiles(QObject):
    """Hears of files to open. It sees every event of the program, so it is made only where files come this way.

    Args:
        application: what the system tells.
        open_project: what is done with a project.
    """

    def __init__(self, application: QApplication, open_project: Callable[[Path], None]) -> None:
        super().__init__(application)
        self._open_project = open_project
        application.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QFileOpenEvent) or not event.file().endswith(PROJECT_SUFFIX):
            return False
        self._open_project(Path(event.file()))
        return True
