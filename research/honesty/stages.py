"""Stages of a project: which classes have examples, and how many each."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.graph.category_graph import CategoryGraph
from research.transfer.collection import TransferCollection

FEW = 5
"""Classes of the second stage; other stages have a fraction of all."""
PARTS = (4, 2, 1)
"""Divisors: the later stages have one class in so many."""


@dataclass(frozen=True, order=True)
class HonestyStage:
    """Classes with examples.

    Attributes:
        classes: with examples.
        is_branch: whether these are close in the graph, instead of random.
        shots: labels of each of them.
    """

    classes: int
    is_branch: bool
    shots: int

    @property
    def name(self) -> str:
        """Name for a row of a table."""
        return (
            f"{self.classes}{', a branch' * self.is_branch}, {self.shots} "
            f"shot{'s' * (self.shots > 1)}"
        )

    @property
    def folder(self) -> str:
        """Name of the file of its draws."""
        return f"{self.classes}-classes{'-branch' * self.is_branch}-{self.shots}-shots"


def stages_of(ways: int, shots: Sequence[int]) -> tuple[HonestyStage, ...]:
    """All stages of a collection with `ways` classes; one class and all classes are not drawn."""
    counts = sorted({1, min(FEW, ways), *(max(1, ways // part) for part in PARTS)})
    return tuple(
        HonestyStage(count, is_branch, each)
        for count in counts
        for is_branch in (False, True)
        if not is_branch or 1 < count < ways
        for each in shots
    )


def classes_with_examples(
    collection: TransferCollection, stage: HonestyStage, seed: int
) -> NDArray[np.int64]:
    """Ids (k,) of a draw; random stages with more classes contain those with fewer."""
    order = np.random.default_rng(seed).permutation(collection.leaf_ids)
    if stage.is_branch:
        steps = steps_from(collection.graph, int(order[0]))
        far = len(collection.graph.classes())
        distance = np.array([steps.get(leaf, far) for leaf in order.tolist()])
        order = order[np.argsort(distance, kind="stable")]
    return order[: stage.classes]


def steps_from(graph: CategoryGraph, start: int) -> dict[int, int]:
    """Edges, up or down, between a class and each reachable one."""
    steps, queue = {start: 0}, deque([start])
    while queue:
        here = queue.popleft()
        for near in (*graph.parents(here), *graph.children(here)):
            if near not in steps:
                steps[near] = steps[here] + 1
                queue.append(near)
    return steps
