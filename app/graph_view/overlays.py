"""Widgets over the drawing: search, zoom buttons, and a minimap."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import final

from PySide6.QtCore import (
    QEvent,
    QObject,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QToolButton, QWidget

from app.actions.key_tips import follow_keys, set_key_tip
from app.actions.keys import keys_in_use
from app.canvas.camera import Rect
from app.canvas.painting import paint_floating_card
from app.controls import fill_row, make_icon_button, make_label, make_search_field
from app.graph_view.picture import HIGHEST, WIDEST
from app.graph_view.sheet import GraphSheet
from app.key_names import ENTER_KEYS
from app.mirroring import placed
from app.texts import plain_button, plain_tip, shortened, tr
from app.theme.tokens import tokens
from app.wording import number, percent_of_size, titled
from engine.graph.category_graph import CategoryGraph

REST_MS = 250  # time without movement after which the minimap is placed
SEARCH_MS = 120  # debounce of typing
MOST_FOUND = 50  # classes found, at most
SEARCH_WIDTH = 200  # of the field in logical pixels, at least
CONTROLS_WIDTH = 64  # logical pixels of magnifier, button and frame
SCALE_WIDTH = 48  # of the scale in percent, in logical pixels, so that its width is constant
MARGIN = 8  # logical pixels around the picture of the minimap
_FRAME_FILL = 0.10  # opacity of the visible part's fill
_SEEN = 0.995  # share of the drawing from which on all counts as visible


def _keyed(icon_name: str, tip: str, name: str, on_click: Callable[[], None]) -> QToolButton:
    """A button whose tool tip names the key of an action."""
    button = make_icon_button(icon_name, tip, on_click)
    set_key_tip(button, tip, name)
    return button


@final
class ToolStrip(QFrame):
    """Search, zoom, fit, focus."""

    class_found = Signal(int)  # class to centre
    zoomed = Signal(int)  # steps to zoom in; negative for out
    fitted = Signal()
    focus_left = Signal()
    left = Signal()  # the keyboard focus returns to the drawing

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
        self.leave_focus = make_icon_button(
            "close", tr("Show all classes (Esc)"), self.focus_left.emit
        )
        self._timer = QTimer(self, singleShot=True, interval=SEARCH_MS)
        self._timer.timeout.connect(self._find)
        self._set_up_search()
        self._lay_out()
        self.show_focus("")

    def _set_up_search(self) -> None:
        name = self.search.fontMetrics().horizontalAdvance(self.search.placeholderText())
        self.search.setFixedWidth(max(SEARCH_WIDTH, name + CONTROLS_WIDTH))
        follow_keys(self.search, self._show_search_tip)
        self.search.textEdited.connect(lambda _text: self._timer.start())
        self.search.installEventFilter(self)
        self.count.hide()

    def _show_search_tip(self) -> None:
        key = keys_in_use().text_of("search_images")
        tip = tr("Enter moves on to the next one")
        self.search.setToolTip(plain_tip(titled(key, tip) if key else tip))

    def _lay_out(self) -> None:
        self.scale.setFixedWidth(SCALE_WIDTH)
        self.scale.setAlignment(Qt.AlignmentFlag.AlignCenter)
        gap = tokens().spacing.tiny
        fill_row(
            self,
            self.search,
            self.count,
            _keyed("minus", tr("Zoom out"), "zoom_out", lambda: self.zoomed.emit(-1)),
            self.scale,
            _keyed("plus", tr("Zoom in"), "zoom_in", lambda: self.zoomed.emit(1)),
            _keyed("fit", tr("Show all"), "fit_graph", self.fitted.emit),
            self.focus,
            self.leave_focus,
            spacing=gap,
        ).setContentsMargins(gap, gap, gap, gap)

    def show_scale(self, scale: float) -> None:
        self.scale.setText(percent_of_size(scale))

    def show_focus(self, name: str) -> None:
        """Show the name of the class in focus; "" without a focus."""
        self.focus.setText(plain_button(tr("Around {1}", shortened(name, 28))) if name else "")
        for part in (self.focus, self.leave_focus):
            part.setVisible(bool(name))
        self.adjustSize()

    def take_keyboard(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Enter goes to the next result, Shift+Enter back; Esc and Down leave the field."""
        if (
            watched is self.search
            and isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
        ):
            return self._press(event)
        return super().eventFilter(watched, event)

    def _press(self, event: QKeyEvent) -> bool:
        key = Qt.Key(event.key())
        if key in ENTER_KEYS:
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
        place, count = number(self._place + 1), len(self._found)
        found = tr("{1} of {2}", place, number(count)) if count else tr("No class")
        self.count.setText(found if text else "")
        self.count.setVisible(bool(text))
        self.adjustSize()


@final
class MiniMap(QWidget):
    """Minimap in a corner that covers no class, hidden if there is none; a click moves the view."""

    def __init__(self, sheet: GraphSheet) -> None:
        super().__init__(sheet)
        self._sheet = sheet
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setToolTip(tr("Click or drag to move the view"))
        self.setAccessibleName(tr("The whole graph"))
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(self._settle)
        for signal in (sheet.looked, sheet.picture.finished, sheet.picture.motion.arrived):
            signal.connect(self.follow)
        self.hide()

    def sizeHint(self) -> QSize:
        picture = self._sheet.picture.overview.picture
        size = (
            picture.deviceIndependentSize().toSize()
            if not picture.isNull()
            else QSize(WIDEST, HIGHEST)
        )
        return size + QSize(2 * MARGIN, 2 * MARGIN)

    def follow(self) -> None:
        """Hide when covering a class, and look for another corner once the drawing is at rest."""
        if not self._is_wanted() or not self._is_free(self.geometry()):
            self.hide()
        self._rest.start()
        self.update()

    def _settle(self) -> None:
        free = [place for place in self._places() if self._is_free(place)]
        if free and self._is_wanted():
            self.setGeometry(free[0])
            self.show()

    def _is_wanted(self) -> bool:
        """Whether not all of the drawing is visible."""
        overview = self._sheet.picture.overview
        if not overview.is_complete or len(self._sheet.drawing) <= 1:
            return False
        whole = _rect(overview.camera.seen)
        part = _rect(self._sheet.goal.seen) & whole
        return part.width() * part.height() < _SEEN * whole.width() * whole.height()

    def _places(self) -> Sequence[QRect]:
        """The possible corners, the current one first."""
        size, gap, room = self.sizeHint(), tokens().spacing.medium, self._sheet.rect()
        right, bottom = room.width() - size.width() - gap, room.height() - size.height() - gap
        top = round(self._sheet.covered) + gap
        corners = [
            placed(QRect(QPoint(*at), size), room)
            for at in ((right, bottom), (gap, bottom), (right, top))
        ]
        return sorted(corners, key=lambda corner: self.isVisible() and corner != self.geometry())

    def _is_free(self, place: QRect) -> bool:
        """Whether a rectangle of the view covers no class."""
        goal = self._sheet.goal
        corner = goal.to_plane(place.left(), place.top())
        opposite = goal.to_plane(place.right(), place.bottom())
        return not len(self._sheet.drawing.rows_in((*corner, *opposite)))

    def paintEvent(self, _event: QPaintEvent) -> None:
        colours, painter = tokens().colours, QPainter(self)
        paint_floating_card(painter, self.rect(), QColor(colours.window), colours.hairline)
        painter.drawPixmap(QPointF(MARGIN, MARGIN), self._sheet.picture.overview.picture)
        left, top, right, bottom = self._sheet.camera.seen
        overview, fill = self._sheet.picture.overview.camera, QColor(colours.accent)
        corners = overview.to_view(left, top), overview.to_view(right, bottom)
        frame = _rect((*corners[0], *corners[1])).translated(MARGIN, MARGIN)
        painter.setPen(QPen(fill, 1.5))
        fill.setAlphaF(_FRAME_FILL)
        painter.setBrush(fill)
        painter.drawRoundedRect(frame.intersected(QRectF(self.rect()).adjusted(2, 2, -2, -2)), 3, 3)
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._look_at(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._look_at(event.position())

    def _look_at(self, place: QPointF) -> None:
        overview, camera = self._sheet.picture.overview.camera, self._sheet.camera
        x, y = overview.to_plane(place.x() - MARGIN, place.y() - MARGIN)
        self._sheet.set_camera(replace(camera, x=x, y=y))


def _rect(rect: Rect) -> QRectF:
    return QRectF(QPointF(rect[0], rect[1]), QPointF(rect[2], rect[3]))
