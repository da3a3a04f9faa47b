"""The drawing of the class graph with its tools, connected with the model."""

from typing import final

from PySide6.QtCore import QPoint, QRect, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStyle, QWidget

from app.class_requests import ClassRequests
from app.controls import fill_column
from app.graph_view.canvas import GraphCanvas
from app.graph_view.drawing import LaidOut, empty_drawing
from app.graph_view.model import GraphModel
from app.graph_view.overlays import MiniMap, ToolStrip
from app.images.thumbnails import Thumbnails
from app.mirroring import placed
from app.session import Session
from app.texts import tr
from app.theme.tokens import tokens

# Debounce: a rubber band changes the selection with each movement.
ANNOUNCED_MS = 120
MOST_ANNOUNCED = 200  # besides the current one; the tree shows no more


@final
class GraphBoard(QWidget):
    """Connects the canvas with the model."""

    classes_selected = Signal(tuple)  # ids, the current one first

    def __init__(self, session: Session, thumbnails: Thumbnails, requests: ClassRequests) -> None:
        super().__init__()
        self.model = GraphModel(session, self)
        self.canvas = GraphCanvas(self.model, thumbnails, requests)
        self.canvas.setAccessibleName(tr("Class graph"))
        self._wanted: int | None = None  # class to show once it is drawn
        self._is_flight = False
        self._is_following = False
        self._focus: int | None = None  # class whose neighbourhood is drawn
        fill_column(self, self.canvas)
        self.setFocusProxy(self.canvas)
        self.tools = ToolStrip(lambda: self.model.graph, self.canvas)
        self.map = MiniMap(self.canvas)
        self._connect()
        session.closed.connect(self._on_session_closed)

    def move_calmly(self, *, is_wanted: bool) -> None:
        """Enable animations only if wanted here and enabled in the system."""
        length_ms = self.style().styleHint(
            QStyle.StyleHint.SH_Widget_Animation_Duration, None, self
        )
        self.canvas.is_calm = is_wanted or length_ms == 0

    def _connect(self) -> None:
        tools, canvas = self.tools, self.canvas
        self.model.room = lambda: canvas.readable_room
        tools.class_found.connect(self.fly_to)
        tools.zoomed.connect(canvas.zoom)
        tools.fitted.connect(canvas.fit)
        tools.focus_left.connect(lambda: self.model.set_focus(None))
        tools.left.connect(canvas.setFocus)
        canvas.looked.connect(lambda: tools.show_scale(canvas.goal.scale))
        canvas.opened.connect(self.model.toggle)
        canvas.focus_requested.connect(self.model.set_focus)
        canvas.chosen.changed.connect(self._on_chosen)
        self.model.laid_out.connect(self._on_laid_out)
        self.model.looks_changed.connect(canvas.picture.refresh)
        self._pause = QTimer(self, singleShot=True, interval=ANNOUNCED_MS)
        self._pause.timeout.connect(self._announce)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        gap = tokens().spacing.medium
        self.tools.adjustSize()
        self.tools.setGeometry(
            placed(QRect(QPoint(gap, gap), self.tools.size()), self.canvas.rect())
        )
        self.canvas.covered = float(self.tools.geometry().bottom())
        self.map.follow()

    def select_class(self, class_id: int | None) -> None:
        if class_id == self.canvas.chosen.current:
            return
        if class_id is None or self.canvas.drawing.row_of(class_id) is not None:
            self._choose(class_id)
            if class_id is not None:
                self.canvas.centre(class_id)
        else:
            self._draw_for(class_id, is_flight=False)

    def fly_to(self, class_id: int) -> None:
        if self.canvas.drawing.row_of(class_id) is not None:
            self._choose(class_id, announces=True)
            self.canvas.fly_to(class_id)
        else:
            self._draw_for(class_id, is_flight=True)

    def _draw_for(self, class_id: int, *, is_flight: bool) -> None:
        """Draw a class that is in a collapsed branch or outside the focus."""
        self._wanted, self._is_flight = class_id, is_flight
        self.model.lay_out(shown=class_id)

    def _choose(self, class_id: int | None, *, announces: bool = False) -> None:
        """Select a class; without `announces`, no signal is emitted."""
        self._is_following = not announces
        self.canvas.chosen.choose(class_id)
        self._is_following = False

    def _on_laid_out(self, answer: LaidOut) -> None:
        anchor, focus, wanted = answer.request.anchor, self.model.focus, self._wanted
        is_new, self._focus = (
            answer.request.focus != self._focus or not len(self.canvas.drawing),
            answer.request.focus,
        )
        current = self.canvas.chosen.current if wanted is None else wanted
        self.canvas.show_drawing(
            answer.drawing,
            self.canvas.steady_class(answer.drawing) if anchor is None else anchor,
            begins_at=(current if anchor is None else anchor) if is_new else None,
        )
        self.tools.show_focus("" if focus is None else self.model.graph.shown_name(focus))
        if wanted is None or answer.drawing.row_of(wanted) is None:
            return
        self._wanted = None
        self._choose(wanted, announces=self._is_flight)
        if not is_new:
            self.canvas.fly_to(wanted) if self._is_flight else self.canvas.centre(wanted)

    def _on_session_closed(self) -> None:
        self._wanted = self._focus = None
        self.canvas.chosen.choose(None)
        self.canvas.show_drawing(empty_drawing(), None)
        self.tools.show_focus("")

    def _on_chosen(self) -> None:
        """Emit a single class at once; debounce several."""
        if not self._is_following:
            self._pause.start() if len(self.canvas.chosen.ids) > 1 else self._announce()

    def _announce(self) -> None:
        self._pause.stop()
        chosen = self.canvas.chosen
        if chosen.current is not None:
            others = [class_id for class_id in chosen.ids if class_id != chosen.current]
            self.classes_selected.emit((chosen.current, *others[:MOST_ANNOUNCED]))
