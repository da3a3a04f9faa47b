"""How edges look: width and colour by attention weight."""

from __future__ import annotations

from typing import Final

from PySide6.QtGui import QColor, QPainterPath, QPen

from app.graph_view.drawing import Route
from app.theme.tokens import tokens

THIN: Final = 1.0  # logical pixels at full size, of an edge that nothing is propagated over
THICK: Final = 2.5  # of an edge that all is propagated over
WEIGHT_STEPS: Final = 4  # looks of edges; a finer scale nobody tells apart
UNKNOWN_STEP: Final = 1  # look of an edge whose weight is not known yet
_STRAIGHT_BELOW: Final = 0.2  # scale at which a curve cannot be told from a line


def weight_step(weight: float | None) -> int:
    """Which of the looks an edge has."""
    if weight is None:
        return UNKNOWN_STEP
    return max(0, min(WEIGHT_STEPS - 1, int(weight * WEIGHT_STEPS)))


def edge_pen(step: int, scale: float) -> QPen:
    """Pen of a look, in logical pixels."""
    colours = tokens().colours
    share = step / (WEIGHT_STEPS - 1)
    weak, strong = QColor(colours.border), QColor(colours.text_disabled)
    colour = QColor.fromRgbF(
        weak.redF() + share * (strong.redF() - weak.redF()),
        weak.greenF() + share * (strong.greenF() - weak.greenF()),
        weak.blueF() + share * (strong.blueF() - weak.blueF()),
    )
    return QPen(colour, max(0.75, (THIN + share * (THICK - THIN)) * min(1.0, scale)))


def add_edge(path: QPainterPath, route: Route, scale: float, dx: float, dy: float) -> None:
    """Add an edge to a path.

    Args:
        path: in logical pixels.
        route: in units of the drawing.
        scale: logical pixels for one unit.
        dx, dy: place of the drawing's origin on the path.
    """
    points = (route * scale + (dx, dy)).tolist()
    x, y = points[0]
    path.moveTo(x, y)
    if scale < _STRAIGHT_BELOW:
        for x, y in points[1:]:
            path.lineTo(x, y)
        return
    for next_x, next_y in points[1:]:
        middle = (y + next_y) / 2
        path.cubicTo(x, middle, next_x, middle, next_x, next_y)
        x, y = next_x, next_y
