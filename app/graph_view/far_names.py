"""Names of the largest branches, at scales where classes are dots."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter

from app.canvas.camera import Camera
from app.canvas.painting import name_picture, text_font
from app.graph_view.card import Detail, detail_at
from app.graph_view.drawing import Drawing, empty_drawing
from app.graph_view.drawing_painter import Looks, dot_radius
from app.graph_view.framing import scale_of, step_near
from app.images.pixels import on_pixels
from app.theme.tokens import tokens
from engine.arrays import Doubles, Integers

ASKED = 600  # largest branches that are considered
MOST_NAMES = 100  # names on a drawing, at most
ALWAYS = 12  # names of the largest branches, which are shown even on top of dots
WIDEST = 150.0  # of a name, in logical pixels
# Upper limit of the count, as the number of paths may exceed any integer type.
MOST_BELOW = 2**62
_GAP = 4.0  # logical pixels between names, and from a name to its class
_RADIUS = 4.0
_INSET = 6.0  # padding left and right


@dataclass(frozen=True)
class PlacedName:
    """A name placed at its class."""

    row: int
    text: str  # the name, elided if too long
    width: float  # in logical pixels


@final
class FarNames:
    """Places names without overlaps, for each scale once, incrementally."""

    def __init__(self, looks: Looks) -> None:
        self._looks = looks
        self._drawing = empty_drawing()
        self._by_height: Integers = np.zeros(0, dtype=np.int64)
        self._heights: Doubles = np.zeros(0)
        self._order: Integers = np.zeros(0, dtype=np.int64)
        self._names: list[PlacedName] = []  # measured so far, once for all scales
        self._placed: dict[int, Sequence[PlacedName]] = {}
        self._pending: int | None = None  # scale step whose names are not placed yet
        self._placing: tuple[int, list[PlacedName], Iterator[None]] | None = None
        self._shown = 0

    def show(self, drawing: Drawing) -> None:
        self._drawing = drawing
        sizes = branch_sizes(drawing)
        order = np.argsort(-sizes, kind="stable")[:ASKED]
        self._by_height = np.argsort(drawing.centres[:, 1], kind="stable")
        self._heights = drawing.centres[self._by_height, 1]
        self._order = order[sizes[order] > 1] if (sizes > 1).any() else order
        self._names.clear()
        self._placed.clear()
        self._pending = self._placing = None

    def paint(self, painter: QPainter, camera: Camera) -> None:
        if detail_at(camera.scale) is not Detail.DOT or not len(self._drawing):
            self._pending = None
            return
        view, ratio = QRectF(0, 0, camera.width, camera.height), painter.device().devicePixelRatio()
        for name in self.placed(step_near(camera.scale)):
            rect = self.rect_of(name, camera)
            if not rect.intersects(view):
                continue
            picture = name_picture(
                name.text,
                name.width,
                rect.height(),
                radius=_RADIUS,
                ratio=ratio,
                ground=tokens().colours.surface,
                ink=tokens().colours.text,
            )
            painter.drawPixmap(on_pixels(rect.topLeft(), ratio), picture)

    @property
    def is_complete(self) -> bool:
        return self._pending is None

    def place_pending(self, budget_s: float) -> bool:
        """Continue placing the names of the current scale for about `budget_s`; True when done."""
        if self._pending is None:
            return False
        if self._placing is None or self._placing[0] != self._pending:
            found: list[PlacedName] = []
            self._placing = self._pending, found, self._place(scale_of(self._pending), found)
        step, names, steps = self._placing
        end = time.perf_counter() + budget_s
        if not all(time.perf_counter() < end for _ in steps):
            return False
        self._placed[step] = names
        self._pending = self._placing = None
        return True

    def placed(self, step: int) -> Sequence[PlacedName]:
        """Names at a scale; those of the previous one until they are placed."""
        if step in self._placed:
            self._pending, self._shown = None, step
        else:
            self._pending = step
        return self._placed.get(self._shown, ())

    def _covers_classes(self, own: int, box: Doubles) -> bool:
        """Whether a rectangle covers the centre of another class."""
        first, last = np.searchsorted(self._heights, (box[1], box[3]))
        rows = self._by_height[first:last]
        across = self._drawing.centres[rows, 0]
        return bool(((across > box[0]) & (across < box[2]) & (rows != own)).any())

    def _measured(self, row: int) -> PlacedName:
        metrics, look = QFontMetricsF(_font()), self._looks(int(self._drawing.ids[row]))
        text = metrics.elidedText(look.name, Qt.TextElideMode.ElideRight, WIDEST)
        return PlacedName(row, text, metrics.horizontalAdvance(text) + 2 * _INSET)

    def _place(self, scale: float, found: list[PlacedName]) -> Iterator[None]:
        """Add the names of the largest branches to `found`, in small steps."""
        taken = np.zeros((MOST_NAMES, 4))
        for number, row in enumerate(self._order.tolist()):
            if number == len(self._names):
                self._names.append(self._measured(row))
            name = self._names[number]
            rect = self.rect_of(name, Camera(scale=scale)).adjusted(-_GAP, -_GAP, _GAP, _GAP)
            box = np.array(rect.getCoords())
            is_free = not _overlaps(taken[: len(found)], box)
            if is_free and (len(found) < ALWAYS or not self._covers_classes(row, box / scale)):
                taken[len(found)] = box
                found.append(name)
            if len(found) == MOST_NAMES:
                return
            yield

    def rect_of(self, name: PlacedName, camera: Camera) -> QRectF:
        """Rectangle of a name, below its class."""
        x, y = camera.to_view(*self._drawing.centres[name.row].tolist())
        radius = dot_radius(int(self._drawing.hidden[name.row]), camera.scale)
        height = _font().pixelSize() + _INSET
        return QRectF(x - name.width / 2, y + radius + _GAP / 2, name.width, height)


def _font() -> QFont:
    return text_font(tokens().sizes.caption)


def _overlaps(taken: Doubles, box: Doubles) -> bool:
    """Whether a box overlaps any of the boxes (n, 4)."""
    return bool(((taken[:, :2] < box[2:]) & (taken[:, 2:] > box[:2])).all(axis=1).any())


def branch_sizes(drawing: Drawing) -> Integers:
    """Sizes (n,) of the branches, at most `MOST_BELOW`; a class counts once per path."""
    sizes = (drawing.hidden + 1).tolist()
    lowest_first = np.argsort(-drawing.centres[drawing.children, 1], kind="stable")
    ends = zip(
        drawing.parents[lowest_first].tolist(), drawing.children[lowest_first].tolist(), strict=True
    )
    # Parents are above their children, so that the children's sizes are complete.
    for parent, child in ends:
        sizes[parent] = min(sizes[parent] + sizes[child], MOST_BELOW)
    return np.array(sizes, dtype=np.int64)
