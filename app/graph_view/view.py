"""The page of the class graph; the canvas is made on first use to start fast."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QLabel, QStackedLayout, QVBoxLayout, QWidget

from app.class_requests import ClassRequests
from app.controls import fill_row, make_button, make_label
from app.texts import tr
from app.theme.icons import icon_pixmap
from app.theme.tokens import tokens

if TYPE_CHECKING:
    from app.graph_view.board import GraphBoard
    from app.images.thumbnails import Thumbnails
    from app.session import Session

ICON_SIDE: Final = 48  # logical pixels
NARROWEST: Final = 280  # least width of the text
_EMPTY: Final = 0  # index of the placeholder


@final
class NothingDrawn(QWidget):
    """Placeholder for an empty graph, with buttons."""

    action_requested = Signal(str)  # name of an action

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("surface", "window")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._icon = QLabel()
        self._icon.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.title = make_label(tr("No classes yet"), "heading", wraps=True)
        self.words = make_label("", "secondary", wraps=True)
        self._buttons = QWidget()
        self._lay_out()

    def _lay_out(self) -> None:
        for label in (self.title, self.words):
            label.setMinimumWidth(NARROWEST)
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        row = fill_row(self._buttons)
        row.setContentsMargins(0, tokens().spacing.small, 0, 0)
        row.addStretch(1)
        for name, text, icon_name, variant in (
            ("new_top_class", tr("New class…"), "class_new", "primary"),
            ("import_classes", tr("Import classes from a file…"), "graph_import", ""),
        ):
            ask = lambda name=name: self.action_requested.emit(name)  # noqa: E731
            row.addWidget(make_button(text, ask, variant=variant, icon_name=icon_name))
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setSpacing(tokens().spacing.small)
        column.addStretch(2)
        for part in (self._icon, self.title, self.words, self._buttons):
            column.addWidget(part)
        column.addStretch(3)

    def show_for(self, *, is_writable: bool) -> None:
        picture = icon_pixmap(
            "graph", ICON_SIDE, colour="text_disabled", ratio=self.devicePixelRatioF()
        )
        self._icon.setPixmap(picture)
        hint = tr("The graph of your classes is drawn here. Add a class, or import a list.")
        reason = tr("This project is open read-only, and has no classes to draw.")
        self.words.setText(hint if is_writable else reason)
        self._buttons.setVisible(is_writable)


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
        self._empty = NothingDrawn()
        self._empty.action_requested.connect(self.action_requested)
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
        self.board.canvas.viewport.zoom(steps)

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
            info = self._session.info
            self._empty.show_for(is_writable=info is not None and info.is_writable)
            self._stack.setCurrentIndex(_EMPTY)

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
