"""The program's one window, and another in its place where another language is chosen: widgets keep their texts."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication

from app.language import LANGUAGE_VARIABLE, install_language, spoken_language
from app.main_window import MainWindow
from app.reports.catching import StopSignals
from app.settings import Settings
from app.texts import tr
from app.theme import wear_fonts

if TYPE_CHECKING:
    from engine.config import CacheFolders
    from engine.log import Log


@final
class OneWindow(QObject):
    """Opens the window, and opens it anew with the same project in the language that is chosen in it."""

    def __init__(
        self, application: QApplication, settings: Settings, log: Log, caches: CacheFolders | None = None
    ) -> None:
        super().__init__(application)
        self._application, self._settings, self._log, self._caches = application, settings, log, caches
        self.window = self._make()

    def open_soon(self, project: Path) -> None:
        """Open a project as soon as the window was painted."""
        self.window.open_soon(project)

    def begin(
        self, project: Path | None, *, with_sample: bool, attach: Callable[[MainWindow], None] | None = None
    ) -> None:
        """Show the window with a project, the sample, or what a start begins with; `attach` gets it before."""
        if attach is not None:
            attach(self.window)
        self.window.begin(project, with_sample=with_sample)
        self.window.show()

    def _make(self) -> MainWindow:
        window = MainWindow(self._caches, self._settings, self._log)
        StopSignals(window)
        window.language_chosen.connect(self._on_language_chosen)
        return window

    def _on_language_chosen(self) -> None:
        """Close the window; where something holds it back, the language changes at the next start."""
        before, info = self.window, self.window.session.info
        self._application.setQuitOnLastWindowClosed(False)
        if before.close():
            QTimer.singleShot(0, lambda: self._replace(before, None if info is None else info.path))
        else:
            before.toast.say(tr("The language changes at the next start."))
            self._application.setQuitOnLastWindowClosed(True)

    def _replace(self, before: MainWindow, project: Path | None) -> None:
        os.environ.pop(LANGUAGE_VARIABLE, None)  # what was chosen last counts
        install_language(self._application, self._settings.language, has_project_names=self._settings.has_project_names)
        wear_fonts(self._application, spoken_language())
        self.window = self._make()
        self.begin(project, with_sample=False)
        before.deleteLater()
        self._application.setQuitOnLastWindowClosed(True)
