"""The window: three panes, a status line, and which page is in front. What things do is in the controllers."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QSize, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QMainWindow, QStackedWidget

from app import connections
from app.about.controller import About
from app.actions.commands import Commands
from app.actions.keys_sheet import KeysSheet
from app.actions.registry import Registry
from app.actions.table import Needs
from app.actions.undo_titles import UndoTitles
from app.backbones.accurate_offer import OfferLine
from app.backbones.controller import Backbones
from app.backbones.jobs import BackboneJobs
from app.backups.controller import Backups
from app.class_editing.controller import Classes
from app.class_split.controller import ClassSplitting
from app.class_tree.view import ClassTree
from app.computing.controller import Computing
from app.computing.device_chip import DeviceChip
from app.controls import make_column
from app.dragging import take_files, welcome_files
from app.exporting.controller import Exporting
from app.graph_import.controller import GraphImports
from app.graph_suggestions.controller import Suggesting
from app.help.controller import Help
from app.image_grid.controller import IMAGE_MENU, ImageFiles
from app.images.thumbnails import Thumbnails
from app.importing.controller import Importing
from app.inspector.view import Inspector
from app.jobs.job_slot import Stage
from app.label_import.controller import LabelImports
from app.moved_images.controller import MovedImages
from app.moved_images.missing_images import MissingImages
from app.palette.view import Palette
from app.panes import Panes
from app.preferences.controller import Preferences
from app.reports.controller import Reports
from app.review.controller import Labelling, Screen
from app.review.dropped_images import DroppedImages
from app.screen_place import keep_on_screen
from app.session import ProjectInfo, Session
from app.session.embedding import Embedding
from app.session.subsets import Subset
from app.settings import Settings
from app.side_panel.place import SidePlace
from app.status.answers import ChangeAnswers
from app.status.notice import Notice
from app.status.status_line import StatusLine
from app.status.toast import Toast
from app.theme.icons import icon
from app.training.controller import Models
from app.training.job import Training
from app.welcome.controller import Projects
from app.welcome.view import Welcome
from app.what_if.band import WhatIfBand
from app.what_if.controller import WhatIf
from app.window_actions import window_actions
from app.workspace.view import Workspace
from engine.config import CacheFolders
from engine.log import Log

if TYPE_CHECKING:
    from engine.project import Change

FIRST_SIZE: Final = QSize(1440, 900)
LOWEST: Final = 400


@final
class MainWindow(QMainWindow):
    """Puts the panes together.

    Args:
        caches: where caches lie.
        settings: what the window remembers.
        log: of this process.
    """

    def __init__(
        self, caches: CacheFolders | None = None, settings: Settings | None = None, log: Log | None = None
    ) -> None:
        super().__init__()
        self.settings = settings or Settings()
        self.session = Session(caches or CacheFolders.default(), self)
        self.thumbnails = Thumbnails(self.session.caches, self)
        self.missing_images = MissingImages(self.session, self.thumbnails)
        self.embedding = Embedding(self.session)
        self.training = Training(self.session)
        self.backbone_jobs = BackboneJobs(self.session, self.settings)
        self.tree = ClassTree(self.session)
        self.workspace = Workspace(self.session, self.thumbnails, self.settings)
        self.inspector = Inspector(self.session, self.thumbnails)
        self.side = SidePlace(self.inspector)
        self.welcome = Welcome()
        self.device_chip = DeviceChip()
        self.status_line = StatusLine(self.session, self.embedding, self.device_chip)
        self._panes = Panes(self.tree, self.workspace, self.side)
        self._pages = QStackedWidget()
        self._stage = make_column(self._pages)  # what floats lies on it: of a stack, screen readers see the pages alone
        self._lay_out()
        self.toast = Toast(self._stage)
        self.toast.keep_above(self.workspace.selection_bar)
        self.palette_panel = Palette(self._stage)
        self._keys: KeysSheet | None = None
        self._is_placed = False
        self._make_flows(log or Log())
        self._connect()
        self._restore()

    # -- putting together

    def _lay_out(self) -> None:
        self.setObjectName("mainWindow")
        self.setWindowTitle("Protoleaf")
        self.setWindowIcon(icon("protoleaf", "accent"))
        self.setAcceptDrops(True)
        self.setMinimumHeight(LOWEST)
        self.what_if_band = WhatIfBand()
        self._working = make_column(self._panes, above=self.what_if_band, below=self.status_line)
        self._pages.addWidget(self.welcome)
        self._pages.addWidget(self._working)
        self.report_notice = Notice()
        self.setCentralWidget(make_column(self._stage, above=self.report_notice))

    def _make_flows(self, log: Log) -> None:
        self.importing = Importing(self.session, self.workspace.notice, self.toast, self)
        self.label_imports = LabelImports(self.session, self.toast, self._stage, self.importing.take)
        self.graph_imports = GraphImports(self.session, self.toast, self._stage)
        self.exporting = Exporting(self.session, self.settings, self.toast, self._stage)
        self.projects = Projects(
            self.session, self.label_imports.take_dropped, self.settings, self.workspace.notice, page=self.welcome,
            window=self, host=self._stage,
        )  # fmt: skip
        screen = Screen(
            self.inspector.likeliest_of, lambda: self.settings.accept_above / 100,
            lambda: self.workspace.selection_bar.includes_unknown, self._show_at_once, self._undisturbed,
            self.toast.say,
        )  # fmt: skip
        self.labelling = Labelling(self.session, self.workspace, screen, self.palette_panel)
        self.dropped_images = DroppedImages(self.session, self.palette_panel)
        self.image_files = ImageFiles(self.session, self.workspace.grid, self.toast)
        self.classes = Classes(self.session, self.tree, self.palette_panel, self.toast.say)
        self.class_splitting = ClassSplitting(
            self.session, self.thumbnails, self.toast, self._stage,
            lambda: (self.tree.selected_class, self.workspace.selected_ids),
        )  # fmt: skip
        self.models = Models(self.session, self.training, self.side, self.toast)
        self.backbones = Backbones(self.session, self.backbone_jobs, self.side, self.toast)
        self.offer_line = OfferLine(self.session, self.settings, self.workspace.offer_notice, self.backbones.compare)
        self.backups = Backups(self.session, self.side, self.toast)
        self.computing = Computing(
            self.session, self.embedding, self.settings, self.device_chip, toast=self.toast, host=self._stage
        )
        self.preferences = Preferences(
            self.session, self.settings, host=self._stage, device_text=lambda: self.device_chip.device_name
        )
        self.about = About(self._stage)
        self.help = Help(self)
        self.backbone_jobs.change.progressed.connect(self.computing.show_notice_of)
        self.moved_images = MovedImages(
            self.session, self.missing_images, self.embedding, self.workspace.missing_notice, self.side
        )
        self.moved_images.missing_shown.connect(self.workspace.show_missing)
        self.what_if = WhatIf(self.session, self.thumbnails, self.what_if_band, self.side, self.toast)
        self.suggesting = Suggesting(self.session, self.thumbnails, self.side)
        self.reports = Reports(log, self.report_notice, self.toast, self.device_chip.accessibleName, self)
        self.projects.leave_by, self.models.leave_next = self.models.leave_by, self.what_if.leave_by
        self._make_registry()

    def _make_registry(self) -> None:
        callbacks = {
            **self.projects.callbacks(), **self.importing.callbacks(), **self.labelling.callbacks(),
            **self.classes.callbacks(), **self.models.callbacks(), **self.backbones.callbacks(),
            **self.computing.callbacks(), **self.moved_images.callbacks(), **self.backups.callbacks(),
            **self.reports.callbacks(), **self.image_files.callbacks(), **self.preferences.callbacks(),
            **self.about.callbacks(), **self.help.callbacks(), **self.exporting.callbacks(),
            **self.graph_imports.callbacks(), **self.label_imports.callbacks(), **self.what_if.callbacks(),
            **self.class_splitting.callbacks(), **self.suggesting.callbacks(),
            **window_actions(self.session, self.tree, self.workspace, self._panes),
            "command_palette": self._open_commands,
            "read_images": self._read_images, "show_keys": self._show_keys,
            "show_failures": self.status_line.job_bar.show_failures,
        }  # fmt: skip
        self.registry = Registry(
            callbacks, self, (self.workspace.grid, self.workspace.image_view), (self.tree.classes, self.workspace.graph)
        )
        self.registry.fill(self.menuBar(), {"open_project": self.projects.recent_menu})
        self._undo_titles = UndoTitles(self.registry)
        self.commands = Commands(self.palette_panel, self.registry, lambda: self.session.graph, self.tree.select_class)

    def _connect(self) -> None:
        session, tree, workspace = self.session, self.tree, self.workspace
        session.opened.connect(self._on_opened)
        session.closed.connect(self._on_closed)
        session.failed.connect(self._on_failed)
        session.making.slot.stage_changed.connect(self._on_making_stage)
        session.writable_changed.connect(lambda _is_writable, _reason: self._update_available())
        ChangeAnswers(session, self.toast)
        session.change_made.connect(self._on_change_made)
        session.undo_state_changed.connect(self._undo_titles.show)
        session.undo_state_changed.connect(self._update_available)
        tree.subset_selected.connect(self._on_subset_selected)
        tree.class_selected.connect(self._on_class_selected)
        tree.row_selected.connect(lambda: workspace.show_beside(tree.selected_classes))
        tree.row_selected.connect(self._update_available)
        tree.menu_requested.connect(self._on_class_menu_requested)
        tree.files_dropped.connect(lambda class_id, paths: self.importing.take(paths, class_id=class_id))
        tree.images_dropped.connect(self.dropped_images.take)
        workspace.grid.current_image_changed.connect(self._on_current_image_changed)
        workspace.grid.menu_requested.connect(lambda place: self.registry.menu_of(IMAGE_MENU, self).popup(place))
        workspace.grid.images_selected.connect(lambda _ids: self._update_available())
        workspace.action_requested.connect(self.registry.trigger)
        connections.connect_shown(workspace, tree, self._panes, self.projects.sample)
        self.embedding.in_view = workspace.ids_in_view
        self.preferences.action_requested.connect(self.registry.trigger)
        show_working = partial(self._pages.setCurrentWidget, self._working)
        connections.connect_damaged(self.session, self.backups, workspace, show_working, self._show_welcome)
        connections.connect_inspector(self.inspector, workspace, tree, self.labelling, self.classes)
        connections.connect_what_if(self.what_if, workspace, self._update_available, self.palette_panel.dismiss)
        self.what_if.unknown_moved.connect(self.tree.explain_unknown)
        connections.connect_suggesting(self.suggesting, workspace, tree)
        connections.connect_hints(self.session, self.settings, workspace)
        connections.connect_graph(workspace, tree, self.classes, self._on_class_menu_requested)
        connections.connect_first_page(self.welcome, self.projects, workspace, self.registry.trigger, self.open_soon)

    def _restore(self) -> None:
        self.resize(FIRST_SIZE)
        if not self.settings.geometry.isEmpty():
            self.restoreGeometry(self.settings.geometry)
        keep_on_screen(self)
        self._panes.restore(*self.settings.pane_widths)
        self._show_welcome()

    def begin(self, project: Path | None = None, *, with_sample: bool = False) -> None:
        """Start with a project, the sample, the last project where that is wanted, or the first page."""
        recent = self.settings.recent_projects() if self.settings.opens_last_project else []
        if project is not None:
            self.open_soon(project)
        elif with_sample:
            QTimer.singleShot(0, self.projects.sample.start)
        elif recent:
            self.open_soon(recent[0])

    def open_soon(self, path: Path) -> None:
        """Open a project as soon as the window was painted; meanwhile the empty panes are in front."""
        self._pages.setCurrentWidget(self._working)
        QTimer.singleShot(0, lambda: self.models.leave_by(lambda: self.session.open(path)))

    def _show_at_once(self) -> None:
        """Paint card and inspector in one step, before the next key is heard: what is dirty is painted together."""
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
        self.workspace.show_at_once()

    @contextmanager
    def _undisturbed(self) -> Iterator[None]:
        with self.session.undisturbed(), self.thumbnails.resting():
            yield

    # -- following the session

    def _show_welcome(self) -> None:
        self.projects.recent.show()
        self._pages.setCurrentWidget(self.welcome)

    def _on_opened(self, info: ProjectInfo) -> None:
        self.setWindowTitle(f"{info.name} - Protoleaf")
        self.setWindowFilePath(str(info.path))
        self._pages.setCurrentWidget(self._working)
        self.tree.select_subset(Subset.ALL)
        self.workspace.grid.setFocus()
        self._update_available()

    def _on_closed(self) -> None:
        self.setWindowTitle("Protoleaf")
        self.setWindowFilePath("")
        self.palette_panel.dismiss()
        if not self.backups.restoring.is_running:
            self._show_welcome()
        self._update_available()

    def _on_making_stage(self, stage: Stage) -> None:
        """A project waits for its backbone in sight of the status line; whoever stops that is back where they were."""
        if self.session.making.slot.is_busy:
            self._pages.setCurrentWidget(self._working)
        elif stage is Stage.IDLE and self.session.info is None:
            self._show_welcome()

    def _on_failed(self, message: str) -> None:
        self.toast.say_failure(message)
        if self.session.info is None and not self.session.jobs.jobs:
            self._show_welcome()

    def _on_change_made(self, change: "Change") -> None:
        if change.kind == "undone" and change.labelled:
            self.workspace.grid.select_image(change.labelled[-1])
        self._update_available()

    def _update_available(self) -> None:
        info, there = self.session.info, Needs.NOTHING
        if info is not None:
            there |= Needs.PROJECT | (Needs.WRITABLE if info.is_writable else Needs.NOTHING)
            there |= Needs.IMAGES if self.workspace.grid.selected_ids else Needs.NOTHING
            there |= Needs.CLASS if self.tree.selected_class is not None else Needs.NOTHING
            there |= Needs.SEVERAL_PARENTS if self.classes.can_unlink else Needs.NOTHING
            there |= self._undo_titles.needs | self.what_if.needs
        self.registry.set_available(there)
        self.registry.set_titles(self.classes.titles())

    # -- what is chosen

    def _on_subset_selected(self, subset: Subset) -> None:
        self.inspector.clear()
        self.workspace.show_subset(subset)
        self.workspace.grid.tell_current()

    def _on_class_selected(self, class_id: int) -> None:
        self.workspace.show_class(class_id, self.tree.selected_classes)
        self.inspector.show_class(class_id)
        self._update_available()

    def _on_class_menu_requested(self, class_id: int | None, place: QPoint) -> None:
        self._update_available()
        self.registry.menu_of(self.classes.menu(class_id), self).popup(place)

    def _on_current_image_changed(self, image_id: int) -> None:
        is_for_class = self.inspector.is_for_class and not self.workspace.grid.hasFocus()
        if image_id >= 0 and not is_for_class:
            self.inspector.show_image(image_id)
        elif image_id < 0 and not self.inspector.is_for_class:
            self._show_choice_in_inspector()
        self._update_available()

    def _show_choice_in_inspector(self) -> None:
        """No card is current: the pane shows the chosen class, or nothing, and never an image that is not there."""
        class_id = self.tree.selected_class
        if class_id is None:
            self.inspector.clear()
        else:
            self.inspector.show_class(class_id)

    # -- what concerns the whole window

    def _open_commands(self) -> None:
        self.commands.open()

    def _show_keys(self) -> None:
        if self._keys is None:
            self._keys = KeysSheet(self._stage)
        self._keys.show_over()
        self._keys.setFocus()

    def _read_images(self) -> None:
        self.thumbnails.forget_failures()
        self.missing_images.look()
        self.embedding.start_again()

    # -- Qt

    def changeEvent(self, event: QEvent) -> None:
        """Look after the project's file whenever the person comes back from other programs."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow():
            if not self._is_placed:
                self._is_placed = True
                keep_on_screen(self)  # now that the height of its title bar is known
                self.windowHandle().installEventFilter(self.session.eye)  # it hears when hands are at work
            self.session.look_at_file()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        welcome_files(event)

    def dropEvent(self, event: QDropEvent) -> None:
        if paths := take_files(event):
            self.projects.take_dropped(paths)

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.what_if.holds_back(self.close):
            event.ignore()
            return
        self.settings.geometry = self.saveGeometry()
        self.settings.pane_widths = self._panes.outer_widths
        for part in (
            self.inspector, self.thumbnails, self.missing_images, self.workspace.graph, self.workspace.image_view,
            self.backups, self.reports, self.about, self.help, self.projects, self.exporting, self.suggesting,
        ):  # fmt: skip
            part.stop()
        self.session.shut_down()
        super().closeEvent(event)
