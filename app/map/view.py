"""The page of the map: bars, canvas, legend, and a placeholder while there is no map."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, final

import numpy as np
from PySide6.QtCore import QPoint, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QStackedWidget, QWidget

from app.controls import fill_column
from app.map.bar import ChosenBar, ViewBar
from app.map.canvas import MapCanvas, Tool
from app.map.hover import HoverCard
from app.map.keys import KEYS
from app.map.legend import Legend
from app.mirroring import placed
from app.placeholder import Placeholder, PlaceholderTexts
from app.status.notice import Notice
from app.texts import tr
from engine.file_parts import ImageSource

if TYPE_CHECKING:
    from app.images.thumbnails import Thumbnails

PAN = 60.0  # pixels per press of an arrow key
_AWAY = 12  # margin of the legend
# Pan of each arrow key: right, down.
_ARROWS = {
    Qt.Key.Key_Left: (PAN, 0.0),
    Qt.Key.Key_Right: (-PAN, 0.0),
    Qt.Key.Key_Up: (0.0, PAN),
    Qt.Key.Key_Down: (0.0, -PAN),
}


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
        self.canvas = MapCanvas(thumbnails, source_of)
        self.bar, self.chosen_bar = ViewBar(self.canvas), ChosenBar()
        self.notice = Notice(tone="")
        self.canvas.setAccessibleName(tr("Map of the images"))
        self.legend, self.hover = Legend(self.canvas), HoverCard(self.canvas, thumbnails)
        self.state = Placeholder()
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
        canvas, chosen = self.canvas, self.chosen_bar
        canvas.row_clicked.connect(self._on_clicked)
        canvas.row_opened.connect(lambda row: self.image_opened.emit(self.id_of(row)))
        canvas.row_hovered.connect(self._on_hovered)
        canvas.looked.connect(self.hover.hide)
        canvas.resized.connect(self._place_legend)
        chosen.label_wanted.connect(self.label_wanted)
        chosen.accept_wanted.connect(self.accept_wanted)
        chosen.grid_wanted.connect(self.grid_wanted)
        chosen.clear_wanted.connect(self.clear)
        self._acts: dict[str, Callable[[], object]] = {
            "lasso": self._switch_lasso,
            "larger": lambda: canvas.zoom(1),
            "smaller": lambda: canvas.zoom(-1),
            "fit": canvas.fit,
            "label": self.label_wanted.emit,
            "show_in_grid": self.grid_wanted.emit,
            "select_all": lambda: canvas.choose(canvas.scene.points.within(canvas.camera.seen)),
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

    def show_state(self, texts: PlaceholderTexts, *buttons: QWidget) -> None:
        self.state.show_texts(texts, *buttons)
        self.pages.setCurrentWidget(self.state)

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
        if self.canvas.cancel_outline():
            return True
        if self.canvas.chosen.any():
            self.clear()
            return True
        if self.canvas.tool is not Tool.MOVE:
            self.canvas.use(Tool.MOVE)
            return True
        return False

    def _switch_lasso(self) -> None:
        self.canvas.use(Tool.MOVE if self.canvas.tool is Tool.LASSO else Tool.LASSO)

    def _on_clicked(self, row: int) -> None:
        self.canvas.current = row
        self.canvas.update()
        self.image_clicked.emit(self.id_of(row))

    def _on_hovered(self, row: int) -> None:
        source = self._source_of(self.id_of(row)) if row >= 0 else None
        if source is None:
            self.hover.hide()
            return
        text = self._class_text_of(self.id_of(row))
        self.hover.show_image(source, text, self.canvas.point_of(row))

    def _place_legend(self) -> None:
        size = self.legend.sizeHint()
        corner = QPoint(_AWAY, self.canvas.height() - size.height() - _AWAY)
        place = placed(QRect(corner, size), self.canvas.rect())
        self.legend.setGeometry(place)
        left, top = float(place.x()), float(place.y())
        box = (left, top, left + place.width(), top + place.height())
        self.canvas.covered = (box,) if self.legend.rows else ()
