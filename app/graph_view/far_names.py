"""Names of the big branches, where classes are too small to have a name of their own."""

from __future__ import annotations

from typing import Final, final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from app.graph_view.camera import Size, scale_of, step_near
from app.graph_view.card import SHORT_NAMES_FROM, Detail, detail_at, text_font
from app.graph_view.drawing import CARD_HEIGHT, CARD_WIDTH, Drawing, empty_drawing
from app.graph_view.ground import Looks, dot_radius
from app.graph_view.sight import Sight
from app.theme.tokens import tokens

ASKED: Final = 600
"""So many branches are tried, the biggest first."""
MOST_NAMES: Final = 120
"""More are never placed on one drawing."""
WIDEST: Final = 150.0
"""Of a name, in logical pixels."""
_GAP: Final = 4.0  # logical pixels between names, and from a name to its class
_INSET: Final = 6.0  # before and after the letters


@final
class FarNames:
    """Chooses names that do not cover one another, once for each scale.

    Args:
        looks: what the card of a class says.
    """

    def __init__(self, looks: Looks) -> None:
        self._looks = looks
        self._drawing = empty_drawing()
        self._order: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._placed: dict[int, list[tuple[int, str, float]]] = {}

    def show(self, drawing: Drawing) -> None:
        """Name the branches of another drawing from now on."""
        self._drawing = drawing
        sizes = branch_sizes(drawing)
        order = np.argsort(-sizes, kind="stable")[:ASKED]
        self._order = order[sizes[order] > 1] if (sizes > 1).any() else order
        self._placed.clear()

    def paint(self, painter: QPainter, sight: Sight, view: Size) -> None:
        """Paint the names that are seen."""
        camera = sight.camera
        if CARD_WIDTH * camera.scale >= SHORT_NAMES_FROM or not len(self._drawing):
            return
        colours, font = tokens().colours, text_font(tokens().sizes.caption)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(font)
        ground = QColor(colours.surface)
        ground.setAlphaF(0.86)
        for row, name, width in self.placed(step_near(camera.scale)):
            centre_x, centre_y = self._drawing.centres[row].tolist()
            x, y = camera.to_view(centre_x, centre_y, view)
            rect = _place(x, y, width, int(self._drawing.hidden[row]), camera.scale)
            if rect.right() < 0 or rect.left() > view[0] or rect.bottom() < 0 or rect.top() > view[1]:
                continue
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ground)
            painter.drawRoundedRect(rect, 4, 4)
            painter.setPen(QColor(colours.text))
            painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, name)

    def placed(self, step: int) -> list[tuple[int, str, float]]:
        """Row, name and width of each name at a scale."""
        if step not in self._placed:
            self._placed[step] = self._choose(step)
        return self._placed[step]

    def _choose(self, step: int) -> list[tuple[int, str, float]]:
        scale, chosen = scale_of(step), []
        metrics = QFontMetricsF(text_font(tokens().sizes.caption))
        taken = np.zeros((0, 4))
        for row in self._order.tolist():
            name = metrics.elidedText(
                self._looks(int(self._drawing.ids[row])).name, Qt.TextElideMode.ElideRight, WIDEST
            )
            width = metrics.horizontalAdvance(name) + 2 * _INSET
            x, y = (self._drawing.centres[row] * scale).tolist()
            rect = _place(x, y, width, int(self._drawing.hidden[row]), scale).adjusted(-_GAP, -_GAP, _GAP, _GAP)
            box = np.array((rect.left(), rect.top(), rect.right(), rect.bottom()))
            overlaps = (taken[:, 0] < box[2]) & (taken[:, 2] > box[0]) & (taken[:, 1] < box[3]) & (taken[:, 3] > box[1])
            if not overlaps.any():
                taken = np.vstack((taken, box))
                chosen.append((row, name, width))
            if len(chosen) == MOST_NAMES:
                break
        return chosen


def _place(x: float, y: float, width: float, hidden: int, scale: float) -> QRectF:
    """Where a name goes: below a dot, or over the foot of a small card."""
    height = text_font(tokens().sizes.caption).pixelSize() + _INSET
    if detail_at(scale) is Detail.DOT:
        top = y + dot_radius(hidden, scale) + _GAP / 2
    else:
        top = y + CARD_HEIGHT / 2 * scale - height / 2
    return QRectF(QPointF(x - width / 2, top), QPointF(x + width / 2, top + height))


def branch_sizes(drawing: Drawing) -> NDArray[np.int64]:
    """(n,) how much stands below each class; what is reached twice counts twice."""
    sizes = drawing.hidden + 1
    lowest_first = np.argsort(-drawing.centres[drawing.children, 1], kind="stable")
    for edge in lowest_first.tolist():  # parents stand above their children, so whatever is below is known by then
        sizes[drawing.parents[edge]] += sizes[drawing.children[edge]]
    return sizes
