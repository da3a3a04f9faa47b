"""Paints the drawing: cached tiles, placeholders for missing ones, thumbnails, and animation."""

import time
from collections.abc import Callable
from typing import final

from PySide6.QtCore import (
    QObject,
    QPointF,
    QRectF,
    QSize,
    QSizeF,
    Qt,
    QTimer,
    QVariantAnimation,
    Signal,
)
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPixmap

from app.canvas.camera import Camera
from app.canvas.canvas import make_animation
from app.graph_view.drawing import CARD_HEIGHT, CARD_WIDTH, Drawing, empty_drawing, moved_along
from app.graph_view.drawing_painter import DrawingPainter, Looks, Weights
from app.graph_view.far_names import FarNames
from app.graph_view.tiles import Tiles
from app.images.thumbnails import Thumbnails
from app.theme.tokens import Tokens, tokens
from engine.arrays import Doubles
from engine.file_parts import ImageSource

MOVE_MS = 200  # duration of the animation
MOST_MOVED = 240  # classes that are animated, at most; more could not be followed
WIDEST = 200  # of the picture, in logical pixels
HIGHEST = 130  # of the picture, in logical pixels
_AT_ONCE = 250  # edges or classes painted between two checks of the time
_SMALLEST = 1.5  # side of a class, in logical pixels
# Time per frame for missing tiles: a fifth, so that two of them do not delay a frame.
SLICE_S = 0.003
NEWS_S = 0.016  # tiles finished within a frame are shown together
REPAINT_MS = 60  # debounce of arriving thumbnails


@final
class Motion(QObject):
    """Animates the positions of classes; `drawing` has the current ones."""

    moved = Signal()
    arrived = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.drawing = self._before = self._after = empty_drawing()
        self._animation = make_animation(self, self._on_frame)
        self._animation.setDuration(MOVE_MS)
        self._animation.finished.connect(self._on_finished)

    @property
    def is_going_on(self) -> bool:
        return self._animation.state() == QVariantAnimation.State.Running

    def go(self, after: Drawing, shift: tuple[float, float], *, is_calm: bool) -> None:
        """Start an animation.

        Args:
            shift: translation of the whole drawing, which is not animated.
        """
        before = self.drawing.shifted(*shift)
        self._animation.stop()
        self._before, self._after = before, after
        if is_calm or not len(before) or max(len(before), len(after)) > MOST_MOVED:
            self._on_finished()
        else:
            self._animation.start()
            self._on_frame(0.0)

    def _on_frame(self, share: float) -> None:
        self.drawing = moved_along(self._before, self._after, share)
        self.moved.emit()

    def _on_finished(self) -> None:
        self.drawing = self._after
        self.arrived.emit()


@final
class Overview:
    """Picture of the minimap, painted incrementally."""

    def __init__(self, looks: Looks) -> None:
        self._looks = looks
        self._drawing = empty_drawing()
        self._done = 0
        self.picture = QPixmap()  # painted so far
        self.camera = Camera()  # shows all of the drawing in the picture

    @property
    def is_complete(self) -> bool:
        return self._done >= len(self._drawing.parents) + len(self._drawing)

    def show(self, drawing: Drawing, ratio: float) -> None:
        self._drawing, self._done = drawing, 0
        left, top, right, bottom = drawing.bounds
        scale = min(WIDEST / (right - left), HIGHEST / (bottom - top))
        size = QSizeF(right - left, bottom - top) * scale
        self.camera = Camera(width=size.width(), height=size.height()).centred(
            drawing.bounds, scale
        )
        self.picture = QPixmap((size * ratio).toSize().expandedTo(QSize(1, 1)))
        self.picture.setDevicePixelRatio(ratio)
        self.picture.fill(QColor(tokens().colours.window))

    def make_some(self, budget_s: float) -> None:
        """Continue painting for about `budget_s`."""
        if self.is_complete:
            return
        end, edges = time.perf_counter() + budget_s, len(self._drawing.parents)
        painter = QPainter(self.picture)
        while not self.is_complete:
            first, last = self._done, self._done + _AT_ONCE
            self._done = min(last, edges if first < edges else edges + len(self._drawing))
            if first < edges:
                self._paint_edges(painter, range(first, self._done))
            else:
                self._paint_classes(painter, range(first - edges, self._done - edges))
            if time.perf_counter() >= end:
                break
        painter.end()

    def _place(self, point: Doubles) -> QPointF:
        return QPointF(*self.camera.to_view(*point.tolist()))

    def _paint_edges(self, painter: QPainter, edges: range) -> None:
        path, routes = QPainterPath(), self._drawing.routes
        for edge in edges:
            path.moveTo(self._place(routes[edge][0]))
            path.lineTo(self._place(routes[edge][-1]))
        painter.setPen(QPen(QColor(tokens().colours.hairline), 0.5))
        painter.drawPath(path)

    def _paint_classes(self, painter: QPainter, rows: range) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        width = max(_SMALLEST, CARD_WIDTH * self.camera.scale)
        height = max(_SMALLEST, CARD_HEIGHT * self.camera.scale)
        for row in rows:
            centre = self._place(self._drawing.centres[row])
            look = self._looks(int(self._drawing.ids[row]))
            place = QRectF(centre.x() - width / 2, centre.y() - height / 2, width, height)
            painter.setBrush(look.tint)
            if width > 2 * _SMALLEST:
                painter.drawRoundedRect(place, width / 8, width / 8)
            else:
                painter.fillRect(place, look.tint)


@final
class GraphPicture(QObject):
    """Paints a drawing with tiles, names and minimap."""

    has_news = Signal()  # a repaint would show something new
    finished = Signal()

    def __init__(
        self,
        looks: Looks,
        weights: Weights,
        users: Callable[[ImageSource], set[int]],
        thumbnails: Thumbnails,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._users, self._thumbnails = users, thumbnails
        self._ratio = 1.0
        self._applied_look: Tokens | None = None
        self._has_more = False  # something finished has not been announced
        self._announced_s = 0.0  # time of the last announcement
        self.ground = DrawingPainter(looks, weights, self.face)  # paints the tiles
        self._gliding = DrawingPainter(looks, weights, self.face)
        self.overview = Overview(looks)
        self._tiles = Tiles(self.ground.paint)
        self._names = FarNames(looks)
        self.motion = Motion(self)
        self._came: set[int] = set()
        self._slices = QTimer(self, interval=0)
        self._slices.timeout.connect(self._on_slice)
        self._face_timer = QTimer(self, singleShot=True, interval=REPAINT_MS)
        self._face_timer.timeout.connect(self._on_faces)
        thumbnails.ready.connect(self._on_thumbnail_ready)
        self.motion.moved.connect(self.has_news)
        self.motion.arrived.connect(self.has_news)

    @property
    def is_complete(self) -> bool:
        return self._is_painted and not (self.motion.is_going_on or self._face_timer.isActive())

    @property
    def _is_painted(self) -> bool:
        return self._tiles.is_complete and self._names.is_complete and self.overview.is_complete

    def show(self, drawing: Drawing, shift: tuple[float, float], *, is_calm: bool) -> None:
        self.ground.show(drawing)
        self._names.show(drawing)
        self._tiles.forget()
        self.overview.show(drawing, self._ratio)
        self.motion.go(drawing, shift, is_calm=is_calm)

    def refresh(self) -> None:
        self.ground.weigh()
        self._tiles.repaint_all()
        self.has_news.emit()

    def rest(self) -> None:
        self._slices.stop()
        self._tiles.give_up()

    def paint(self, painter: QPainter, camera: Camera) -> None:
        self._follow(painter.device().devicePixelRatio())
        if self.motion.is_going_on:
            self._gliding.show(self.motion.drawing)
            for _ in self._gliding.paint(painter, camera.seen, camera.scale):
                pass
            return
        self._tiles.show(painter, camera, lambda at_work: self._paint_placeholder(at_work, camera))
        self._names.paint(painter, camera)
        if not self._is_painted:
            self._slices.start()

    def _follow(self, ratio: float) -> None:
        if self._applied_look is tokens() and self._ratio == ratio:
            return
        self._applied_look, self._ratio = tokens(), ratio
        for ground in (self.ground, self._gliding):
            ground.forget_cards()
        self._tiles.forget()
        self.overview.show(self.ground.drawing, ratio)

    def _paint_placeholder(self, painter: QPainter, camera: Camera) -> None:
        painter.fillRect(QRectF(0, 0, camera.width, camera.height), QColor(tokens().colours.window))
        left, top, right, bottom = self.overview.camera.seen
        corner = QPointF(*camera.to_view(left, top))
        place = QRectF(corner, QPointF(*camera.to_view(right, bottom)))
        picture = self.overview.picture
        painter.drawPixmap(place, picture, QRectF(picture.rect()))

    def _on_slice(self) -> None:
        if self.motion.is_going_on:
            self._slices.stop()
            return
        has_news = self._tiles.make_some(SLICE_S)
        if self._tiles.is_complete:
            has_news |= self._names.place_pending(SLICE_S)
        if self._tiles.is_complete and self._names.is_complete:
            self.overview.make_some(SLICE_S)
        if self._is_painted:
            self._slices.stop()
            self.finished.emit()
            has_news = True
        self._has_more |= has_news
        now_s = time.monotonic()
        if self._has_more and (self._is_painted or now_s - self._announced_s >= NEWS_S):
            self._has_more, self._announced_s = False, now_s
            self.has_news.emit()

    def face(self, source: ImageSource, side: int) -> QPixmap | None:
        """A thumbnail by its side in logical pixels; None while loading."""
        return self._thumbnails.pixmap(source, side, self._ratio)

    def _on_thumbnail_ready(self, source: ImageSource) -> None:
        if came := self._users(source):
            self._came |= came
            self._face_timer.start()

    def _on_faces(self) -> None:
        drawing = self.ground.drawing
        for ground in (self.ground, self._gliding):
            ground.forget_cards(self._came)
        for class_id in self._came:
            if (row := drawing.row_of(class_id)) is not None:
                self._tiles.repaint_in(drawing.box(row))
        self._came.clear()
        self.has_news.emit()
