"""Wrong labels planted in a collection: any other class, or a similar one."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from engine.graph.category_graph import CategoryGraph


class ErrorKind(StrEnum):
    """Kind of label errors."""

    UNIFORM = "any class"  # uniform over all other classes
    SIBLINGS = "siblings"  # a class with a common parent


@dataclass(frozen=True)
class PlantedErrors:
    """Labels of n images, some of them wrong."""

    truth: NDArray[np.int64]  # (n,) int64 class ids
    labels: NDArray[np.int64]  # (n,) int64

    @property
    def is_wrong(self) -> NDArray[np.bool_]:
        """(n,) bool."""
        return self.labels != self.truth


def plant(
    graph: CategoryGraph, truth: NDArray[np.int64], share: float, kind: ErrorKind, seed: int
) -> PlantedErrors:
    """Make a share of the labels wrong.

    Args:
        graph: of the classes.
        truth: (n,) right labels.
        share: of n, at least one label; for siblings only images of classes with siblings.
        kind: of errors.
        seed: of the draw.
    """
    generator = np.random.default_rng(seed)
    class_ids = np.unique(truth).tolist()
    mistaken = {each: _mistaken_for(graph, each, class_ids, kind) for each in class_ids}
    free = np.flatnonzero([bool(mistaken[each]) for each in truth.tolist()])
    chosen = generator.choice(
        free, min(len(free), max(1, round(share * len(truth)))), replace=False
    )
    labels = truth.copy()
    for row in chosen.tolist():
        labels[row] = generator.choice(mistaken[int(truth[row])])
    return PlantedErrors(truth, labels)


def _mistaken_for(
    graph: CategoryGraph, class_id: int, class_ids: list[int], kind: ErrorKind
) -> list[int]:
    others = [each for each in class_ids if each != class_id]
    if kind is ErrorKind.UNIFORM:
        return others
    parents = set(graph.parents(class_id))
    return [each for each in others if parents & set(graph.parents(each))]
