"""The drawing, and what lies on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStyle, QVBoxLayout, QWidget

from app.graph_view.canvas import GraphCanvas
from app.graph_view.drawing import empty_drawing
from app.graph_view.layouts import LaidOut
from app.graph_view.mini_map import MiniMap
from app.graph_view.model import GraphModel
from app.graph_view.tool_strip import ToolStrip
from app.texts import tr
from app.theme.tokens import tokens

if TYPE_CHECKING:
    from app.images.thumbnails import Thumbnails
    from app.session import Session

TELLING_MS: Final = 120
"""A rubber band chooses others with each movement; the rest of the window hears of them when it pauses."""
MOST_ANNOUNCED: Final = 200
"""So many classes beside the current one are chosen in the tree too; of more nobody sees the rows."""


@final
class GraphBoard(QWidget):
    """Connects the drawing with the model."""

    classes_selected = Signal(tuple)  # classes were chosen, the current one first

    def __init__(self, session: Session, thumbnails: Thumbnails, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = GraphModel(session, self)
        self.canvas = GraphCanvas(self.model, thumbnails)
        self.canvas.setAccessibleName(tr("Category graph"))
        self._wanted: int | None = None  # a class that is not drawn yet
        self._is_flight = False
        self._is_following = False
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.canvas)
        self.setFocusProxy(self.canvas)
        self.tools = ToolStrip(lambda: self.model.graph, self.canvas)
        self.map = MiniMap(self.canvas)
        self._connect()
        session.closed.connect(self._on_session_closed)

    def move_calmly(self, *, is_wanted: bool) -> None:
        """Move things only where a person wants that, and where the system moves things."""
        length_ms = self.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration, None, self)
        self.canvas.viewport.is_calm = is_wanted or length_ms == 0

    def _connect(self) -> None:
        tools, viewport = self.tools, self.canvas.viewport
        tools.class_found.connect(self.fly_to)
        tools.zoomed.connect(viewport.zoom)
        tools.fitted.connect(self.canvas.fit)
        tools.focus_left.connect(lambda: self.model.set_focus(None))
        tools.left.connect(self.canvas.setFocus)
        self.canvas.looked.connect(lambda: tools.show_scale(viewport.goal.scale))
        self.model.laid_out.connect(self._on_laid_out)
        self.model.looks_changed.connect(self.canvas.picture.refresh)
        self.canvas.opened.connect(self.model.toggle)
        self.canvas.focus_requested.connect(self.model.set_focus)
        self.canvas.chosen.changed.connect(self._on_chosen)
        self._telling = QTimer(self, singleShot=True, interval=TELLING_MS)
        self._telling.timeout.connect(self._tell)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        gap = tokens().spacing.medium
        self.tools.adjustSize()
        self.tools.move(gap, gap)
        self.canvas.viewport.covered = float(self.tools.geometry().bottom())
        self.map.follow()

    def select_class(self, class_id: int | None) -> None:
        """Choose a class; a branch that hides it opens."""
        if class_id == self.canvas.chosen.current:
            return
        if class_id is None or self.canvas.drawing.row_of(class_id) is not None:
            self._choose(class_id)
            if class_id is not None:
                self.canvas.show_class(class_id)
        else:
            self._draw_for(class_id, is_flight=False)

    def fly_to(self, class_id: int) -> None:
        """See a class, wherever it is; branches that hide it open."""
        if self.canvas.drawing.row_of(class_id) is not None:
            self._choose(class_id, announces=True)
            self.canvas.fly_to(class_id)
        else:
            self._draw_for(class_id, is_flight=True)

    def _draw_for(self, class_id: int, *, is_flight: bool) -> None:
        """Have a class drawn that is hidden in a closed branch, or around another one."""
        self._wanted, self._is_flight = class_id, is_flight
        self.model.lay_out(shown=class_id)

    def _choose(self, class_id: int | None, *, announces: bool = False) -> None:
        """Choose a class; what was chosen elsewhere need not be told there."""
        self._is_following = not announces
        self.canvas.chosen.choose(class_id)
        self._is_following = False

    def _on_laid_out(self, answer: LaidOut) -> None:
        anchor = answer.wish.anchor
        self.canvas.show_drawing(answer.drawing, self.canvas.steady_class(answer.drawing) if anchor is None else anchor)
        focus = self.model.focus
        self.tools.show_focus("" if focus is None else self.model.graph.name(focus))
        wanted = self._wanted
        if wanted is None or answer.drawing.row_of(wanted) is None:
            return
        self._wanted = None
        self._choose(wanted, announces=self._is_flight)
        self.canvas.fly_to(wanted) if self._is_flight else self.canvas.show_class(wanted)

    def _on_session_closed(self) -> None:
        self._wanted = None
        self.canvas.chosen.choose(None)
        self.canvas.show_drawing(empty_drawing(), None)
        self.tools.show_focus("")

    def _on_chosen(self) -> None:
        """Tell of one class at once; of several when the hand that chooses them rests."""
        if self._is_following:
            return
        if len(self.canvas.chosen.ids) > 1:
            self._telling.start()
        else:
            self._tell()

    def _tell(self) -> None:
        self._telling.stop()
        chosen = self.canvas.chosen
        if chosen.current is not None:
            others = [class_id for class_id in chosen.ids if class_id != chosen.current]
            self.classes_selected.emit((chosen.current, *others[:MOST_ANNOUNCED]))
