"""Layout of compared images, and what two classes have in common. No widgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.texts import tr

if TYPE_CHECKING:
    from app.session.current_card import Ranking
    from engine.graph.category_graph import CategoryGraph

MOST = 4
"""Images side by side, at most."""
SHOTS = 3
"""Nearest shots shown for each class."""
MANY = 3
"""Number of images from which on each is decoded at a lower resolution."""
LONGEST_OF_MANY = 4000  # pixels of the longer side: about 32 MB each
LONGEST_OF_SHOT = 2000  # pixels of the longer side; six of them are shown next to the image
_SHAPE = 4 / 3  # usual aspect ratio of a photo


def columns_for(count: int, width: int, height: int, extra: int) -> int:
    """Number of columns in which usual photos are largest.

    Args:
        extra: height of the text below each image, in pixels.
    """

    def side(columns: int) -> float:
        rows = -(-count // columns)
        return min(width / columns, (height / rows - extra) * _SHAPE)

    return max(range(1, count + 1), key=lambda columns: (side(columns), columns))


def cell_of(place: int, count: int, columns: int) -> tuple[int, int, int, int]:
    """Row, column, row span and column span of an image in the grid; the last one fills its row."""
    row, column = divmod(place, columns)
    is_last = place == count - 1
    return row, column, 1, columns - column if is_last else 1


@dataclass(frozen=True)
class Rival:
    """One of the classes that an image is compared with."""

    class_id: int
    name: str
    score: float
    note: str  # note of the class


def rivals_of(graph: CategoryGraph, ranking: Ranking | None) -> tuple[Rival, ...]:
    """The two most likely classes of an image, in the order of their keys; fewer if unknown."""
    tops = () if ranking is None else [top for top in ranking.tops if top.class_id in graph][:2]
    return tuple(
        Rival(
            top.class_id,
            graph.shown_name(top.class_id),
            top.score,
            graph.attributes(top.class_id).note.strip(),
        )
        for top in tops
    )


def relation_text(graph: CategoryGraph, rivals: Sequence[Rival]) -> str:
    """Text naming the lowest common ancestor of both classes; "" without one."""
    if len(rivals) < 2:  # noqa: PLR2004 (a pair)
        return ""
    one, other = rivals[0], rivals[1]
    if one.class_id in graph.ancestors(other.class_id) or other.class_id in graph.ancestors(
        one.class_id
    ):
        return ""
    shared = set(graph.ancestors(one.class_id)) & set(graph.ancestors(other.class_id))
    if not shared:
        return tr("{1} and {2} are in different branches.", one.name, other.name)
    nearest = max(shared, key=lambda class_id: (graph.level(class_id), -class_id))
    return tr("Both are in {1}.", graph.shown_name(nearest))
