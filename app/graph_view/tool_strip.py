"""What floats on the drawing: a search that flies to a class, and buttons to look around."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QToolButton, QWidget

from app.controls import make_icon_button, make_label, make_search_field
from app.graph_view.wording import found_text, looking_around
from app.texts import plain_button, tr
from app.theme.tokens import tokens
from app.wording import percent_of_size

if TYPE_CHECKING:
    from engine.graph.category_graph import CategoryGraph

SEARCH_MS: Final = 120  # after a letter: a person who types on is not flown about
MOST_FOUND: Final = 50  # classes that Enter goes through
SEARCH_WIDTH: Final = 200  # of the field, in logical pixels
SCALE_WIDTH: Final = 48  # of the scale in percent, in logical pixels: nothing moves when it changes


@final
class ToolStrip(QFrame):
    """Search, zoom, fit, focus."""

    class_found = Signal(int)  # a class to fly to
    zoomed = Signal(int)  # steps to zoom in by; negative for out
    fitted = Signal()
    focus_left = Signal()
    left = Signal()  # the keyboard goes back to the drawing

    def __init__(self, graph: Callable[[], CategoryGraph], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._graph = graph
        self._found: list[int] = []
        self._place = 0
        self.setProperty("role", "popup")
        self.search = make_search_field(tr("Find a class in the graph"))
        self.count = make_label("", "muted")
        self.scale = make_label("", "muted")
        self.focus = make_label("", "chip")
        self.leave_focus = make_icon_button("close", tr("Draw all classes again (Esc)"), self.focus_left.emit)
        self._timer = QTimer(self, singleShot=True, interval=SEARCH_MS)
        self._timer.timeout.connect(self._find)
        self._set_up_search()
        self._lay_out()
        self.show_focus("")

    def _set_up_search(self) -> None:
        self.search.setFixedWidth(SEARCH_WIDTH)
        self.search.setToolTip(tr("Ctrl+F; Enter goes on to the next one"))
        self.search.textEdited.connect(lambda _text: self._timer.start())
        self.search.installEventFilter(self)
        self.count.hide()

    def _lay_out(self) -> None:
        self.scale.setFixedWidth(SCALE_WIDTH)
        self.scale.setAlignment(Qt.AlignmentFlag.AlignCenter)
        row = QHBoxLayout(self)
        gap = tokens().spacing.tiny
        row.setContentsMargins(gap, gap, gap, gap)
        row.setSpacing(gap)
        parts: tuple[QLabel | QLineEdit | QToolButton, ...] = (
            self.search, self.count,
            make_icon_button("minus", tr("Smaller (Ctrl+-)"), lambda: self.zoomed.emit(-1)), self.scale,
            make_icon_button("plus", tr("Larger (Ctrl++)"), lambda: self.zoomed.emit(1)),
            make_icon_button("fit", tr("See all (Ctrl+0)"), self.fitted.emit),
            self.focus, self.leave_focus,
        )  # fmt: skip
        for part in parts:
            row.addWidget(part)

    # -- what it shows

    def show_scale(self, scale: float) -> None:
        self.scale.setText(percent_of_size(scale))

    def show_focus(self, name: str) -> None:
        """Say around which class alone is drawn; "" for all."""
        self.focus.setText(plain_button(looking_around(name)) if name else "")
        for part in (self.focus, self.leave_focus):
            part.setVisible(bool(name))
        self.adjustSize()

    def take_keyboard(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    # -- searching

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Enter goes on, with Shift back; Esc and Down leave the field."""
        if watched is self.search and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._press(event)
        return super().eventFilter(watched, event)

    def _press(self, event: QKeyEvent) -> bool:
        key = Qt.Key(event.key())
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            is_back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self._find() if self._timer.isActive() else self._go(-1 if is_back else 1)
        elif key in (Qt.Key.Key_Escape, Qt.Key.Key_Down):
            if key == Qt.Key.Key_Escape:
                self.search.clear()
                self._found, self._place = [], 0
            self.left.emit()
        else:
            return False
        return True

    def _find(self) -> None:
        self._timer.stop()
        text = self.search.text().strip()
        self._found, self._place = self._graph().search(text, MOST_FOUND) if text else [], 0
        self._go(0)

    def _go(self, step: int) -> None:
        text = self.search.text().strip()
        if self._found:
            self._place = (self._place + step) % len(self._found)
            self.class_found.emit(self._found[self._place])
        self.count.setText(found_text(self._place + 1, len(self._found)) if text else "")
        self.count.setVisible(bool(text))
        self.adjustSize()
