"""The drawing, and what lies on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.graph_view.canvas import GraphCanvas
from app.graph_view.layouts import LaidOut
from app.graph_view.model import GraphModel

if TYPE_CHECKING:
    from app.images.thumbnails import Thumbnails
    from app.session import Session

TELLING_MS: Final = 120
"""A rubber band chooses others with each movement; the rest of the window hears of them when it pauses."""
MOST_TOLD: Final = 200
"""So many classes beside the current one are chosen in the tree too; of more nobody sees the rows."""


@final
class GraphBoard(QWidget):
    """Connects the drawing with the model.

    Attributes:
        model: what is drawn.
        canvas: the drawing.

    Signals:
        classes_selected: classes were chosen, the current one first.
    """

    classes_selected = Signal(object)

    def __init__(self, session: Session, thumbnails: Thumbnails, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = GraphModel(session, self)
        self.canvas = GraphCanvas(self.model, thumbnails)
        self.canvas.setAccessibleName(self.tr("Category graph"))
        self._flies_to: int | None = None
        self._is_following = False
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.canvas)
        self.setFocusProxy(self.canvas)
        self.model.laid_out.connect(self._on_laid_out)
        self.model.looks_changed.connect(self.canvas.picture.refresh)
        self.canvas.opened.connect(self.model.toggle)
        self.canvas.focus_requested.connect(self.model.set_focus)
        self.canvas.chosen.changed.connect(self._on_chosen)
        self._telling = QTimer(self, singleShot=True, interval=TELLING_MS)
        self._telling.timeout.connect(self._tell)

    def select_class(self, class_id: int | None) -> None:
        """Choose a class; a branch that hides it opens."""
        if class_id == self.canvas.chosen.current:
            return
        if class_id is None or self.canvas.drawing.row_of(class_id) is not None:
            self._choose(class_id)
            if class_id is not None:
                self.canvas.show_class(class_id)
        else:
            self.fly_to(class_id)

    def fly_to(self, class_id: int) -> None:
        """See a class, wherever it is; branches that hide it open."""
        if self.canvas.drawing.row_of(class_id) is not None:
            self._choose(class_id)
            self.canvas.fly_to(class_id)
        else:
            self._flies_to = class_id
            self.model.lay_out(shown=class_id, anchor=self.canvas.chosen.current)

    def _choose(self, class_id: int | None) -> None:
        self._is_following = True
        self.canvas.chosen.choose(class_id)
        self._is_following = False

    def _on_laid_out(self, answer: LaidOut) -> None:
        self.canvas.show_drawing(answer.drawing, answer.wish.anchor)
        goal, self._flies_to = self._flies_to, None
        if goal is not None and answer.drawing.row_of(goal) is not None:
            self._choose(goal)
            self.canvas.fly_to(goal)

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
            self.classes_selected.emit((chosen.current, *others[:MOST_TOLD]))
