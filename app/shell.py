"""The window without its features: three panes, overlays, and signals between features."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QTimer, Signal
from PySide6.QtWidgets import QMainWindow, QStackedWidget, QWidget

from app.class_requests import ClassRequests
from app.class_tree.view import ClassTree
from app.controls import fill_column, make_column
from app.images.thumbnails import Thumbnails, stored_side
from app.inspector.view import Inspector
from app.palette.view import Palette
from app.session import Session
from app.session.details import DetailsReading
from app.session.embedding import Embedding
from app.session.saved_searches import SavedSearches
from app.session.subsets import Subset
from app.settings import Settings
from app.side_panel.frame import SidePlace
from app.signal_types import either
from app.status.notice import Notice
from app.status.status_line import StatusLine
from app.status.toast import ChangeAnswers, Toast
from app.theme.icons import icon
from app.window_geometry import Panes
from app.workspace.view import Workspace
from app.workspace.visits import Describes
from engine.config import ARCHIVE_SUFFIX, CacheFolders
from engine.images.find_images import FoundImages
from engine.log import Log

if TYPE_CHECKING:
    from app.actions.page_keys import PageKeys
    from app.actions.registry import Registry
    from app.actions.row import ActionRow

LOWEST = 400

Guard = Callable[[Callable[[], object]], bool]
"""Returns whether leaving the project must wait; it then calls its argument once the user has
decided."""


class Shell(QMainWindow):
    """Parts that features share; features interact through its signals and panes.

    Attributes:
        registry: triggers actions; set once all features exist.
        rows: all actions, by name.
        page_keys: keys that work on one page only.
        guards: called before the project is left.
        bands: widgets of features above the panes.
        device_name: display name of the device that embeds images.
        stage: parent of overlays; screen readers would see only the pages of a stack.
    """

    registry: Registry
    needs_changed = Signal()  # the available actions changed
    files_dropped = Signal(Sequence)  # onto the window: a project, images, labels
    # Dropped with Alt held: files to search similar images for.
    similar_requested = Signal(Sequence)
    files_given = Signal(Sequence)  # for the open project
    # Files and folders of images, and their class.
    images_given = Signal(Sequence, either(int | None))
    archive_given = Signal(Path)  # a project with its photos in one file
    # Found images to add, and the folders that are classes.
    found_given = Signal(FoundImages, frozenset)
    copy_given = Signal(Path)  # another copy of the open project, to be merged
    first_page_wanted = Signal()
    language_chosen = Signal()  # the setting has changed; this window keeps its language
    # A GPU failed in other work than the embedding job: reason, and device used now.
    device_failed = Signal(str)

    def __init__(
        self,
        caches: CacheFolders,
        settings: Settings,
        log: Log,
        rows: Mapping[str, ActionRow],
        page_keys: Sequence[PageKeys],
    ) -> None:
        super().__init__()
        self.log, self.settings, self.rows, self.page_keys = log, settings, rows, page_keys
        self.session = Session(caches, self)
        self.thumbnails = Thumbnails(self.session.caches, self)
        self.embedding = Embedding(self.session)
        self.details = DetailsReading(self.session)
        self.saved_searches = SavedSearches(self.session)
        requests = ClassRequests(self)
        self.tree = ClassTree(self.session, requests)
        self.workspace = Workspace(self.session, self.thumbnails, settings, rows, requests)
        self.inspector = Inspector(self.session, self.thumbnails, settings)
        self.side = SidePlace(self.inspector)
        self.panes = Panes(self.tree, self.workspace, self.side)
        self.status_line = StatusLine(self.session, self.embedding)
        self.pages = QStackedWidget()
        self.panes_page = QWidget()
        self.stage = make_column(self.pages)
        self.toast = Toast(self.stage)
        self.toast.cover(self.status_line)
        self.palette_panel = Palette(self.stage)
        self.report_notice = Notice()
        self.bands: list[QWidget] = []
        self.device_name: Callable[[], str] = str
        self.guards: list[Guard] = []
        # Whether the inspector showed an image before another page opened.
        self._is_image_left = False
        self._connect_panes()

    def lay_out(self) -> None:
        """Lay out the window after the features have added their parts."""
        self.setObjectName("mainWindow")
        self.setWindowTitle("Protoleaf")
        self.setWindowIcon(icon("protoleaf", "accent"))
        self.setAcceptDrops(True)
        self.setMinimumHeight(LOWEST)
        column = fill_column(self.panes_page, self.panes, spacing=0, grows=0)
        # Inserted after the panes, so that the Tab key visits the panes first.
        for band in self.bands:
            column.insertWidget(0, band)
        column.addWidget(self.status_line)
        self.pages.addWidget(self.panes_page)
        self.setCentralWidget(make_column(self.stage, above=self.report_notice))

    def _connect_panes(self) -> None:
        tree, workspace, graph = self.tree, self.workspace, self.workspace.graph
        ChangeAnswers(self.session, self.toast)
        tree.subset_selected.connect(self._on_subset_selected)
        tree.search_selected.connect(self._on_search_selected)
        self._connect_saved_searches()
        tree.class_selected.connect(self._on_class_selected)
        tree.row_selected.connect(lambda: workspace.show_further(tree.selected_classes))
        tree.row_selected.connect(self.needs_changed)
        graph.classes_selected.connect(tree.select_classes)
        workspace.grid.current_image_changed.connect(self._on_current_image_changed)
        workspace.grid.images_selected.connect(self.needs_changed)
        workspace.front_changed.connect(self._on_front_changed)
        workspace.subset_wanted.connect(tree.select_subset)
        for part in (graph, workspace.selection_bar, workspace.empty):
            part.action_requested.connect(self.trigger)
        for target in (workspace.grid, workspace.empty):
            target.files_dropped.connect(self.files_dropped)
        workspace.grid.similar_requested.connect(self.similar_requested)
        workspace.header.panel_button.clicked.connect(self.panes.toggle_right)
        self.panes.hiding_changed.connect(workspace.header.show_panel_button)
        self.inspector.chosen_ids = lambda: workspace.active_images.chosen_ids
        workspace.grid.images_selected.connect(self.inspector.follow_choice)
        self.inspector.requests.image_requested.connect(workspace.show_image)
        self.inspector.requests.class_requested.connect(tree.select_class)
        self.session.in_view = workspace.ids_in_view
        self.embedding.thumbnail_side = lambda: stored_side(
            workspace.grid.thumbnail_side * self.devicePixelRatioF()
        )
        self.embedding.photos_expected.connect(self.thumbnails.expect)
        self.embedding.photos_seen.connect(self.thumbnails.take_made)
        self.details.read.connect(workspace.searching.follow_details)
        self.details.read.connect(self.inspector.read_file_again)
        self.inspector.requests.left.connect(workspace.take_keyboard)

    def _connect_saved_searches(self) -> None:
        saved, rows, bar = self.saved_searches, self.tree.subset_list, self.workspace.search_bar
        saved.changed.connect(lambda: rows.show_searches(saved.searches))
        saved.changed.connect(bar.show_saved)
        rows.rows.rename_requested.connect(saved.rename)
        rows.removal_requested.connect(saved.remove)
        bar.is_saved = saved.holds
        bar.save_requested.connect(saved.save)

    def trigger(self, action: str) -> None:
        """Trigger an action if it is available."""
        self.registry.trigger(action)

    def show_panes(self) -> None:
        self.pages.setCurrentWidget(self.panes_page)

    def leave_by(self, leave: Callable[[], object], *, asked: int = 0) -> None:
        """Leave the project once every guard agrees; the first `asked` guards already have."""
        for place, blocks_closing in enumerate(self.guards[asked:], start=asked + 1):
            if blocks_closing(partial(self.leave_by, leave, asked=place)):
                return
        leave()

    def open_project(self, path: Path) -> None:
        """Open a project, or offer to unpack a project archive."""
        if path.suffix == ARCHIVE_SUFFIX:
            self.archive_given.emit(path)
        else:
            self.leave_by(lambda: self.session.open(path))

    def open_soon(self, path: Path) -> None:
        """Open a project or a project archive after the window is first painted."""
        if path.suffix != ARCHIVE_SUFFIX:
            self.show_panes()
        QTimer.singleShot(0, lambda: self.open_project(path))

    def show_at_once(self) -> None:
        """Repaint card and inspector together before the next key is handled."""
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
        self.workspace.show_at_once()

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """Pause background computation within this context."""
        with self.session.undisturbed(), self.thumbnails.resting():
            yield

    def _on_subset_selected(self, subset: Subset) -> None:
        self.inspector.clear()
        self.workspace.show_subset(subset)
        self.workspace.grid.publish_current()
        self.workspace.graph.select_class(None)

    def _on_search_selected(self, query: str) -> None:
        self._on_subset_selected(Subset.ALL)
        if self.workspace.is_graph_shown:
            self.workspace.show_graph(False)
        self.workspace.search_bar.show_search(query)

    def _on_class_selected(self, class_id: int) -> None:
        self.workspace.show_class(class_id, self.tree.selected_classes)
        self.inspector.show_class(class_id)
        self.needs_changed.emit()
        self.workspace.graph.select_class(class_id)

    def _on_front_changed(self) -> None:
        """Update the inspector after the central page changed."""
        describes = self.workspace.describes
        self.panes.put_right_away(is_away=describes is Describes.NOTHING)
        self.inspector.show_picture(is_wanted=describes is not Describes.LARGE_IMAGE)
        if not self._is_current_in_front and not self.inspector.is_for_class:
            self._is_image_left = True
            self._show_choice_in_inspector()
        elif self._is_current_in_front and self._is_image_left:
            self._is_image_left = False
            self._on_image_in_front()

    def _on_image_in_front(self) -> None:
        current = self.workspace.active_images.current_id
        if current is None:
            self._show_choice_in_inspector()
        else:
            self.inspector.show_image(current)

    @property
    def _is_current_in_front(self) -> bool:
        """Whether the current card, or its large image, is visible."""
        return self.workspace.page is None and not self.workspace.is_graph_shown

    def _on_current_image_changed(self, image_id: int) -> None:
        if not self._is_current_in_front:
            self.needs_changed.emit()
            return
        is_chosen = self.workspace.grid.hasFocus() and not self.workspace.model.is_rearranging
        is_for_class = self.inspector.is_for_class and not is_chosen
        if self.workspace.active_images.is_page:
            pass
        elif image_id >= 0 and not is_for_class:
            self.inspector.show_image(image_id)
        elif image_id < 0 and not self.inspector.is_for_class:
            self._show_choice_in_inspector()
        self.needs_changed.emit()

    def _show_choice_in_inspector(self) -> None:
        """Show the selected class or nothing, while no image is current."""
        class_id = self.tree.selected_class
        if class_id is None:
            self.inspector.clear()
        else:
            self.inspector.show_class(class_id)
