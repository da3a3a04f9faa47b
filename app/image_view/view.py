"""One image alone: a visit from the grid, which stays where it was."""

from collections.abc import Callable
from pathlib import Path
from typing import Final, final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QWidget

from app.controls import fill_column
from app.image_view.bar import ImageBar
from app.image_view.canvas import ImageCanvas
from app.texts import tr

Key = Qt.Key
_ARROWS: Final = {Key.Key_Left: (-1, 0), Key.Key_Right: (1, 0), Key.Key_Up: (0, -1), Key.Key_Down: (0, 1)}


@final
class ImageView(QWidget):
    """An image fitted to the room, below a bar that says which one it is.

    Digits label here as in the grid, so actual size has the key Z.
    """

    left = Signal()  # Esc, Space, the cross or a double click: back to the grid
    step_requested = Signal(int)  # -1 or 1, the image before or after in the grid's order

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Image"))
        self.bar = ImageBar()
        self.canvas = ImageCanvas()
        column = fill_column(self, self.bar, self.canvas, spacing=0)
        column.setStretch(1, 1)
        self.bar.left.connect(self.left)
        self.bar.step_requested.connect(self.step_requested)
        self.bar.zoom_requested.connect(self.canvas.zoom)
        self.bar.fit_requested.connect(self.canvas.fit)
        self.bar.pixels_requested.connect(self.canvas.show_pixels)
        self.canvas.pages_counted.connect(self.bar.show_pages)
        self.canvas.zoom_changed.connect(self.bar.show_scale)
        self.canvas.double_clicked.connect(self.left)
        self._keys = self._key_table()

    def _key_table(self) -> dict[Key, Callable[[], None]]:
        canvas = self.canvas
        return {
            Key.Key_Escape: self.left.emit,
            Key.Key_Space: self.left.emit,
            Key.Key_PageUp: lambda: self.step_requested.emit(-1),
            Key.Key_PageDown: lambda: self.step_requested.emit(1),
            Key.Key_Plus: lambda: canvas.zoom(1),
            Key.Key_Equal: lambda: canvas.zoom(1),
            Key.Key_Minus: lambda: canvas.zoom(-1),
            Key.Key_0: canvas.fit,
            Key.Key_Z: lambda: canvas.show_pixels() if canvas.is_fitted else canvas.fit(),
        }

    @property
    def has_image(self) -> bool:
        return self.canvas.has_image

    @property
    def path(self) -> Path | None:
        return self.canvas.path

    def show_image(self, path: Path, *, place: int = 1, count: int = 1) -> None:
        self.setAccessibleDescription(path.name)
        self.bar.show_place(path.name, place, count)
        self.canvas.show_image(path)

    def stop(self) -> None:
        self.canvas.stop()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows move a zoomed image and else go on, Esc and Space go back, +, -, 0 and Z zoom."""
        key = Key(event.key())
        if key in _ARROWS:
            self._on_arrow(*_ARROWS[key])
        elif key in self._keys and not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._keys[key]()
        else:
            super().keyPressEvent(event)

    def _on_arrow(self, x: int, y: int) -> None:
        if self.canvas.can_move(x, y):
            self.canvas.move_by(x, y)
        else:
            self.step_requested.emit(x + y)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        self.setFocus()
