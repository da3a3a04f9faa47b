"""Placement of class names on a map without overlaps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from app.canvas.camera import Camera, Rect
from engine.arrays import Codes, Floats, Integers
from engine.collection.state import NO_CLASS

if TYPE_CHECKING:
    from engine.graph.category_graph import CategoryGraph

FEWEST = 3  # least number of images of a named class
HALVINGS = 4  # iterations of `_place`
MOST_NAMES = 40  # names shown at a time
GAP = 6.0  # pixels between two names


@dataclass(frozen=True)
class ClassPlace:
    """Position of the name of a class."""

    class_id: int
    x: float
    y: float
    count: int
    depth: int  # levels below the coloured level


def class_places(
    classes: Codes,
    finest: Codes,
    places: Floats,
    graph: CategoryGraph,
) -> tuple[ClassPlace, ...]:
    """Name positions of the classes at the coloured level and below, coarsest first.

    Args:
        classes: (n,) classes at the level, or `NO_CLASS`.
        finest: (n,) class of each image.
    """
    depth_of = dict.fromkeys(np.unique(classes).tolist(), 0)
    rows_of: dict[int, list[Integers]] = {}
    for class_id, rows in _groups(finest):
        if class_id == NO_CLASS or class_id not in graph:
            continue
        line = {class_id, *graph.ancestors(class_id)}
        tops = line & depth_of.keys()
        base = max((graph.level(each) for each in tops), default=0)
        for each in line:
            if graph.level(each) >= base:
                depth_of.setdefault(each, graph.level(each) - base)
                rows_of.setdefault(each, []).append(rows)
    made = [
        _place(class_id, places[np.concatenate(parts)], depth_of[class_id])
        for class_id, parts in rows_of.items()
        if class_id in depth_of
    ]
    large = [each for each in made if each.count >= FEWEST]
    return tuple(sorted(large, key=lambda each: (each.depth, -each.count, each.class_id)))


def _groups(classes: Codes) -> Iterable[tuple[int, Integers]]:
    order = np.argsort(classes, kind="stable")
    found, first = np.unique(classes[order], return_index=True)
    return zip(found.tolist(), np.split(order, first[1:]), strict=True) if len(found) else ()


def _place(class_id: int, places: Floats, depth: int) -> ClassPlace:
    """Centre of the densest part of a class: repeatedly keep the half nearest to the median."""
    count = len(places)
    for _halving in range(HALVINGS):
        middle = np.median(places, axis=0)
        if len(places) < 2 * FEWEST:
            break
        squares = ((places - middle) ** 2).sum(axis=1)
        places = places[np.argpartition(squares, len(places) // 2)[: len(places) // 2 + 1]]
    middle = np.median(places, axis=0)
    return ClassPlace(class_id, float(middle[0]), float(middle[1]), count, depth)


def placed_apart(
    wanted: Iterable[tuple[float, float, float, float]],
    view: Camera,
    taken: Sequence[Rect] = (),
) -> list[tuple[int, Rect]]:
    """Choose boxes that fit into a view without overlaps; earlier ones have priority.

    Args:
        wanted: centre and size of each box, in pixels.
        taken: boxes placed before.
    """
    kept: list[tuple[int, Rect]] = []
    boxes = list(taken)
    for number, (x, y, width, height) in enumerate(wanted):
        box = (x - width / 2, y - height / 2, x + width / 2, y + height / 2)
        is_inside = box[0] >= 0 and box[1] >= 0 and box[2] <= view.width and box[3] <= view.height
        if is_inside and not any(_touch(box, other) for other in boxes):
            boxes.append(box)
            kept.append((number, box))
            if len(kept) == MOST_NAMES:
                break
    return kept


def _touch(one: Rect, other: Rect) -> bool:
    return (
        one[0] - GAP < other[2]
        and other[0] - GAP < one[2]
        and one[1] - GAP < other[3]
        and other[1] - GAP < one[3]
    )
