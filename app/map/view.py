"""The page of the map: bars, canvas, legend, and a placeholder while there is no map."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, final

import numpy as np
from PySide6.QtCore import QPoint, QPointF, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QLabel, QStackedWidget, QVBoxLayout, QWidget

from app.controls import fill_column, make_button, make_label
from app.map.bar import ChosenBar, ViewBar
from app.map.canvas import ZOOM_STEP, MapCanvas
from app.map.hover import HoverCard
from app.map.keys import KEYS
from app.map.legend import Legend
from app.map.pointer import MapPointer, Tool
from app.mirroring import placed
from app.progress_bar import fill_bar, make_bar
from app.status.notice import Notice
from app.texts import tr
from app.theme.icons import icon_pixmap
from app.wording import progress_facts
from engine.file_parts import ImageSource

if TYPE_CHECKING:
    from app.images.thumbnails import Thumbnails
    from engine.events import Progress

ICON_SIDE: Final = 48  # of the placeholder
NARROWEST: Final = 280  # least width of its text
PAN: Final = 60.0  # pixels per press of an arrow key
_AWAY: Final = 12  # margin of the legend
# Pan of each arrow key: right, down.
_ARROWS: Final = {
    Qt.Key.Key_Left: (PAN, 0.0),
    Qt.Key.Key_Right: (-PAN, 0.0),
    Qt.Key.Key_Up: (0.0, PAN),
    Qt.Key.Key_Down: (0.0, -PAN),
}


@final
class MapState(QWidget):
    """Placeholder for the map: a reason, or the progress."""

    def __init__(self) -> None:
        super().__init__()
        self._icon, self.title = QLabel(), make_label("", "heading", wraps=True)
        self.text = make_label("", "secondary", wraps=True)
        self.bar = make_bar()
        self.facts = make_label("", "caption")
        self._act: Callable[[], None] = lambda: None
        self.button = make_button("", self._on_clicked)
        for label in (self._icon, self.title, self.text, self.facts):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.text.setMinimumWidth(NARROWEST)
        self.bar.setFixedWidth(NARROWEST)
        column = QVBoxLayout(self)
        column.setSpacing(12)
        column.addStretch(2)
        for label in (self._icon, self.title, self.text):
            column.addWidget(label)
        narrow: tuple[QWidget, ...] = (self.bar, self.facts, self.button)
        for part in narrow:
            column.addWidget(part, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)

    def show_words(
        self, title: str, text: str, button: str = "", act: Callable[[], None] = lambda: None
    ) -> None:
        self._icon.setPixmap(
            icon_pixmap("map", ICON_SIDE, colour="text_disabled", ratio=self.devicePixelRatioF())
        )
        self.title.setText(title)
        self.text.setText(text)
        self.button.setText(button)
        self.button.setVisible(bool(button))
        self._act = act
        self.bar.hide()
        self.facts.hide()

    def _on_clicked(self) -> None:
        self._act()

    def show_progress(self, progress: Progress | None) -> None:
        self.bar.show()
        self.facts.show()
        if progress is None:
            self.bar.setRange(0, 0)
            self.facts.setText("")
        else:
            fill_bar(self.bar, progress)
            self.facts.setText(progress_facts(progress))


@final
class MapPage(QWidget):
    """The map page."""

    label_wanted = Signal()
    accept_wanted = Signal()
    grid_wanted = Signal()
    image_clicked = Signal(int)  # id
    image_opened = Signal(int)

    def __init__(
        self,
        thumbnails: Thumbnails,
        source_of: Callable[[int], ImageSource | None],
        class_text_of: Callable[[int], str],
    ) -> None:
        super().__init__()
        self._source_of, self._class_text_of = source_of, class_text_of
        self.setAccessibleName(tr("Map"))
        self.bar, self.chosen_bar, self.notice = ViewBar(), ChosenBar(), Notice(tone="")
        self.canvas = MapCanvas(thumbnails, source_of)
        self.canvas.setAccessibleName(tr("Map of the images"))
        self.pointer = MapPointer(self.canvas)
        self.legend, self.hover = Legend(self.canvas), HoverCard(self.canvas, thumbnails)
        self.state = MapState()
        self.setFocusProxy(self.canvas)
        self._map = QWidget()
        below = fill_column(
            self._map, self.bar, self.notice, self.canvas, self.chosen_bar, spacing=0
        )
        below.setStretch(2, 1)
        self.pages = QStackedWidget()
        self.pages.addWidget(self.state)
        self.pages.addWidget(self._map)
        fill_column(self, self.pages, spacing=0)
        self._connect()

    def _connect(self) -> None:
        canvas, pointer, bar, chosen = self.canvas, self.pointer, self.bar, self.chosen_bar
        bar.options_chosen.connect(self._show_options)
        bar.fit_wanted.connect(canvas.fit)
        bar.tool_chosen.connect(lambda tool: pointer.use(Tool(tool)))
        pointer.tool_changed.connect(bar.show_tool)
        pointer.clicked.connect(self._on_clicked)
        pointer.opened.connect(lambda row: self.image_opened.emit(self.id_of(row)))
        pointer.hovered.connect(self._on_hovered)
        canvas.looked.connect(self.hover.hide)
        canvas.resized.connect(self._place_legend)
        chosen.label_wanted.connect(self.label_wanted)
        chosen.accept_wanted.connect(self.accept_wanted)
        chosen.grid_wanted.connect(self.grid_wanted)
        chosen.clear_wanted.connect(self.clear)
        self._acts: dict[str, Callable[[], object]] = {
            "lasso": self._switch_lasso,
            "larger": lambda: canvas.zoom(ZOOM_STEP),
            "smaller": lambda: canvas.zoom(1 / ZOOM_STEP),
            "fit": canvas.fit,
            "label": self.label_wanted.emit,
            "show_in_grid": self.grid_wanted.emit,
            "select_all": lambda: canvas.choose(canvas.scene.points.within(canvas.seen)),
        }

    @property
    def is_map_shown(self) -> bool:
        return self.pages.currentWidget() is self._map

    def show_map(self) -> None:
        """Show the map instead of the placeholder; the focus moves along if it was on the page."""
        focused = QApplication.focusWidget()
        self.pages.setCurrentWidget(self._map)
        if focused is not None and (focused is self or self.isAncestorOf(focused)):
            self.canvas.setFocus()

    def show_state(self) -> MapState:
        self.pages.setCurrentWidget(self.state)
        return self.state

    def id_of(self, row: int) -> int:
        return int(self.canvas.scene.points.image_ids[row])

    def show_legend(self, rows: Sequence[tuple[str, str, int]]) -> None:
        self.legend.show_rows(rows)
        self._place_legend()

    def clear(self) -> None:
        """Clear the selection."""
        self.canvas.choose(np.zeros(len(self.canvas.scene.points), dtype=bool))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle the keys of the page.

        Arrow keys pan; Esc cancels a lasso, then clears the selection, then resets the tool.
        """
        key = Qt.Key(event.key())
        if not self.is_map_shown:
            super().keyPressEvent(event)
        elif key == Qt.Key.Key_Escape and self._has_something_to_drop():
            event.accept()
        elif key in _ARROWS and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            self.canvas.pan(*_ARROWS[key])
        elif not KEYS.press(event, self._acts):
            super().keyPressEvent(event)

    def _has_something_to_drop(self) -> bool:
        if self.pointer.give_up():
            return True
        if self.canvas.chosen.any():
            self.clear()
            return True
        if self.pointer.tool is not Tool.MOVE:
            self.pointer.use(Tool.MOVE)
            return True
        return False

    def _switch_lasso(self) -> None:
        self.pointer.use(Tool.MOVE if self.pointer.tool is Tool.LASSO else Tool.LASSO)

    def _show_options(self) -> None:
        bar = self.bar
        bar.edges.setEnabled(bar.prototypes.isChecked())
        self.canvas.show_options(
            names=bar.names.isChecked(),
            prototypes=bar.prototypes.isChecked(),
            edges=bar.edges.isChecked(),
        )

    def _on_clicked(self, row: int) -> None:
        self.canvas.current = row
        self.canvas.update()
        self.image_clicked.emit(self.id_of(row))

    def _on_hovered(self, row: int) -> None:
        source = self._source_of(self.id_of(row)) if row >= 0 else None
        if source is None:
            self.hover.hide()
            return
        at: QPointF = self.canvas.point_of(*self.canvas.scene.points.places[row].tolist())
        self.hover.show_image(source, self._class_text_of(self.id_of(row)), at)

    def _place_legend(self) -> None:
        size = self.legend.sizeHint()
        corner = QPoint(_AWAY, self.canvas.height() - size.height() - _AWAY)
        place = placed(QRect(corner, size), self.canvas.rect())
        self.legend.setGeometry(place)
        left, top = float(place.x()), float(place.y())
        box = (left, top, left + place.width(), top + place.height())
        self.canvas.covered = (box,) if self.legend.rows else ()
