"""The images a person labelled, and which of them make up which class's initial prototype."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.graph.category_graph import CategoryGraph


@dataclass(frozen=True)
class Shots:
    """Labelled images with embeddings; the support set of the whole graph."""

    image_ids: NDArray[np.int64]  # (n,) int64
    class_ids: NDArray[np.int64]  # (n,) int64, the person's class, fine or coarse
    embeddings: NDArray[np.float32]  # (n, d) float32, what prototypes are made from
    # (n, d) float32, where `embeddings` are over several views; None where they are not
    single_view: NDArray[np.float32] | None = None

    @property
    def as_classified(self) -> NDArray[np.float32]:
        """(n, d) float32, what these images would be classified by, as every other image is: a single view."""
        return self.embeddings if self.single_view is None else self.single_view

    def __len__(self) -> int:
        return len(self.image_ids)

    def at(self, positions: NDArray[np.int64]) -> "Shots":
        """Some of them."""
        single_view = None if self.single_view is None else self.single_view[positions]
        return Shots(self.image_ids[positions], self.class_ids[positions], self.embeddings[positions], single_view)

    def counts(self) -> dict[int, int]:
        """Number of shots of each class that has any."""
        class_ids, counts = np.unique(self.class_ids, return_counts=True)
        return dict(zip(class_ids.tolist(), counts.tolist(), strict=True))


@dataclass(frozen=True)
class Membership:
    """Which image makes up which initial prototype: pairs of positions, (m,) int64 each."""

    image_positions: NDArray[np.int64]
    class_positions: NDArray[np.int64]


def reached_classes(graph: CategoryGraph, labelled: Sequence[int]) -> tuple[int, ...]:
    """Classes that can have a prototype: labelled ones, their ancestors, and children of either (zero-shot).

    In a graph of 80,000 classes with a few labelled ones this keeps the work to the labelled branches.
    """
    with_images = set(labelled)
    for class_id in labelled:
        with_images |= graph.ancestors(class_id)
    reached = set(with_images)
    for class_id in with_images:
        reached.update(graph.children(class_id))
    return tuple(sorted(reached))


def membership(graph: CategoryGraph, class_ids: Sequence[int], shots: Shots) -> Membership:
    """Pair each class with the images its initial prototype is the mean of.

    A class with own images takes those. A class without takes the distinct images of its descendants: that is ours,
    the paper gives every coarse class images of its own.

    Paper: the sets X^y of Eq. 3.
    """
    positions_of: dict[int, list[int]] = {}
    for position, class_id in enumerate(shots.class_ids.tolist()):
        positions_of.setdefault(class_id, []).append(position)
    inherited: dict[int, list[int]] = {}
    for labelled, positions in positions_of.items():
        for ancestor in graph.ancestors(labelled):
            if ancestor not in positions_of:
                inherited.setdefault(ancestor, []).extend(positions)
    images: list[int] = []
    classes: list[int] = []
    for place, class_id in enumerate(class_ids):
        positions = positions_of.get(class_id) or inherited.get(class_id, [])
        images.extend(positions)
        classes.extend([place] * len(positions))
    return Membership(np.array(images, dtype=np.int64), np.array(classes, dtype=np.int64))


def class_means(shots: Shots, members: Membership, class_count: int) -> NDArray[np.float32]:
    """Mean embedding (C, d) of each class's member images."""
    sums = np.zeros((class_count, shots.embeddings.shape[1]), dtype=np.float32)
    np.add.at(sums, members.class_positions, shots.embeddings[members.image_positions])
    counts = np.bincount(members.class_positions, minlength=class_count)
    return (sums / np.maximum(counts, 1)[:, None]).astype(np.float32)
