"""The program's window, and its replacement when another language is chosen.

Widgets keep their texts, so the window is created again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication

from app.group_review.controller import GroupReview
from app.label_check.controller import LabelChecking
from app.language import LANGUAGE_VARIABLE, install_language, spoken_language
from app.main_window import MainWindow
from app.map.controller import Maps
from app.report.controller import ReportFeature
from app.reports.catching import StopSignals
from app.session.subsets import Subset
from app.settings import Settings
from app.texts import tr
from app.theme import apply_fonts

if TYPE_CHECKING:
    from app.image_grid.held_order import Order
    from engine.config import CacheFolders
    from engine.log import Log

_PAGES: Mapping[type[ReportFeature | Maps | GroupReview | LabelChecking], str] = {
    ReportFeature: "report",
    Maps: "show_map",
    GroupReview: "group_review",
    LabelChecking: "check_labels",
}
"""Central pages that can be created again at any time, and the action that shows each."""


@final
@dataclass(frozen=True)
class WindowPlace:
    """The selection and the page of a window, to restore in its replacement."""

    subset: Subset | None
    class_ids: tuple[int, ...]
    query: str
    order: Order
    image_id: int | None
    is_image_open: bool
    is_graph_shown: bool
    page: str  # the action that shows it; "" for none

    @staticmethod
    def of(window: MainWindow) -> WindowPlace:
        tree, workspace = window.tree, window.workspace
        shown = workspace.page
        pages = (
            name
            for kind, name in _PAGES.items()
            if shown is not None and window.of(kind).page is shown
        )
        return WindowPlace(
            tree.selected_subset,
            tree.selected_classes,
            workspace.searching.text,
            workspace.model.order,
            workspace.grid.current_id,
            workspace.image_view.isVisible(),
            workspace.is_graph_shown,
            next(pages, ""),
        )

    def go_to_soon(self, window: MainWindow) -> None:
        """Restore the selection once the project is loaded."""
        window.session.loaded.connect(
            lambda: self._go_to(window), Qt.ConnectionType.SingleShotConnection
        )

    def _go_to(self, window: MainWindow) -> None:
        tree, workspace = window.tree, window.workspace
        workspace.choose_order(self.order)
        if self.class_ids:
            tree.select_classes(self.class_ids)
        else:
            tree.select_subset(self.subset or Subset.ALL)
        if self.query:
            workspace.search_bar.show_search(self.query)
        elif self.image_id is not None and self.is_image_open:
            workspace.open_image(self.image_id)
        elif self.image_id is not None:
            workspace.grid.select_image(self.image_id)
        if self.is_graph_shown:
            workspace.show_graph(True)
        if self.page:
            window.trigger(self.page)


@final
class OneWindow(QObject):
    """Opens the window, and reopens it with the same project when its language changes."""

    def __init__(
        self,
        application: QApplication,
        settings: Settings,
        log: Log,
        caches: CacheFolders | None = None,
    ) -> None:
        super().__init__(application)
        self._application, self._settings, self._log, self._caches = (
            application,
            settings,
            log,
            caches,
        )
        self.window = self._make()

    def open_soon(self, project: Path) -> None:
        """Open a project after the window is first painted."""
        self.window.open_soon(project)

    def begin(
        self,
        project: Path | None,
        *,
        with_sample: bool,
        attach: Callable[[MainWindow], None] | None = None,
    ) -> None:
        """Show the window with a project, the sample, or the default of a start.

        `attach` is called with the window before it is shown.
        """
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
        """Close the window; where that is refused, the language changes at the next start."""
        before, info = self.window, self.window.session.info
        place = WindowPlace.of(before)
        self._application.setQuitOnLastWindowClosed(False)
        if before.close():
            QTimer.singleShot(
                0, lambda: self._replace(before, None if info is None else info.path, place)
            )
        else:
            before.toast.show_message(tr("The language changes at the next start."))
            self._application.setQuitOnLastWindowClosed(True)

    def _replace(self, before: MainWindow, project: Path | None, place: WindowPlace) -> None:
        os.environ.pop(LANGUAGE_VARIABLE, None)  # the latest choice overrides the environment
        install_language(
            self._application,
            self._settings.language,
            has_project_names=self._settings.has_project_names,
        )
        apply_fonts(self._application, spoken_language())
        self.window = self._make()
        place.go_to_soon(self.window)
        self.begin(project, with_sample=False)
        before.deleteLater()
        self._application.setQuitOnLastWindowClosed(True)
