"""The class pane: subsets, filter field, and the class tree."""

from collections.abc import Sequence
from typing import final

from PySide6.QtCore import QLocale, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent, QKeyEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.actions.key_tips import set_key_tip
from app.class_requests import ClassRequests
from app.class_tree.model import ClassTreeModel
from app.class_tree.subset_list import SubsetList
from app.class_tree.tree_view import ClassTreeView
from app.controls import (
    fill_column,
    fill_row,
    make_button,
    make_icon_button,
    make_label,
    make_search_field,
    make_separator,
)
from app.dragging import DraggedImages, Places, read_dragged
from app.drops import LazyChip, new_class_text
from app.session import Session
from app.session.subsets import Subset, subset_counts
from app.texts import tr
from app.theme.tokens import tokens
from engine.collection.state import CollectionState
from engine.graph.category_graph import ClassId
from engine.graph.edits import GraphEdit

FILTER_DELAY_MS = 120  # debounce of typing
MOST_FOUND = 100  # search results, at most


@final
class NoClasses(QWidget):
    """Placeholder for an empty tree, with a link that imports a list."""

    def __init__(self, requests: ClassRequests) -> None:
        super().__init__()
        self._requests = requests
        self.is_editable = False
        self._chip = LazyChip(self)
        self.words = make_label("", "muted", wraps=True)
        self.words.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self.import_link = make_button(
            tr("Import a list…"), requests.import_requested.emit, variant="flat"
        )
        column = fill_column(self, self.words, None, margins=tokens().spacing.large)
        column.insertWidget(1, self.import_link, 0, Qt.AlignmentFlag.AlignHCenter)
        self.setAcceptDrops(True)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # shortcuts for classes work here, too

    def show_message(self, text: str, *, offers_import: bool = False) -> None:
        self.words.setText(text)
        self.import_link.setVisible(offers_import and self.is_editable)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept images; files are left to the parent window."""
        is_welcome = self.is_editable and isinstance(read_dragged(event.mimeData()), DraggedImages)
        event.accept() if is_welcome else event.ignore()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        dragged = read_dragged(event.mimeData())
        if not isinstance(dragged, DraggedImages):
            return
        place = self.mapToGlobal(event.position().toPoint())
        self._chip.show_message(new_class_text(len(dragged.image_ids)), place, dragged)
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()

    def dragLeaveEvent(self, _event: QDragLeaveEvent) -> None:
        self._chip.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        self._chip.hide()
        dragged = read_dragged(event.mimeData())
        if isinstance(dragged, DraggedImages):
            event.accept()
            self._requests.images_dropped.emit(None, dragged.image_ids)


@final
class ClassTree(QWidget):
    """The pane with subsets, filter field and class tree of the session's project."""

    class_selected = Signal(int)
    row_selected = Signal()  # a row was selected, possibly of the same class under another parent
    subset_selected = Signal(Subset)  # one of the fixed rows was selected
    search_selected = Signal(str)  # query of a saved search that was selected

    def __init__(self, session: Session, requests: ClassRequests) -> None:
        super().__init__()
        self._session, self.requests = session, requests
        self.subset_list = SubsetList(requests)
        self._filter = make_search_field(tr("Find a class"))
        ask_new = lambda: requests.create_requested.emit(self.selected_class)  # noqa: E731
        self._new = make_icon_button("plus", tr("New class"), ask_new)
        set_key_tip(self._new, tr("New class"), "new_class")
        self._all_model = ClassTreeModel(self)
        self._all = ClassTreeView(self._all_model, requests)
        self._found_model = ClassTreeModel(self)
        self._found = ClassTreeView(self._found_model, requests, has_paths=True)
        self._empty = NoClasses(requests)
        self._stack = QStackedWidget()
        self._filter_timer = QTimer(self, singleShot=True, interval=FILTER_DELAY_MS)
        self._filter_timer.timeout.connect(self._apply_filter)
        self._filter.textChanged.connect(self._on_filter_text_changed)
        self._filter.returnPressed.connect(self._on_filter_return_pressed)
        self._lay_out()
        self._connect_views()
        self._connect_session()
        self._show_fitting_page()

    @property
    def classes(self) -> QWidget:
        """The part that shows the classes, without subsets and filter field."""
        return self._stack

    @property
    def selected_class(self) -> ClassId | None:
        return self.front.selected_class

    @property
    def selected_parent(self) -> ClassId | None:
        return self.front.selected_parent

    @property
    def selected_subset(self) -> Subset | None:
        return self.subset_list.selected_subset

    @property
    def selected_places(self) -> Places:
        return self.front.selected_places

    @property
    def selected_classes(self) -> tuple[ClassId, ...]:
        """The selected classes, each once, from top to bottom; empty if a subset is selected."""
        return tuple(dict.fromkeys(class_id for class_id, _parent in self.selected_places))

    def select_classes(self, class_ids: Sequence[ClassId]) -> None:
        known = [class_id for class_id in class_ids if class_id in self._session.graph]
        for class_id in reversed(known):
            self.select_class(class_id)
        self._all.select_all_built(known)

    def select_class(self, class_id: ClassId) -> None:
        """Select a class, preferably in a row that is already visible."""
        if class_id not in self._session.graph:
            return
        self._filter.clear()
        self._apply_filter()
        if not self._all.select_built(class_id):
            self._all.select_path(self._session.graph.paths(class_id)[0])

    def reveal_class(self, class_id: ClassId) -> None:
        self._filter.clear()
        self._apply_filter()
        built = self._all_model.indexes_of(class_id)
        path = self._all_model.first_path(class_id)
        self._all.scrollTo(built[0] if built else self._all_model.index_of_path(path))

    def select_subset(self, subset: Subset) -> None:
        self.subset_list.select_subset(subset)

    def focus_filter(self) -> None:
        self._filter.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._filter.selectAll()

    def take_keyboard(self) -> None:
        front, reason = self.front, Qt.FocusReason.ShortcutFocusReason
        if self._stack.currentWidget() is not front:
            self._empty.setFocus(reason)
            return
        front.setFocus(reason)
        if self.selected_class is None:
            front.select(front.model().index(0, 0))

    @property
    def front(self) -> ClassTreeView:
        return self._found if self._stack.currentWidget() is self._found else self._all

    def _lay_out(self) -> None:
        spacing = tokens().spacing
        self.setProperty("surface", "pane")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        gap, parts = spacing.small, (self._filter, self._new)
        field = fill_row(None, *parts, spacing=spacing.tiny, margins=gap, grows=0)
        above, margins = (self.subset_list, make_separator(), field), (0, gap, 0, 0)
        layout = fill_column(self, *above, self._stack, spacing=0, margins=margins, grows=3)
        layout.insertSpacing(1, gap)
        for page in (self._all, self._found, self._empty):
            self._stack.addWidget(page)

    def _connect_views(self) -> None:
        self.subset_list.subset_selected.connect(self._on_subset_selected)
        self.subset_list.search_selected.connect(self._on_search_selected)
        for view, model in ((self._all, self._all_model), (self._found, self._found_model)):
            view.class_selected.connect(self._on_class_selected)
            view.selectionModel().selectionChanged.connect(self.row_selected)
            model.rename_requested.connect(self.requests.rename_requested)

    def _connect_session(self) -> None:
        self._session.opened.connect(self._on_session_opened)
        self._session.writable_changed.connect(self._on_session_opened)
        self._session.closed.connect(self._on_session_closed)
        self._session.graph_changed.connect(self._on_graph_changed)
        self._session.state_changed.connect(self._on_state_changed)
        self._session.marks.changed.connect(self._on_marks_changed)

    def _on_session_opened(self, _info: object) -> None:
        for part in (self._all_model, self._found_model, self.subset_list, self._empty):
            part.is_editable = self._session.is_writable
        self._show_fitting_page()
        self._new.setEnabled(self._all_model.is_editable)

    def _on_session_closed(self) -> None:
        self._filter.clear()
        self._on_graph_changed(())
        self._on_state_changed(None)

    def _on_graph_changed(self, edits: tuple[GraphEdit, ...]) -> None:
        if edits:
            self._all_model.apply_edits(edits)
        elif self._all_model.rowCount() and self._session.info is not None:
            self._all_model.replace_graph(self._session.graph)
        else:
            self._all_model.set_graph(self._session.graph)
            if self._all_model.rowCount() == 1:
                self._all.expand(self._all_model.index(0, 0))
        self._apply_filter()

    def _on_state_changed(self, state: CollectionState | None) -> None:
        counts = subset_counts(state)
        self.subset_list.rows.set_counts(counts)
        widest = QLocale().toString(counts[Subset.ALL])
        for view, model in ((self._all, self._all_model), (self._found, self._found_model)):
            if model.set_state(state):  # avoids repainting the tree on every key
                view.viewport().update()
            view.columns.fit_counts(widest)

    def _on_marks_changed(self) -> None:
        marks = self._session.marks
        for view, model in ((self._all, self._all_model), (self._found, self._found_model)):
            model.set_marks(marks.colours, marks.policies)
            view.viewport().update()

    def _on_subset_selected(self, subset: Subset) -> None:
        self._all.clear_choice()
        self._found.clear_choice()
        self.subset_selected.emit(subset)

    def _on_search_selected(self, query: str) -> None:
        self._all.clear_choice()
        self._found.clear_choice()
        self.search_selected.emit(query)

    def _on_class_selected(self, class_id: ClassId) -> None:
        self.subset_list.clear_choice()
        self.class_selected.emit(class_id)

    def _on_filter_text_changed(self, text: str) -> None:
        self._filter_timer.start() if text else self._apply_filter()

    def _on_filter_return_pressed(self) -> None:
        found = self._session.graph.search(self._filter.text(), 1)
        if found:
            self.select_class(found[0])
            self._all.setFocus()

    def _apply_filter(self) -> None:
        self._filter_timer.stop()
        text = self._filter.text().strip()
        if text:
            self._found_model.set_graph(
                self._session.graph, self._session.graph.search(text, MOST_FOUND)
            )
        elif self._stack.currentWidget() is self._found:
            self._leave_found()
        self._show_fitting_page()

    def _leave_found(self) -> None:
        """Show all classes again; a selected search result stays selected."""
        chosen = self._found.selected_class
        self._stack.setCurrentWidget(self._all)
        self._found_model.set_graph(self._session.graph, ())
        if (
            chosen is not None
            and chosen in self._session.graph
            and not self._all.select_built(chosen)
        ):
            self._all.select_path(self._session.graph.paths(chosen)[0])

    def _show_fitting_page(self) -> None:
        text = self._filter.text().strip()
        has_classes, has_keyboard = self._all_model.rowCount() > 0, self._empty.hasFocus()
        if text and has_classes and not self._found_model.rowCount():
            self._show_message(tr("No class matches “{1}”.").replace("{1}", text))
        elif not has_classes:
            is_open = self._session.info is not None
            self._show_message(
                tr("No classes yet.\n\nClick + to add a class.") if is_open else "",
                offers_import=is_open,
            )
        else:
            self._stack.setCurrentWidget(self._found if text else self._all)
            if has_keyboard:
                self.take_keyboard()

    def _show_message(self, text: str, *, offers_import: bool = False) -> None:
        self._empty.show_message(text, offers_import=offers_import)
        self._stack.setCurrentWidget(self._empty)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave the filter by Esc; Insert creates a class even if no class is selected."""
        if event.key() == Qt.Key.Key_Escape and self._filter.text():
            self._filter.clear()
            self._all.setFocus()
        elif event.key() == Qt.Key.Key_Insert and self._all_model.is_editable:
            self.requests.create_requested.emit(None)
        else:
            super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(260, 480)
