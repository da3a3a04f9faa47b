"""How images are laid out beside one another, and what two classes have in common. No widgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.texts import tr

if TYPE_CHECKING:
    from app.session.card_under_eye import Ranking
    from engine.graph.category_graph import CategoryGraph

MOST: Final = 4
"""Images beside one another."""
SHOTS: Final = 3
"""Of each class beside the image."""
MANY: Final = 3
"""From so many images on each is read with fewer pixels."""
LONGEST_OF_MANY: Final = 4000  # pixels of the longer side: 32 MB or so for each
LONGEST_OF_SHOT: Final = 2000  # pixels; six of them stand beside the image
_SHAPE: Final = 4 / 3  # of a usual photo


def columns_for(count: int, width: int, height: int, extra: int) -> int:
    """In how many columns usual photos are largest; `extra` is the height of what stands below each."""

    def side(columns: int) -> float:
        rows = -(-count // columns)
        return min(width / columns, (height / rows - extra) * _SHAPE)

    return max(range(1, count + 1), key=lambda columns: (side(columns), columns))


def cell_of(place: int, count: int, columns: int) -> tuple[int, int, int, int]:
    """Row, column, rows and columns that an image takes: the last one fills its row."""
    row, column = divmod(place, columns)
    is_last = place == count - 1
    return row, column, 1, columns - column if is_last else 1


@dataclass(frozen=True)
class Rival:
    """A class that an image may be of."""

    class_id: int
    name: str
    score: float
    note: str  # what people wrote about it


def rivals_of(graph: CategoryGraph, ranking: Ranking | None) -> tuple[Rival, ...]:
    """The two most likely classes of an image in the order of their keys; fewer where there are not two."""
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
    """The nearest class that both are in; "" without one."""
    if len(rivals) < 2:  # noqa: PLR2004 (a pair)
        return ""
    one, other = rivals[0], rivals[1]
    if one.class_id in graph.ancestors(other.class_id) or other.class_id in graph.ancestors(
        one.class_id
    ):
        return ""
    shared = set(graph.ancestors(one.class_id)) & set(graph.ancestors(other.class_id))
    if not shared:
        return tr("%1 and %2 are in different branches.", one.name, other.name)
    nearest = max(shared, key=lambda class_id: (graph.level(class_id), -class_id))
    return tr("Both are in %1.", graph.shown_name(nearest))
