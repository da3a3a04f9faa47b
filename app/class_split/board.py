"""Pictures of one side of a split: a click, a box drawn around some, or Space takes them to the other side."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, final

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QApplication, QSizePolicy, QWidget

from app.dragging import paint_rubber_band
from app.images.squares import RADIUS, paint_square
from app.images.thumbnails import Thumbnails
from app.texts import tr
from app.theme.tokens import tokens

SIDE: Final = 72  # of a picture, in logical pixels: five kinds of daisy can be told apart
GAP: Final = 6  # between pictures, in logical pixels
FRAME: Final = 2  # width of the line around what is touched or has the keyboard
STEPS: Final = {Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Up: (0, -1), Qt.Key.Key_Down: (0, 1)}


@final
class PictureBoard(QWidget):
    """Square pictures in rows."""

    moved = Signal(tuple)  # ids of the images that go to the other side

    def __init__(self, thumbnails: Thumbnails, name: str) -> None:
        super().__init__()
        self._thumbnails = thumbnails
        self._images: Sequence[tuple[int, Path]] = ()
        self._paths: frozenset[Path] = frozenset()
        self._current = 0
        self._pressed: QPoint | None = None
        self._pointer = QPoint()
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(SIDE)
        thumbnails.ready.connect(self._on_ready)

    def show_images(self, images: Sequence[tuple[int, Path]]) -> None:
        self._images, self._paths = tuple(images), frozenset(path for _, path in images)
        self._current = max(0, min(self._current, len(images) - 1))
        self.setFixedHeight(self._height(self.width()))
        self.update()

    @property
    def image_ids(self) -> tuple[int, ...]:
        return tuple(image_id for image_id, _ in self._images)

    def rect_of(self, place: int) -> QRect:
        """Where the picture at a place is."""
        row, column = divmod(place, self._columns(self.width()))
        return QRect(column * (SIDE + GAP), row * (SIDE + GAP), SIDE, SIDE)

    def _on_ready(self, path: Path) -> None:
        if path in self._paths:
            self.update()

    # -- room

    def sizeHint(self) -> QSize:
        return QSize(4 * (SIDE + GAP), self._height(self.width()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.setFixedHeight(self._height(event.size().width()))

    def _columns(self, width: int) -> int:
        return max(1, (width + GAP) // (SIDE + GAP))

    def _height(self, width: int) -> int:
        rows = max(1, -(-len(self._images) // self._columns(width)))
        return rows * (SIDE + GAP) - GAP

    # -- in the hand

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed = self._pointer = event.position().toPoint()
            event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed is not None:
            self._pointer = event.position().toPoint()
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Take what was clicked, or what the box touches, to the other side."""
        if self._pressed is None or event.button() != Qt.MouseButton.LeftButton:
            return
        touched = self._touched()
        self._pressed = None
        self.update()
        if touched:
            self.moved.emit(tuple(self._images[place][0] for place in touched))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in STEPS and self._images:
            across, down = STEPS[key]
            step = across + down * self._columns(self.width())
            self._current = max(0, min(len(self._images) - 1, self._current + step))
            self.update()
        elif key == Qt.Key.Key_Space and self._images:
            self.moved.emit((self._images[self._current][0],))
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    @property
    def _box(self) -> QRect | None:
        """The box that is drawn; None as long as it may be a click."""
        if self._pressed is None:
            return None
        is_click = (self._pointer - self._pressed).manhattanLength() < QApplication.startDragDistance()
        return None if is_click else QRect(self._pressed, self._pointer).normalized()

    def _touched(self) -> list[int]:
        box = self._box
        if box is None:
            return [place for place in range(len(self._images)) if self.rect_of(place).contains(self._pointer)]
        return [place for place in range(len(self._images)) if self.rect_of(place).intersects(box)]

    # -- the look

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the pictures; frame what would go, and what the keys work on."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        box = self._box
        framed = set(self._touched()) if box is not None else set[int]()
        if self.hasFocus() and self._pressed is None:
            framed.add(self._current)
        for place, (_, path) in enumerate(self._images):
            rect = self.rect_of(place)
            paint_square(painter, rect, self._thumbnails.pixmap(path, SIDE, self.devicePixelRatioF()))
            if place in framed:
                painter.setPen(QPen(QColor(tokens().colours.accent), FRAME))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(QRectF(rect).adjusted(1, 1, -1, -1), RADIUS - 1, RADIUS - 1)
        if not self._images:
            self._paint_well(painter)
        if box is not None:
            paint_rubber_band(painter, box)
        painter.end()

    def _paint_well(self, painter: QPainter) -> None:
        """Where pictures would be: a side without any."""
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens().colours.sunken))
        painter.drawRoundedRect(QRectF(self.rect()), RADIUS, RADIUS)
        painter.setPen(QColor(tokens().colours.text_muted))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, tr("No images yet"))
