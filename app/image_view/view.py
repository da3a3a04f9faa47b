"""One image alone: a visit from the grid, which stays where it was."""

import threading
from pathlib import Path
from typing import Final, final

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QImage, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from app.jobs.detached_job import leave
from app.theme.tokens import tokens

LARGEST_ZOOM: Final = 16.0
ZOOM_STEP: Final = 1.25
WHEEL_STEP: Final = 120
MARGIN: Final = 16
LARGEST_SIDE: Final = 6000
"""Pixels that the longer side of a picture keeps at least: more would fill the memory, and no screen shows them."""


@final
class ImageView(QWidget):
    """Shows an image fitted to the room; the wheel zooms around the pointer, dragging moves.

    Signals:
        left: Esc, Space or a double click: back to the grid.
        step_requested: -1 or 1, the image before or after in the grid's order.
    """

    left = Signal()
    step_requested = Signal(int)
    _decoded = Signal(object, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.tr("Image"))
        self._path: Path | None = None
        self._image = QImage()
        self.message = ""
        """Why there is no image; empty while it is read and once it is there."""
        self._zoom = 1.0
        self._offset = QPointF()
        self._dragged_from: QPointF | None = None
        self._threads: list[threading.Thread] = []
        self._posting = threading.Lock()
        self._is_stopped = False
        self._decoded.connect(self._on_decoded, Qt.ConnectionType.QueuedConnection)

    @property
    def has_image(self) -> bool:
        """Whether the image is shown already."""
        return not self._image.isNull()

    def show_image(self, path: Path) -> None:
        """Load and show an image; decoding runs on a thread of its own."""
        if path == self._path and self.has_image:
            return
        self._path, self._image, self.message = path, QImage(), ""
        self._zoom, self._offset = 1.0, QPointF()
        self.setAccessibleDescription(path.name)
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        thread = threading.Thread(target=self._decode, args=(path,), name="image-view", daemon=True)
        self._threads.append(thread)
        thread.start()
        self.update()

    def stop(self) -> None:
        """End before the program ends; a thread that waits for a slow disk is left behind."""
        with self._posting:
            self._is_stopped = True
        leave(self._threads)
        self._threads.clear()

    def _decode(self, path: Path) -> None:
        found = decode(path)
        with self._posting:
            if not self._is_stopped:
                self._decoded.emit(path, found)

    def _on_decoded(self, path: Path, found: "QImage | str") -> None:
        if path != self._path:
            return
        if isinstance(found, QImage):
            self._image = found
        else:
            self.message = found
        self.update()

    # -- painting

    def target(self) -> QRectF:
        """Where the image lies, zoomed and moved."""
        room = QRectF(self.rect()).adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)
        ratio = self.devicePixelRatioF()
        width, height = self._image.width() / ratio, self._image.height() / ratio
        scale = min(room.width() / max(1.0, width), room.height() / max(1.0, height), 4.0) * self._zoom
        centre = room.center() + self._offset
        return QRectF(centre.x() - width * scale / 2, centre.y() - height * scale / 2, width * scale, height * scale)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the image, or why there is none."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(tokens().colours.sunken))
        if self.has_image:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, self._zoom < LARGEST_ZOOM / 4)
            painter.drawImage(self.target(), self._image)
        elif self.message:
            painter.setPen(QColor(tokens().colours.text_secondary))
            room = self.rect().adjusted(48, 48, -48, -48)
            painter.drawText(room, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self.message)

    # -- input

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows go on, Esc and Space go back, + and - zoom."""
        key = event.key()
        if key in {Qt.Key.Key_Escape, Qt.Key.Key_Space}:
            self.left.emit()
        elif key in {Qt.Key.Key_Left, Qt.Key.Key_Up, Qt.Key.Key_PageUp}:
            self.step_requested.emit(-1)
        elif key in {Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_PageDown}:
            self.step_requested.emit(1)
        elif key in {Qt.Key.Key_Plus, Qt.Key.Key_Minus}:
            step = ZOOM_STEP if key == Qt.Key.Key_Plus else 1 / ZOOM_STEP
            self._zoom_by(step, QPointF(self.rect().center()))
        else:
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom around the pointer."""
        self._zoom_by(ZOOM_STEP ** (event.angleDelta().y() / WHEEL_STEP), event.position())

    def _zoom_by(self, factor: float, around: QPointF) -> None:
        before = self._zoom
        self._zoom = max(1.0, min(LARGEST_ZOOM, self._zoom * factor))
        centre = QPointF(self.rect().center()) + self._offset
        self._offset += (around - centre) * (1 - self._zoom / before)
        if self._zoom == 1.0:
            self._offset = QPointF()
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin to move a zoomed image."""
        self.setFocus()
        if self._zoom > 1:
            self._dragged_from = event.position() - self._offset

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move a zoomed image."""
        if self._dragged_from is not None:
            self._offset = event.position() - self._dragged_from
            self.update()

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:
        """Let go."""
        self._dragged_from = None

    def mouseDoubleClickEvent(self, _event: QMouseEvent) -> None:
        """Go back to the grid."""
        self.left.emit()


def decode(path: Path) -> "QImage | str":
    """Decode an image on the calling thread; a sentence when it cannot be read."""
    from app.images.pixels import image_of
    from engine.errors import ProtoleafError
    from engine.images.decode import read_rgb

    try:
        pixels = read_rgb(path, longest_side=LARGEST_SIDE)
    except (ProtoleafError, OSError) as error:
        return str(error)
    return image_of(pixels)
