"""A widget that shows one image fitted, zoomed, panned or rotated; decodes it on a thread."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from math import isclose
from pathlib import Path
from typing import final

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt, Signal, SignalInstance
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from app.canvas.camera import Camera
from app.canvas.canvas import PanZoomCanvas
from app.image_view.box_layer import BoxLayer, ShownBox
from app.image_view.preview_mark import mark_as_preview, paint_preview_mark
from app.image_view.shared_view import FITTED, SharedView
from app.jobs.background_thread import leave
from app.signal_types import either
from app.theme.tokens import tokens
from app.wording import sentence, short_reason
from engine.file_parts import BoundingBox, ImageSource, file_part

LARGEST_ZOOM = 16.0  # times the fitted size
LARGEST_FIT = 4.0  # screen pixels per pixel of a tiny image
NOTCH_STEP = 1.1
"""Zoom factor of a wheel notch. Chosen: three notches enlarge by a third, seven double the size."""
MARGIN = 16  # logical pixels around a fitted image
PAN_SHARE = 0.2  # of the viewport per press of an arrow key
LONGEST_PAGE = 3000
"""Longer side in pixels at which a page is rendered. Chosen: exceeds screens, renders fast."""
LARGEST_SIDE = 6000
"""Longer side in pixels to which pictures are reduced, at least: saves memory, exceeds screens."""


@final
class ImageCanvas(PanZoomCanvas):
    """Image canvas, with the boxes of the image."""

    notch_step = NOTCH_STEP
    view_changed = Signal(SharedView)  # zoomed or panned by the user
    # Screen pixels per image pixel; 0.0 without an image.
    zoom_changed = Signal(float)
    # Number of pages of the file whose first page is shown, once it is known.
    pages_counted = Signal(int)
    double_clicked = Signal()
    box_chosen = Signal(int)  # image id of a clicked box; -1 for a click outside all boxes
    box_drawn = Signal(BoundingBox)
    # Image id of a moved or resized box, with the new box.
    box_changed = Signal(int, BoundingBox)
    _decoded = Signal(ImageSource, either(QImage | str))
    _counted = Signal(ImageSource, int)

    def __init__(
        self,
        parent: QWidget | None = None,
        *,
        longest_side: int = LARGEST_SIDE,
        margin: int = MARGIN,
    ) -> None:
        super().__init__(parent)
        # The whole picture, even if one of its boxes is shown.
        self.source: ImageSource | None = None
        self._longest_side, self._margin = longest_side, margin
        self._view = FITTED
        self.message = ""  # error text; "" while decoding and on success
        self._image = QImage()
        # Clockwise quarter turns of images that were rotated here.
        self._turns: dict[ImageSource, int] = {}
        self._threads: list[threading.Thread] = []
        self._posting = threading.Lock()
        self._is_stopped = False
        self.boxes = BoxLayer(self.target, lambda: self.turns)
        self._decoded.connect(self._on_decoded, Qt.ConnectionType.QueuedConnection)
        self._counted.connect(self._on_counted, Qt.ConnectionType.QueuedConnection)

    @property
    def has_image(self) -> bool:
        return not self._image.isNull()

    def show_image(self, image: ImageSource | Path) -> None:
        """Load and show the picture of an image or box; decoding runs on a thread."""
        source = picture_of(image)
        if not self.boxes.can_edit:
            self._show_own_box(image)
        if source == self.source and self.has_image:
            return
        self.source, self._image, self.message = source, QImage(), ""
        self._view = FITTED
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        thread = threading.Thread(
            target=self._decode, args=(source,), name="image-view", daemon=True
        )
        self._threads.append(thread)
        thread.start()
        self.zoom_changed.emit(0.0)
        self.update()

    def _show_own_box(self, image: ImageSource | Path) -> None:
        """Mark the box of the image itself."""
        box = None if isinstance(image, Path) else file_part(image.part).box
        self.boxes.boxes = () if box is None else (ShownBox(-1, box, is_labelled=True),)
        self.update()

    def show_boxes(self, boxes: Sequence[ShownBox], current: int | None, *, can_edit: bool) -> None:
        """Show the boxes of the picture; `current` may be edited."""
        self.boxes.boxes, self.boxes.current, self.boxes.can_edit = boxes, current, can_edit
        self.update()

    def stop(self) -> None:
        """Stop before the program exits; a thread blocked by a slow disk is left running."""
        self.abandon()
        leave(self._threads)
        self._threads.clear()

    def abandon(self) -> None:
        """Cancel decoding without waiting, before the canvas is deleted."""
        with self._posting:
            self._is_stopped = True

    def _decode(self, source: ImageSource) -> None:
        from engine.images.photo_facts import page_count

        self._post(self._decoded, source, decode(source, self._longest_side))
        # Counting thousands of pages on a slow share takes long, so it runs after decoding.
        self._post(self._counted, source, page_count(source.path))

    def _post(self, signal: SignalInstance, source: ImageSource, found: object) -> None:
        with self._posting:
            if not self._is_stopped:
                signal.emit(source, found)

    def _on_counted(self, source: ImageSource, pages: int) -> None:
        if source == self.source:
            self.pages_counted.emit(pages)

    def _on_decoded(self, source: ImageSource, found: QImage | str) -> None:
        if source != self.source:
            return
        if isinstance(found, QImage):
            self._image = found
            self._follow_view()
        else:
            self.message = found
            self.update()

    # -- camera, in pixels of the rotated picture

    @property
    def scale(self) -> float:
        """Screen pixels per image pixel; 0.0 without an image."""
        return self.camera.scale * self.devicePixelRatioF() if self.has_image else 0.0

    @property
    def fitting(self) -> Camera:
        size, ratio = self._shown_size(), self.devicePixelRatioF()
        across = self._room().width() * ratio / max(1.0, size.width())
        along = self._room().height() * ratio / max(1.0, size.height())
        scale = max(1e-3, min(across, along, LARGEST_FIT)) / ratio
        return self.camera.centred((0.0, 0.0, size.width(), size.height()), scale)

    @property
    def scale_limits(self) -> tuple[float, float]:
        fitted, actual = self.fitting.scale, 1 / self.devicePixelRatioF()
        return min(fitted, actual), max(LARGEST_ZOOM * fitted, actual)

    @property
    def _zoom(self) -> float:
        """Scale in multiples of the fitted one."""
        return self.camera.scale / self.fitting.scale

    @property
    def is_fitted(self) -> bool:
        return isclose(self._zoom, 1.0)

    def show_pixels(self) -> None:
        """Show the image at actual size, one image pixel per screen pixel."""
        if self.has_image:
            self.pinch(1 / self.scale)

    def set_camera(self, camera: Camera) -> None:
        if self.has_image:
            self._set_within(camera)
            self._share_view()
            self.zoom_changed.emit(self.scale)

    def pan(self, dx: float, dy: float) -> None:
        self._set_within(self.camera.moved(dx, dy))
        self._share_view()

    def _set_within(self, camera: Camera) -> None:
        """Set the camera so that no part of the view is empty unnecessarily."""
        size, room = self._shown_size(), self._room().size() / camera.scale
        half = QSizeF(size - room).expandedTo(QSizeF(0, 0)) / 2
        x = min(max(camera.x, size.width() / 2 - half.width()), size.width() / 2 + half.width())
        y = min(max(camera.y, size.height() / 2 - half.height()), size.height() / 2 + half.height())
        super().set_camera(replace(camera, x=x, y=y))

    # -- the same view in several canvases

    @property
    def view(self) -> SharedView:
        """The visible part; during decoding, the part that will be visible."""
        return self._view

    def show_view(self, view: SharedView) -> None:
        """Show the same part as another canvas, as far as possible."""
        self._view = view
        self._follow_view()

    def _follow_view(self) -> None:
        if self.has_image:
            size, (least, most) = self._shown_size(), self.scale_limits
            scale = min(max(self.fitting.scale * self._view.zoom, least), most)
            x, y = self._view.x * size.width(), self._view.y * size.height()
            self._set_within(replace(self.camera, x=x, y=y, scale=scale))
            self.zoom_changed.emit(self.scale)

    def _share_view(self) -> None:
        """Store and emit the visible part; an axis that is wholly visible keeps its position."""
        size, hidden = self._shown_size(), self._hidden()
        x = self.camera.x / size.width() if hidden.width() > 0 else self._view.x
        y = self.camera.y / size.height() if hidden.height() > 0 else self._view.y
        self._view = FITTED if self.is_fitted else SharedView(self._zoom, x, y)
        self.view_changed.emit(self._view)

    # -- rotation

    @property
    def turns(self) -> int:
        """Clockwise quarter turns at which the image is shown, 0 to 3; the file is not changed."""
        return 0 if self.source is None else self._turns.get(self.source, 0)

    def rotate(self, quarters: int) -> None:
        """Rotate clockwise by quarter turns; negative for counter-clockwise."""
        if self.source is not None and self.has_image:
            self._turns[self.source] = (self.turns + quarters) % 4
            self.fit()

    def _shown_size(self) -> QSizeF:
        size = QSizeF(self._image.size())
        return size.transposed() if self.turns % 2 else size

    # -- panning by keys

    def can_move(self, x: int, y: int) -> bool:
        """Whether the image can be panned along an axis; each of -1, 0 and 1."""
        hidden = self._hidden()
        return (x != 0 and hidden.width() > 0) or (y != 0 and hidden.height() > 0)

    def move_by(self, x: int, y: int) -> None:
        """Pan right (1, 0), down (0, 1) and so on, by a share of the viewport."""
        self.pan(-x * self.width() * PAN_SHARE, -y * self.height() * PAN_SHARE)

    def _hidden(self) -> QSizeF:
        """Width and height of the image that exceed the viewport."""
        return (self.target().size() - self._room().size()).expandedTo(QSizeF(0, 0))

    # -- painting

    def _room(self) -> QRectF:
        return QRectF(self.rect()).adjusted(
            self._margin, self._margin, -self._margin, -self._margin
        )

    def target(self) -> QRectF:
        corner = QPointF(*self.camera.to_view(0, 0))
        return QRectF(corner, self._shown_size() * self.camera.scale)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(tokens().colours.sunken))
        if self.has_image:
            is_smooth = self._zoom < LARGEST_ZOOM / 4
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, is_smooth)
            target = self.target()
            size = target.size().transposed() if self.turns % 2 else target.size()
            painter.translate(target.center())
            painter.rotate(90 * self.turns)
            painter.drawImage(
                QRectF(QPointF(-size.width() / 2, -size.height() / 2), size), self._image
            )
            painter.resetTransform()
            self.boxes.paint(painter)
            paint_preview_mark(painter, self._image, target & QRectF(self.rect()))
        elif self.message:
            painter.setPen(QColor(tokens().colours.text_secondary))
            room = self.rect().adjusted(48, 48, -48, -48)
            painter.drawText(
                room, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self.message
            )

    # -- input

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit again; the centre of the view stays as far as possible."""
        super().resizeEvent(event)
        self._follow_view()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        event.ignore()  # the parent view takes the keyboard focus

    def on_press(self, event: QMouseEvent) -> None:
        """Draw, move or resize a box, else drag a zoomed image."""
        if event.button() != Qt.MouseButton.LeftButton or not self.has_image:
            return
        before, at = self.boxes.current, event.position()
        if self.boxes.press(at, draws=self._draws(event), is_above=_has_shift(event)):
            self.update()
            if self.boxes.current not in {before, None}:
                self.box_chosen.emit(self.boxes.current)
        elif self.can_move(1, 1):
            self.grab_plane(at)

    def on_move(self, event: QMouseEvent) -> None:
        if self.boxes.move(event.position()):
            self.update()
        if self.boxes.is_dragging:
            return
        shape = None
        if self.has_image:
            shape = self.boxes.cursor(event.position(), draws=self._draws(event))
        self.unsetCursor() if shape is None else self.setCursor(shape)

    def on_release(self, event: QMouseEvent) -> None:
        was_dragging, found = self.boxes.is_dragging, self.boxes.release()
        if found is not None:
            image_id, box = found
            self.box_drawn.emit(box) if image_id is None else self.box_changed.emit(image_id, box)
        elif was_dragging and self.boxes.at(event.position()) is None:
            self.box_chosen.emit(-1)
        self.unsetCursor()
        self.update()

    def _draws(self, event: QMouseEvent) -> bool:
        """Whether a drag on the background draws a box instead of panning; Shift forces it."""
        return not self.can_move(1, 1) or _has_shift(event)

    def mouseDoubleClickEvent(self, _event: QMouseEvent) -> None:
        self.double_clicked.emit()


def _has_shift(event: QMouseEvent) -> bool:
    return bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)


def picture_of(image: ImageSource | Path) -> ImageSource:
    """The whole picture of an image or of a box in it."""
    if isinstance(image, Path):
        return ImageSource(image)
    return ImageSource(image.path, file_part(image.part).picture.text)


def decode(source: ImageSource, longest_side: int = LARGEST_SIDE) -> QImage | str:
    """Decode a picture on the calling thread; an error text if it cannot be read."""
    from app.images.pixels import image_of
    from engine.errors import ProtoleafError
    from engine.images.decode import read_rgb
    from engine.images.parts_of_file import open_file_parts
    from engine.images.reduced_photo import is_reduced

    try:
        if source.part:
            with open_file_parts(source.path) as opened:
                pixels = opened.rgb(
                    file_part(source.part), longest_side=min(longest_side, LONGEST_PAGE)
                )
        else:
            pixels = read_rgb(source.path, longest_side=longest_side)
    except (ProtoleafError, OSError) as error:
        return sentence(short_reason(str(error), source.path.name))
    image = image_of(pixels)
    if not source.part and is_reduced(source.path):
        mark_as_preview(image)
    return image
