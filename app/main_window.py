"""The window: the shell and its features, which declare themselves (`app.features`)."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, final

from PySide6.QtCore import QEvent, QSize, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent

from app.actions.keys import keys_in_use
from app.actions.menu_keys import open_menu_by_key
from app.actions.registry import Registry
from app.actions.row import Needs
from app.dragging import take_files, welcome_files
from app.feature import Feature
from app.features import BY_NAME, FEATURES, PAGE_KEYS, key_owners
from app.jobs.slot import Stage
from app.session import ProjectInfo
from app.session.subsets import Subset
from app.settings import Settings
from app.shell import Shell
from app.window_geometry import keep_on_screen
from engine.config import CacheFolders
from engine.log import Log

if TYPE_CHECKING:
    from engine.project import Change

FIRST_SIZE = QSize(1440, 900)
OneFeature = TypeVar("OneFeature", bound=Feature)


@final
class MainWindow(Shell):
    """Creates the features, connects them to the session, and stops them."""

    def __init__(
        self,
        caches: CacheFolders | None = None,
        settings: Settings | None = None,
        log: Log | None = None,
    ) -> None:
        settings = settings or Settings()
        keys_in_use().begin(key_owners(), settings)
        super().__init__(
            caches or CacheFolders.default(), settings, log or Log(), BY_NAME, PAGE_KEYS
        )
        self._is_placed = False
        self._features = [feature(self) for feature in FEATURES]
        self.guards += [partial(feature.blocks_closing, at_end=False) for feature in self._features]
        self.lay_out()
        self._make_registry()
        self._connect()
        self._restore()

    def of(self, kind: type[OneFeature]) -> OneFeature:
        return next(feature for feature in self._features if isinstance(feature, kind))

    def _make_registry(self) -> None:
        callbacks = {
            name: act for feature in self._features for name, act in feature.callbacks().items()
        }
        submenus = {
            name: menu for feature in self._features for name, menu in feature.submenus().items()
        }
        workspace = self.workspace
        self.registry = Registry(
            self.rows,
            callbacks,
            self,
            (workspace.grid, workspace.image_view),
            (self.tree.classes, workspace.graph),
        )
        self.registry.fill(self.menuBar(), submenus)

    def _connect(self) -> None:
        session = self.session
        session.opened.connect(self._on_opened)
        session.closed.connect(self._on_closed)
        session.failed.connect(self._on_failed)
        session.making.slot.stage_changed.connect(self._on_making_stage)
        session.writable_changed.connect(self._update_available)
        session.change_made.connect(self._on_change_made)
        session.undo_state_changed.connect(self._update_available)
        self.needs_changed.connect(self._update_available)

    def _restore(self) -> None:
        self.resize(FIRST_SIZE)
        if not self.settings.geometry.isEmpty():
            self.restoreGeometry(self.settings.geometry)
        keep_on_screen(self)
        self.panes.restore(*self.settings.pane_widths)
        self.first_page_wanted.emit()

    def begin(self, project: Path | None = None, *, with_sample: bool = False) -> None:
        """Open a project, the sample, the last project where preferred, or the welcome page."""
        recent = self.settings.recent_projects() if self.settings.opens_last_project else []
        if project is not None:
            self.open_soon(project)
        elif with_sample:
            QTimer.singleShot(0, lambda: self.trigger("try_sample"))
        elif recent:
            self.open_soon(recent[0])

    # -- following the session

    def _on_opened(self, info: ProjectInfo) -> None:
        self.setWindowTitle(f"{info.name} - Protoleaf")
        self.setWindowFilePath(str(info.path))
        self.show_panes()
        self.tree.select_subset(Subset.ALL)
        self.workspace.grid.setFocus()
        self._update_available()

    def _on_closed(self) -> None:
        self.setWindowTitle("Protoleaf")
        self.setWindowFilePath("")
        self.palette_panel.dismiss()
        if not any(feature.keeps_panes for feature in self._features):
            self.first_page_wanted.emit()
        self._update_available()

    def _on_making_stage(self, stage: Stage) -> None:
        """Show progress while a backbone is built for a project; go back after a cancel."""
        if self.session.making.slot.is_busy:
            self.show_panes()
        elif stage is Stage.IDLE and self.session.info is None:
            self.first_page_wanted.emit()

    def _on_failed(self, message: str) -> None:
        self.toast.report_failure(message)
        if self.session.info is None and not self.session.jobs.jobs:
            self.first_page_wanted.emit()

    def _on_change_made(self, change: Change) -> None:
        if change.kind == "undone" and change.labelled:
            self.workspace.active_images.look_at(change.labelled[-1])
        self._update_available()

    def _update_available(self) -> None:
        info, there = self.session.info, Needs.NOTHING
        if info is not None:
            there |= Needs.PROJECT | (Needs.WRITABLE if info.is_writable else Needs.NOTHING)
            for feature in self._features:
                there |= feature.there()
        self.registry.set_available(there)
        for feature in self._features:
            self.registry.set_titles(feature.titles())

    # -- Qt

    def event(self, event: QEvent) -> bool:
        """Pause background computation while a frame is painted."""
        if event.type() != QEvent.Type.UpdateRequest:
            return super().event(event)
        with self.undisturbed():
            return super().event(event)

    def changeEvent(self, event: QEvent) -> None:
        """Check the project file whenever the window becomes active."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow():
            if not self._is_placed:
                self._is_placed = True
                keep_on_screen(self)  # now that the height of the title bar is known
                # Digit keys that need Shift on some layouts.
                self.windowHandle().installEventFilter(self.registry)
                self.windowHandle().installEventFilter(
                    self.session.current_card
                )  # detects user activity
            self.session.look_at_file()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not open_menu_by_key(event, self.menuBar()):
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        welcome_files(event)

    def dropEvent(self, event: QDropEvent) -> None:
        if paths := take_files(event):
            is_search = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
            (self.similar_requested if is_search else self.files_dropped).emit(paths)

    def closeEvent(self, event: QCloseEvent) -> None:
        if any(feature.blocks_closing(self.close, at_end=True) for feature in self._features):
            event.ignore()
            return
        self.settings.geometry = self.saveGeometry()
        self.settings.pane_widths = self.panes.outer_widths
        workspace = self.workspace
        for part in (
            self.inspector,
            self.thumbnails,
            workspace.graph,
            workspace.image_view,
            workspace.model,
        ):
            part.stop()
        for feature in self._features:
            feature.stop()
        self.session.shut_down()
        super().closeEvent(event)
