"""Where a class seems to belong that somebody put at the top level for now."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.collection.explain import ScoredClass
from engine.everyday.model import EverydayModel
from engine.graph.category_graph import CategoryGraph

FEWEST_SHOTS: Final = 2
"""One image may be an odd one."""
FEWEST_CHILDREN: Final = 2
"""Only beside children with images can be seen how far the children of a class lie apart."""
LEAST_SHARE: Final = 0.2
"""Of the likeness to all classes that were compared. Chosen: what is less likely than that is no suggestion."""
CLOSE: Final = 0.5
"""Of two classes one inside the other the deeper one is named when it is at least so likely as the other."""
SLACK: Final = 1.5
"""A class may lie further out than the furthest child, by this factor on squared distances: one in four would if there
are three children and it is a fourth like them."""
MOST_COMPARED: Final = 24
"""Classes that are looked at closely, and children of each."""


def suggested_parents(
    fitted: EverydayModel, graph: CategoryGraph, class_id: int, count: int
) -> tuple[ScoredClass, ...]:
    """Coarse classes that a class's own images are so like that it seems to be one of their children.

    - Nothing is suggested for a class that heads a branch of its own (at the top level, with children), nor for one
      with fewer than `FEWEST_SHOTS` images: a mean of one image says little.
    - A parent must have at least `FEWEST_CHILDREN` children with images, and the class must lie hardly further from
      the parent's images than the furthest of these children lies from those of its siblings. Otherwise the class is
      merely less unlike this parent than others.
    - Present parents and what is above them are never suggested: the class is below them already.
    - None that is suggested is above another: the one that fits best is named, or the deeper one if it is about as
      likely.

    Paper: the PPN setting, where the K nearest prototypes stand in as parents.

    Returns:
        The likeliest first, at most `count`. A score is the share in the likeness to all classes that were compared,
        so the scores sum to 1 at most.
    """
    place = fitted.place_of(class_id)
    is_head = not graph.parents(class_id) and bool(graph.children(class_id))
    if place is None or is_head or len(fitted.shots.embeddings[fitted.shots.class_ids == class_id]) < FEWEST_SHOTS:
        return ()
    squared = _squared_distances(fitted, graph, class_id, place)
    tolerance = fitted.tuning.temperature * float(np.log(1 / CLOSE))
    fitting = {parent: far for parent, far in squared.items() if far <= SLACK * _reach_of(fitted, graph, parent)}
    if not fitting:
        return ()
    chosen = _apart(graph, fitting, tolerance)
    line = set(chosen).union(*(graph.ancestors(one) | graph.descendants(one) for one in chosen))
    others = _apart(graph, {other: far for other, far in squared.items() if other not in line}, tolerance)
    compared = [*chosen, *others]
    nearest = min(squared[other] for other in compared)
    likeness = {other: float(np.exp((nearest - squared[other]) / fitted.tuning.temperature)) for other in compared}
    total = sum(likeness.values())
    scored = [ScoredClass(parent, likeness[parent] / total) for parent in chosen]
    return tuple(sorted((one for one in scored if one.score >= LEAST_SHARE), key=lambda one: -one.score)[:count])


def _squared_distances(fitted: EverydayModel, graph: CategoryGraph, class_id: int, place: int) -> dict[int, float]:
    """Squared distances of a class's mean to those of the coarse classes nearest to it, nearest first."""
    table = fitted.table
    taken = graph.descendants(class_id) | graph.ancestors(class_id) | {class_id}
    coarse = [
        position
        for position, other in enumerate(table.class_ids.tolist())
        if table.has_initial[position] and other in graph and other not in taken and graph.children(other)
    ]
    squared = ((table.initial[coarse] - table.initial[place]) ** 2).sum(axis=1)
    order = np.argsort(squared, kind="stable")[:MOST_COMPARED]
    return {int(table.class_ids[coarse[nth]]): float(squared[nth]) for nth in order.tolist()}


def _reach_of(fitted: EverydayModel, graph: CategoryGraph, parent: int) -> float:
    """Squared distance to the furthest child from the parent's other images; below 0 with too few children to tell."""
    everything = _images_of(fitted, parent)
    found: list[float] = []
    for child in sorted(graph.children(parent))[:MOST_COMPARED]:
        own = _images_of(fitted, child)
        others = np.setdiff1d(everything, own)
        if len(own) and len(others):
            apart = _mean(fitted, own) - _mean(fitted, others)
            found.append(float(apart @ apart))
    return max(found) if len(found) >= FEWEST_CHILDREN else -1.0


def _images_of(fitted: EverydayModel, class_id: int) -> NDArray[np.int64]:
    """Places among the shots of the images that a class's initial prototype is the mean of."""
    place, members = fitted.place_of(class_id), fitted.table.membership
    if place is None:
        return np.zeros(0, dtype=np.int64)
    return members.image_positions[members.class_positions == place]


def _mean(fitted: EverydayModel, places: NDArray[np.int64]) -> NDArray[np.float32]:
    mean: NDArray[np.float32] = fitted.shots.embeddings[places].mean(axis=0)
    return mean


def _apart(graph: CategoryGraph, squared: dict[int, float], tolerance: float) -> list[int]:
    """Classes none of which is above another: the nearest first, or a deeper one that is at most so much further."""
    kept: list[int] = []
    for class_id in sorted(squared, key=lambda other: squared[other]):
        above = [other for other in kept if other in graph.ancestors(class_id)]
        below = [other for other in kept if other in graph.descendants(class_id)]
        if not above and not below:
            kept.append(class_id)
        elif not below and all(squared[class_id] - squared[other] <= tolerance for other in above):
            kept = [other for other in kept if other not in above] + [class_id]
    return kept
