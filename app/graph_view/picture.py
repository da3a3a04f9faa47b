"""The drawing as it is painted: finished pieces, what stands in for them, faces that come later, classes that glide."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, final

from PySide6.QtCore import QObject, QRectF, QTimer, Signal
from PySide6.QtGui import QColor, QPainter, QPixmap

from app.graph_view.camera import Size
from app.graph_view.drawing import Drawing
from app.graph_view.drawing_painter import DrawingPainter, Looks, Weights
from app.graph_view.far_names import FarNames
from app.graph_view.motion import Motion
from app.graph_view.overview import Overview
from app.graph_view.tiles import Tiles
from app.graph_view.viewport import Viewport
from app.images.thumbnails import Thumbnails
from app.theme.tokens import Tokens, tokens

SLICE_S: Final = 0.003
"""Of each frame, spent on pieces that are missing: a fifth, so that a frame is not late even after two of them."""
NEWS_S: Final = 0.016  # pieces that are finished within a frame are shown together
REPAINT_MS: Final = 60  # faces that come one after the other are painted together


@final
class GraphPicture(QObject):
    """Paints a drawing."""

    has_news = Signal()  # something is to be seen that was not there
    finished = Signal()

    def __init__(
        self, looks: Looks, weights: Weights, users: Callable[[Path], set[int]], thumbnails: Thumbnails,
        parent: QObject | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._users, self._thumbnails = users, thumbnails
        self._ratio = 1.0
        self._worn: Tokens | None = None
        self._has_more = False  # whether something is finished that nobody was told of
        self._announced_s = 0.0  # and since when
        self.ground = DrawingPainter(looks, weights, self.face)  # what is known of its classes
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
        """Whether nothing moves, and all is painted as it is to be."""
        is_still = not (self.motion.is_going_on or self._face_timer.isActive())
        return is_still and self._is_painted

    @property
    def _is_painted(self) -> bool:
        """Whether nothing was missing in the last frame."""
        return self._tiles.is_complete and self._names.is_complete and self.overview.is_complete

    def show(self, drawing: Drawing, shift: tuple[float, float], *, is_calm: bool) -> None:
        """Paint another drawing from now on; `shift` is how far all of it was moved, which nobody is to see."""
        self.ground.show(drawing)
        self._names.show(drawing)
        self._tiles.forget()
        self.overview.show(drawing, self._ratio)
        self.motion.go(drawing, shift, is_calm=is_calm)

    def refresh(self) -> None:
        """Paint all classes anew: what is known of them has changed."""
        self.ground.weigh()
        self._tiles.repaint_all()
        self.has_news.emit()

    def rest(self) -> None:
        self._slices.stop()
        self._tiles.give_up()

    # -- a frame

    def paint(self, painter: QPainter, viewport: Viewport, view: Size) -> None:
        self._follow(painter.device().devicePixelRatio())
        if self.motion.is_going_on:
            self._paint_gliding(painter, viewport, view)
            return
        self._tiles.show(painter, viewport.camera, view, lambda at_work: self._paint_stand_in(at_work, viewport, view))
        self._names.paint(painter, viewport, view)
        if not self._is_painted:
            self._slices.start()

    def _follow(self, ratio: float) -> None:
        """Another look is worn, or another screen shows it."""
        if self._worn is tokens() and self._ratio == ratio:
            return
        self._worn, self._ratio = tokens(), ratio
        for ground in (self.ground, self._gliding):
            ground.forget_cards()
        self._tiles.forget()
        self.overview.show(self.ground.drawing, ratio)

    def _paint_gliding(self, painter: QPainter, viewport: Viewport, view: Size) -> None:
        self._gliding.show(self.motion.drawing)
        for _ in self._gliding.paint(painter, viewport.camera.seen(view), viewport.camera.scale):
            pass

    def _paint_stand_in(self, painter: QPainter, viewport: Viewport, view: Size) -> None:
        painter.fillRect(QRectF(0, 0, *view), QColor(tokens().colours.window))
        left, top, right, bottom = self.overview.bounds
        x, y = viewport.camera.to_view(left, top, view)
        place = QRectF(x, y, (right - left) * viewport.camera.scale, (bottom - top) * viewport.camera.scale)
        picture = self.overview.picture
        painter.drawPixmap(place, picture, QRectF(picture.rect()))

    # -- between frames

    def _on_slice(self) -> None:
        """Go on with what is missing; say so when there is something to be seen."""
        if self.motion.is_going_on:
            self._slices.stop()
            return
        has_news = self._tiles.make_some(SLICE_S)
        if self._tiles.is_complete:
            has_news |= self._names.make_some(SLICE_S)
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

    def face(self, path: Path, side: int) -> QPixmap | None:
        """A thumbnail of a side in logical pixels; None while it is on its way."""
        return self._thumbnails.pixmap(path, side, self._ratio)

    def _on_thumbnail_ready(self, path: Path) -> None:
        """Paint the cards soon that show it, once for all that come until then."""
        if came := self._users(path):
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
