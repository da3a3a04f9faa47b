"""The page of the class graph; the canvas is made on first use to start fast."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QStackedLayout, QWidget

from app.class_requests import ClassRequests
from app.controls import make_button
from app.placeholder import Placeholder, PlaceholderTexts
from app.texts import tr

if TYPE_CHECKING:
    from app.graph_view.board import GraphBoard
    from app.images.thumbnails import Thumbnails
    from app.session import Session


@final
class GraphView(QWidget):
    """The class graph of the session's project.

    Args:
        wants_calm: whether animations are off.
    """

    classes_selected = Signal(tuple)  # ids, the current one first
    action_requested = Signal(str)  # name of an action of the placeholder

    def __init__(
        self,
        session: Session,
        thumbnails: Thumbnails,
        wants_calm: Callable[[], bool],
        requests: ClassRequests,
    ) -> None:
        super().__init__()
        self._wants_calm, self._requests = wants_calm, requests
        self._session, self._thumbnails = session, thumbnails
        self._board: GraphBoard | None = None
        self._selected: int | None = None
        self._is_announcing = False
        self._empty = Placeholder()
        self._empty.setProperty("surface", "window")
        self._empty.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._empty)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        session.graph_changed.connect(lambda _edits: self._show_fitting_page())
        session.closed.connect(self._on_closed)

    @property
    def board(self) -> GraphBoard:
        if self._board is None:
            from app.graph_view.board import GraphBoard

            self._board = board = GraphBoard(self._session, self._thumbnails, self._requests)
            board.classes_selected.connect(self._on_classes_selected)
            self._stack.addWidget(board)
            self.setFocusProxy(board.canvas)
        return self._board

    def select_class(self, class_id: int | None) -> None:
        if self._is_announcing:
            return
        self._selected = class_id
        if self._board is not None and self.isVisible():
            self._board.select_class(class_id)

    def zoom(self, steps: int) -> None:
        self.board.canvas.zoom(steps)

    def fit(self) -> None:
        self.board.canvas.fit()

    def take_keyboard(self) -> None:
        self.board.tools.take_keyboard()

    def toggle_focus(self) -> None:
        model, current = self.board.model, self._selected
        model.set_focus(current if model.focus is None else None)

    def stop(self) -> None:
        if self._board is not None:
            self._board.model.layouts.stop()

    def _on_classes_selected(self, class_ids: tuple[int, ...]) -> None:
        self._selected, self._is_announcing = class_ids[0], True
        self.classes_selected.emit(class_ids)
        self._is_announcing = False

    def _on_closed(self) -> None:
        self._selected = None
        self._show_fitting_page()

    def _show_fitting_page(self) -> None:
        if not self.isVisible():
            return
        if self._session.graph.roots():
            is_new = self._stack.currentWidget() is not self.board
            self._stack.setCurrentWidget(self.board)
            if is_new:
                self.board.resize(self.size())
                self.board.select_class(self._selected)
                self._watch(self.board)
        else:
            self._show_empty()
            self._stack.setCurrentWidget(self._empty)

    def _show_empty(self) -> None:
        text = tr("This project is open read-only, and has no classes to draw.")
        buttons = []
        if self._session.is_writable:
            text = tr("The graph of your classes is drawn here. Add a class, or import a list.")
            buttons = [
                make_button(
                    tr("New class…"),
                    lambda: self.action_requested.emit("new_top_class"),
                    variant="primary",
                    icon_name="class_new",
                ),
                make_button(
                    tr("Import classes from a file…"),
                    lambda: self.action_requested.emit("import_classes"),
                    icon_name="graph_import",
                ),
            ]
        self._empty.show_texts(PlaceholderTexts("graph", tr("No classes yet"), text), *buttons)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_fitting_page()
        if self._board is not None:
            self._board.select_class(self._selected)
            self._watch(self._board)

    def _watch(self, board: GraphBoard) -> None:
        board.move_calmly(is_wanted=self._wants_calm())
        board.model.watch(is_watched=True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if self._board is not None:
            self._board.model.watch(is_watched=False)
