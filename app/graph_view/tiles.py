"""Cache of tiles of the drawing, each painted once and then copied to the screen.

Ten thousand edges take a fifth of a second to paint, a dozen tiles a few milliseconds. So a frame
only copies finished tiles; missing ones are painted between frames, incrementally, from the centre
outwards. Until then, tiles of the previous scale or the minimap replace them.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil, floor
from typing import final

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPixmap, QRegion

from app.canvas.camera import Camera, Rect
from app.graph_view.framing import scale_of, step_near

SIDE = 256  # side of a tile in screen pixels
# Capacity of the cache, in tiles of a view, so that returning to a place is fast.
KEPT_VIEWS = 3
_FEWEST_KEPT = 48  # tiles, however small the view is

PaintPiece = Callable[[QPainter, Rect, float], Iterator[None]]
_Key = tuple[int, int, int]


@dataclass
class _Unfinished:
    """A tile that is being painted."""

    key: _Key
    piece: QPixmap  # painted so far
    painter: QPainter
    steps: Iterator[None]


@final
class Tiles:
    """Tile cache."""

    def __init__(self, paint: PaintPiece) -> None:
        self._paint = paint
        self._kept: OrderedDict[_Key, QPixmap] = OrderedDict()
        self._stale: set[_Key] = set()
        self._ratio = 1.0
        self._whole_step: int | None = None  # the last scale at which no tile was missing
        self._wanted: list[_Key] = []
        self._unfinished: _Unfinished | None = None

    def forget(self) -> None:
        """Drop all tiles."""
        self.give_up()
        self._kept.clear()
        self._stale.clear()
        self._whole_step = None

    def repaint_all(self) -> None:
        """Mark all tiles stale; they are shown until repainted."""
        self.give_up()
        self._stale = set(self._kept)

    def repaint_in(self, rect: Rect) -> None:
        if self._unfinished is not None and _touch(self._rect(self._unfinished.key), rect):
            self.give_up()
        self._stale |= {key for key in self._kept if _touch(self._rect(key), rect)}

    def show(
        self, painter: QPainter, camera: Camera, placeholder: Callable[[QPainter], None]
    ) -> None:
        """Copy cached tiles to the screen; `placeholder` paints where they are missing."""
        self._follow(painter.device().devicePixelRatio())
        step = step_near(camera.scale)
        keys = self._keys(step, camera)
        missing = [key for key in keys if key not in self._kept]
        self._wanted = missing + [key for key in keys if key in self._stale]
        if missing:
            places = [self._place(key, camera) for key in missing]
            self._show_instead(painter, places, camera, placeholder)
        elif not self._stale.intersection(keys):
            self._whole_step = step
        for key in keys:
            self._show(painter, key, camera)
        while len(self._kept) > max(_FEWEST_KEPT, KEPT_VIEWS * len(keys)):
            gone, _ = self._kept.popitem(last=False)
            self._stale.discard(gone)

    def _show_instead(
        self,
        painter: QPainter,
        places: list[QRectF],
        camera: Camera,
        placeholder: Callable[[QPainter], None],
    ) -> None:
        region = QRegion()
        for place in places:
            region += place.toAlignedRect()
        painter.save()
        painter.setClipRegion(region)
        placeholder(painter)
        if self._whole_step is not None and self._whole_step != step_near(camera.scale):
            # Only cached ones: in a distant view, a near scale has millions of tiles.
            for key in list(self._kept):
                if key[0] == self._whole_step and _touch(self._rect(key), camera.seen):
                    self._show(painter, key, camera)
        painter.restore()

    def _show(self, painter: QPainter, key: _Key, camera: Camera) -> None:
        piece = self._kept.get(key)
        if piece is None:
            return
        self._kept.move_to_end(key)
        place = self._place(key, camera)
        if (place.size() * self._ratio).toSize() == QSize(SIDE, SIDE):
            painter.drawPixmap(place.topLeft(), piece)
        else:
            # With a high pixel ratio smoothing is not visible in motion, and takes four times as
            # long.
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, self._ratio < 1.5)  # noqa: PLR2004
            painter.drawPixmap(place, piece, QRectF(piece.rect()))

    @property
    def is_complete(self) -> bool:
        return not self._wanted

    def make_some(self, budget_s: float) -> bool:
        """Paint missing tiles for about `budget_s`; True if any was finished."""
        end = time.perf_counter() + budget_s
        has_finished = False
        while self._wanted:
            if self._unfinished is None or self._unfinished.key != self._wanted[0]:
                self.give_up()
                self._unfinished = self._begun(self._wanted[0])
            if all(time.perf_counter() < end for _ in self._unfinished.steps):
                self._keep(self._unfinished)
                has_finished = True
            if time.perf_counter() >= end:
                break
        return has_finished

    def _begun(self, key: _Key) -> _Unfinished:
        piece = QPixmap(SIDE, SIDE)
        piece.setDevicePixelRatio(self._ratio)
        painter = QPainter(piece)
        return _Unfinished(
            key, piece, painter, self._paint(painter, self._rect(key), scale_of(key[0]))
        )

    def _keep(self, finished: _Unfinished) -> None:
        finished.painter.end()
        self._kept[finished.key] = finished.piece
        self._stale.discard(finished.key)
        self._wanted.remove(finished.key)
        self._unfinished = None

    def give_up(self) -> None:
        if self._unfinished is not None:
            self._unfinished.painter.end()
            self._unfinished = None

    def _follow(self, ratio: float) -> None:
        if ratio != self._ratio:
            self._ratio = ratio
            self.forget()

    def _rect(self, key: _Key) -> Rect:
        side = SIDE / self._ratio / scale_of(key[0])
        return key[1] * side, key[2] * side, (key[1] + 1) * side, (key[2] + 1) * side

    def _keys(self, step: int, camera: Camera) -> list[_Key]:
        """Visible tiles of a scale, from the centre outwards."""
        side = SIDE / self._ratio / scale_of(step)
        left, top, right, bottom = camera.seen
        columns = range(floor(left / side), ceil(right / side) + 1)
        rows = range(floor(top / side), ceil(bottom / side) + 1)
        found = [(step, column, row) for row in rows for column in columns]
        middle_x, middle_y = camera.x / side - 0.5, camera.y / side - 0.5
        return sorted(found, key=lambda key: (key[1] - middle_x) ** 2 + (key[2] - middle_y) ** 2)

    def _place(self, key: _Key, camera: Camera) -> QRectF:
        """Rectangle of a tile, aligned to screen pixels to avoid seams."""
        left, top, right, bottom = self._rect(key)
        ratio = self._ratio
        origin_x = round((camera.width / 2 - camera.x * camera.scale) * ratio)
        origin_y = round((camera.height / 2 - camera.y * camera.scale) * ratio)
        scale = camera.scale * ratio
        x, y = round(left * scale) + origin_x, round(top * scale) + origin_y
        width, height = round(right * scale) + origin_x - x, round(bottom * scale) + origin_y - y
        return QRectF(x / ratio, y / ratio, width / ratio, height / ratio)


def _touch(one: Rect, other: Rect) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
