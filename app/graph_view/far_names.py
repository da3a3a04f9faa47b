"""Names of the largest branches, at scales where classes are dots."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPixmap

from app.graph_view.card import Detail, detail_at, text_font
from app.graph_view.drawing import Drawing, empty_drawing
from app.graph_view.drawing_painter import Looks, dot_radius
from app.graph_view.viewport import Size, Viewport, scale_of, step_near
from app.images.pixels import on_pixels
from app.theme.tokens import tokens
from engine.arrays import Doubles, Integers, no_integers

ASKED: Final = 600  # largest branches that are considered
MOST_NAMES: Final = 100  # names on a drawing, at most
ALWAYS: Final = 12  # names of the largest branches, which are shown even on top of dots
WIDEST: Final = 150.0  # of a name, in logical pixels
# Upper limit of the count, as the number of paths may exceed any integer type.
MOST_BELOW: Final = 2**62
_GAP: Final = 4.0  # logical pixels between names, and from a name to its class
_GROUND: Final = 0.86  # opacity of the background
_INSET: Final = 6.0  # padding left and right


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
        self._by_height: Integers = no_integers()
        self._heights: Doubles = np.zeros(0)
        self._order: Integers = no_integers()
        self._placed: dict[int, Sequence[PlacedName]] = {}
        self._choosing: tuple[int, list[PlacedName], Iterator[PlacedName | None]] | None = None
        self._wanted: int | None = None
        self._shown = 0
        self._pictures: dict[str, QPixmap] = {}
        self._ratio = 1.0

    def show(self, drawing: Drawing) -> None:
        self._drawing = drawing
        sizes = branch_sizes(drawing)
        order = np.argsort(-sizes, kind="stable")[:ASKED]
        self._by_height = np.argsort(drawing.centres[:, 1], kind="stable")
        self._heights = drawing.centres[self._by_height, 1]
        self._order = order[sizes[order] > 1] if (sizes > 1).any() else order
        self._placed.clear()
        self._choosing = self._wanted = None
        self._pictures.clear()

    def paint(self, painter: QPainter, viewport: Viewport, view: Size) -> None:
        camera = viewport.camera
        if detail_at(camera.scale) is not Detail.DOT or not len(self._drawing):
            self._wanted = None
            return
        for name in self.placed(step_near(camera.scale)):
            centre_x, centre_y = self._drawing.centres[name.row].tolist()
            x, y = camera.to_view(centre_x, centre_y, view)
            rect = name_place(x, y, name.width, int(self._drawing.hidden[name.row]), camera.scale)
            if (
                rect.right() < 0
                or rect.left() > view[0]
                or rect.bottom() < 0
                or rect.top() > view[1]
            ):
                continue
            if name.text not in self._pictures:
                self._pictures[name.text] = _painted(name.text, rect.size(), self._ratio)
            painter.drawPixmap(on_pixels(rect.topLeft(), self._ratio), self._pictures[name.text])

    def wear(self, ratio: float) -> None:
        """Clear rendered names after a change of theme or pixel ratio."""
        self._ratio = ratio
        self._pictures.clear()

    @property
    def is_complete(self) -> bool:
        return self._wanted is None

    def make_some(self, budget_s: float) -> bool:
        """Continue placing names for about `budget_s`; True if other names are to be shown now."""
        if self._wanted is None:
            return False
        if self._choosing is None or self._choosing[0] != self._wanted:
            self._choosing = self._wanted, [], self._choose(self._wanted)
        step, chosen, steps = self._choosing
        end = time.perf_counter() + budget_s
        for name in steps:
            if name is not None:
                chosen.append(name)
            if time.perf_counter() >= end:
                return False
        self._placed[step], self._choosing, self._wanted = chosen, None, None
        return True

    def placed(self, step: int) -> Sequence[PlacedName]:
        """Names at a scale; those of the previous one until they are placed."""
        if step in self._placed:
            self._wanted, self._shown = None, step
        else:
            self._wanted = step
        return self._placed.get(self._shown, ())

    def _covers_classes(self, own: int, box: Doubles) -> bool:
        """Whether a rectangle covers the centre of another class."""
        first, last = np.searchsorted(self._heights, (box[1], box[3]))
        rows = self._by_height[first:last]
        across = self._drawing.centres[rows, 0]
        return bool(((across > box[0]) & (across < box[2]) & (rows != own)).any())

    def _choose(self, step: int) -> Iterator[PlacedName | None]:
        scale, count = scale_of(step), 0
        metrics = QFontMetricsF(text_font(tokens().sizes.caption))
        taken = np.zeros((MOST_NAMES, 4))
        for row in self._order.tolist():
            look = self._looks(int(self._drawing.ids[row]))
            name = metrics.elidedText(look.name, Qt.TextElideMode.ElideRight, WIDEST)
            width = metrics.horizontalAdvance(name) + 2 * _INSET
            x, y = (self._drawing.centres[row] * scale).tolist()
            rect = name_place(x, y, width, int(self._drawing.hidden[row]), scale).adjusted(
                -_GAP, -_GAP, _GAP, _GAP
            )
            box = np.array((rect.left(), rect.top(), rect.right(), rect.bottom()))
            if _is_free(taken[:count], box) and (
                count < ALWAYS or not self._covers_classes(row, box / scale)
            ):
                taken[count] = box
                count += 1
                yield PlacedName(row, name, width)
            else:
                yield None
            if count == MOST_NAMES:
                return


def _is_free(taken: Doubles, box: Doubles) -> bool:
    overlaps = (
        (taken[:, 0] < box[2])
        & (taken[:, 2] > box[0])
        & (taken[:, 1] < box[3])
        & (taken[:, 3] > box[1])
    )
    return not overlaps.any()


def name_place(x: float, y: float, width: float, hidden: int, scale: float) -> QRectF:
    height = text_font(tokens().sizes.caption).pixelSize() + _INSET
    top = y + dot_radius(hidden, scale) + _GAP / 2
    return QRectF(QPointF(x - width / 2, top), QPointF(x + width / 2, top + height))


def _painted(name: str, size: QSizeF, ratio: float) -> QPixmap:
    colours, picture = tokens().colours, QPixmap((size * ratio).toSize())
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter, room, ground = QPainter(picture), QRectF(QPointF(), size), QColor(colours.surface)
    ground.setAlphaF(_GROUND)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ground)
    painter.drawRoundedRect(room, 4, 4)
    painter.setFont(text_font(tokens().sizes.caption))
    painter.setPen(QColor(colours.text))
    painter.drawText(room, Qt.AlignmentFlag.AlignCenter, name)
    painter.end()
    return picture


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
