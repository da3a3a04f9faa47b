"""Widget that shows a plane through a camera; base of the graph, the map and the image view."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QEasingCurve, QEvent, QObject, QPointF, Qt, QVariantAnimation, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QNativeGestureEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from app.canvas.camera import Camera, Point

NOTCH = 120  # `QWheelEvent.angleDelta` of one notch
PIXEL_STEP = 1.004
"""Zoom factor per pixel of a touchpad. Chosen: 175 pixels enlarge to twice the size."""


def make_animation(parent: QObject, on_share: Callable[[float], None]) -> QVariantAnimation:
    """An animation that decelerates; `on_share` gets its progress from 0 to 1 in each frame."""
    animation = QVariantAnimation(parent)
    animation.setStartValue(0.0)
    animation.setEndValue(1.0)
    animation.setEasingCurve(QEasingCurve.Type.OutCubic)
    animation.valueChanged.connect(on_share)
    return animation


class PanZoomCanvas(QWidget):
    """Abstract canvas: the wheel, pinching and `zoom` zoom around a point, dragging pans.

    The middle button pans, and the left one while Space is held. A subclass handles other
    gestures in `on_press`, `on_move` and `on_release`.
    """

    looked = Signal()  # the camera has changed
    zoom_step = 1.25  # factor of a key or button
    notch_step = 1.25  # factor of a notch of the wheel

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.camera = self._from = self._goal = Camera()
        self.is_calm = True  # whether animations are off
        self.is_space_down = False
        self._has_panned = False  # since Space was pressed
        self._grabbed: Point | None = None  # point of the plane that follows the pointer
        self._animation = make_animation(self, self._on_frame)
        self.setMouseTracking(True)

    @property
    @abstractmethod
    def fitting(self) -> Camera:
        """The camera that shows all content."""

    @property
    @abstractmethod
    def scale_limits(self) -> tuple[float, float]:
        """The smallest and the largest scale."""

    # -- camera

    @property
    def is_moving(self) -> bool:
        """Whether an animation runs."""
        return self._animation.state() == QVariantAnimation.State.Running

    @property
    def goal(self) -> Camera:
        """The camera after the animation."""
        return self._goal if self.is_moving else self.camera

    def set_camera(self, camera: Camera) -> None:
        """Set the camera at once."""
        self._animation.stop()
        self._apply(camera)

    def animate_to(self, goal: Camera, length_ms: int) -> None:
        """Move the camera smoothly unless animations are off."""
        if self.is_calm:
            self.set_camera(goal)
            return
        self._animation.stop()
        self._from, self._goal = self.camera, goal
        self._animation.setDuration(length_ms)
        self._animation.start()

    def fit(self) -> None:
        self.set_camera(self.fitting)

    def pan(self, dx: float, dy: float) -> None:
        """Pan by logical pixels, also during an animation."""
        self._from, self._goal = self._from.moved(dx, dy), self._goal.moved(dx, dy)
        self._apply(self.camera.moved(dx, dy))

    def zoom(self, steps: float) -> None:
        """Zoom in by steps around the centre; negative zooms out."""
        self.pinch(self.zoom_step**steps)

    def pinch(self, factor: float, at: QPointF | None = None) -> None:
        """Zoom by a factor around a point of the view, by default its centre."""
        least, most = self.scale_limits
        scale = min(max(self.camera.scale * factor, least), most)
        self.set_camera(self.camera.zoomed(scale, self.point_or_centre(at)))

    def end_pinch(self) -> None:
        """Called when the fingers leave the touchpad."""

    def point_or_centre(self, at: QPointF | None) -> Point:
        place = QPointF(self.camera.width / 2, self.camera.height / 2) if at is None else at
        return place.x(), place.y()

    def _apply(self, camera: Camera) -> None:
        self.camera = camera
        self.looked.emit()
        self.update()

    def _on_frame(self, share: float) -> None:
        self._apply(self._from.towards(self._goal, share))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        width, height = max(1.0, self.width()), max(1.0, self.height())
        self.camera, self._from, self._goal = (
            replace(each, width=width, height=height)
            for each in (self.camera, self._from, self._goal)
        )

    # -- input

    def on_press(self, event: QMouseEvent) -> None:
        """Called for a press that does not pan."""

    def on_move(self, event: QMouseEvent) -> None:
        """Called for a movement that does not pan."""

    def on_release(self, event: QMouseEvent) -> None:
        """Called for a release after `on_press`."""

    def space_tapped(self) -> None:
        """Called when Space is released without panning."""

    def show_cursor(self) -> None:
        """Show the cursor while nothing is dragged."""
        if self.is_space_down:
            self.setCursor(Qt.CursorShape.OpenHandCursor)
        else:
            self.unsetCursor()

    def grab_plane(self, at: QPointF) -> None:
        """Let the point of the plane at `at` follow the pointer until the button is released."""
        self._grabbed = self.camera.to_plane(at.x(), at.y())
        self.setCursor(Qt.CursorShape.ClosedHandCursor)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        is_left = event.button() == Qt.MouseButton.LeftButton
        if event.button() == Qt.MouseButton.MiddleButton or (is_left and self.is_space_down):
            self.grab_plane(event.position())
        else:
            self.on_press(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._grabbed is None:
            self.on_move(event)
        if self._grabbed is not None:
            self._has_panned = True
            x, y = self.camera.to_view(*self._grabbed)
            self.pan(event.position().x() - x, event.position().y() - y)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        was_grabbed, self._grabbed = self._grabbed is not None, None
        if was_grabbed:
            self.show_cursor()
        else:
            self.on_release(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom at the pointer; pixel deltas without a scroll phase depend on the driver."""
        pixels = event.pixelDelta().y()
        if pixels and event.phase() != Qt.ScrollPhase.NoScrollPhase:
            factor = PIXEL_STEP**pixels
        else:
            factor = self.notch_step ** (event.angleDelta().y() / NOTCH)
        self.pinch(factor, event.position())
        event.accept()

    def event(self, event: QEvent) -> bool:
        """Handle pinch gestures."""
        if not isinstance(event, QNativeGestureEvent):
            return super().event(event)
        if event.gestureType() == Qt.NativeGestureType.ZoomNativeGesture:
            self.pinch(1 + event.value(), event.position())
        elif event.gestureType() == Qt.NativeGestureType.EndNativeGesture:
            self.end_pinch()
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() != Qt.Key.Key_Space:
            super().keyPressEvent(event)
        elif not event.isAutoRepeat():
            self.is_space_down, self._has_panned = True, False
            self.show_cursor()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if event.key() != Qt.Key.Key_Space:
            super().keyReleaseEvent(event)
        elif not event.isAutoRepeat():
            was_tapped = self.is_space_down and not self._has_panned
            self.is_space_down = False
            self.show_cursor()
            if was_tapped:
                self.space_tapped()
