"""Where arrow keys lead in the drawing: to a parent, a child, a sibling."""

from __future__ import annotations

from enum import Enum

import numpy as np

from app.graph_view.drawing import CARD_HEIGHT, Drawing


class Heading(Enum):
    """A direction to walk in."""

    UP = "up"
    DOWN = "down"
    LEFT = "left"
    RIGHT = "right"


def next_row(drawing: Drawing, row: int, way: Heading) -> int | None:
    """The class that an arrow leads to; None where there is nothing."""
    if way is Heading.UP:
        return _nearest(drawing, row, drawing.parents[drawing.children == row].tolist())
    if way is Heading.DOWN:
        return _nearest(drawing, row, drawing.children[drawing.parents == row].tolist())
    return _beside(drawing, row, way)


def first_row(drawing: Drawing) -> int | None:
    """Where walking begins: the topmost class, the left one of several."""
    if not len(drawing):
        return None
    return int(np.lexsort((drawing.centres[:, 0], drawing.centres[:, 1]))[0])


def _nearest(drawing: Drawing, row: int, rows: list[int]) -> int | None:
    """Of several classes the one that stands nearest across, then nearest along."""
    x, y = drawing.centres[row].tolist()

    def far(other: int) -> tuple[float, float]:
        other_x, other_y = drawing.centres[other].tolist()
        return abs(other_y - y), abs(other_x - x)

    return min(rows, key=far, default=None)


def _beside(drawing: Drawing, row: int, way: Heading) -> int | None:
    """The next class in the same line: a sibling first of all, as it stands there."""
    x, y = drawing.centres[row].tolist()
    across, along = drawing.centres[:, 0] - x, np.abs(drawing.centres[:, 1] - y)
    if way is Heading.LEFT:
        across = -across
    found = np.flatnonzero((across > 1) & (along < CARD_HEIGHT / 2))
    return int(found[np.argmin(across[found])]) if len(found) else None
