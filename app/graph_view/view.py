"""The page with the drawing of the graph; made when it is first looked at, for the window shows first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QStackedLayout, QWidget

from app.graph_view.nothing_drawn import NothingDrawn
from app.signal_types import either

if TYPE_CHECKING:
    from app.graph_view.board import GraphBoard
    from app.images.thumbnails import Thumbnails
    from app.session import Session

_EMPTY: Final = 0  # the place of the page that says why there is no drawing


@final
class GraphView(QWidget):
    """Shows the category graph of the session's project. Says what a person wants; changes nothing itself.

    Args:
        wants_calm: whether things are to be at once where they go.
    """

    classes_selected = Signal(tuple)  # classes were chosen, the current one first
    images_requested = Signal(int)
    create_requested = Signal(either(int | None))
    remove_requested = Signal(tuple)
    unlink_requested = Signal(tuple)
    classes_dropped = Signal(tuple, either(int | None), bool)
    images_dropped = Signal(either(int | None), tuple)
    files_dropped = Signal(int, tuple)
    menu_requested = Signal(either(int | None), QPoint)
    action_requested = Signal(str)  # name of an action, where there is no class yet

    def __init__(
        self, session: Session, thumbnails: Thumbnails, wants_calm: Callable[[], bool], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._wants_calm = wants_calm
        self._session, self._thumbnails = session, thumbnails
        self._board: GraphBoard | None = None
        self._selected: int | None = None
        self._is_telling = False
        self._empty = NothingDrawn()
        self._empty.action_requested.connect(self.action_requested)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._empty)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        session.graph_changed.connect(lambda _edits: self._show_fitting_page())
        session.closed.connect(self._on_closed)

    @property
    def board(self) -> GraphBoard:
        """The drawing with what lies on it."""
        if self._board is None:
            from app.graph_view.board import GraphBoard

            self._board = board = GraphBoard(self._session, self._thumbnails)
            canvas = board.canvas
            board.classes_selected.connect(self._on_classes_selected)
            canvas.images_requested.connect(self.images_requested)
            canvas.create_requested.connect(self.create_requested)
            canvas.remove_requested.connect(self.remove_requested)
            canvas.unlink_requested.connect(self.unlink_requested)
            canvas.classes_dropped.connect(self.classes_dropped)
            canvas.images_dropped.connect(self.images_dropped)
            canvas.files_dropped.connect(self.files_dropped)
            canvas.menu_requested.connect(self.menu_requested)
            self._stack.addWidget(board)
            self.setFocusProxy(canvas)
        return self._board

    def select_class(self, class_id: int | None) -> None:
        """Choose the class that was chosen elsewhere, and bring it into sight."""
        if self._is_telling:
            return
        self._selected = class_id
        if self._board is not None and self.isVisible():
            self._board.select_class(class_id)

    def zoom(self, steps: int) -> None:
        self.board.canvas.viewport.zoom(steps)

    def fit(self) -> None:
        self.board.canvas.fit()

    def take_keyboard(self) -> None:
        """Let the person type the name of a class to fly to."""
        self.board.tools.take_keyboard()

    def toggle_focus(self) -> None:
        """Draw only what is around the chosen class, or all again."""
        model, current = self.board.model, self._selected
        model.set_focus(current if model.focus is None else None)

    def stop(self) -> None:
        if self._board is not None:
            self._board.model.stop()

    # -- following

    def _on_classes_selected(self, class_ids: tuple[int, ...]) -> None:
        """Tell it; whoever chooses them elsewhere need not tell it back."""
        self._selected, self._is_telling = class_ids[0], True
        self.classes_selected.emit(class_ids)
        self._is_telling = False

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
                self._watch(self.board)
        else:
            info = self._session.info
            self._empty.show_for(is_writable=info is not None and info.is_writable)
            self._stack.setCurrentIndex(_EMPTY)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_fitting_page()
        if self._board is not None:
            self._watch(self._board)
            self._board.select_class(self._selected)

    def _watch(self, board: GraphBoard) -> None:
        """Somebody looks at the drawing from now on."""
        board.move_calmly(is_wanted=self._wants_calm())
        board.model.watch(is_watched=True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if self._board is not None:
            self._board.model.watch(is_watched=False)
