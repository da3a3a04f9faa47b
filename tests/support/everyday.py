"""Labelled collections for the everyday model: class means scattered down a graph."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.everyday.classifier import Setting
from engine.everyday.collection_stage.anchor_labels import AnchorLabels
from engine.everyday.prototypical.prototypes import PropagationSession, PrototypeTable
from engine.everyday.shots import Shots
from engine.graph.category_graph import CategoryGraph
from engine.model.propagation import PropagationNetwork
from engine.model_card import BackboneCard
from engine.training.export import export_propagation
from tests.support.graphs import graph_of
from tests.support.prototype_graphs import random_attention

WIDTH = 16
EVERYDAY_SETTINGS = (Setting.PPN_PLUS, Setting.PPN, Setting.PROTOTYPES)
"""Settings of the everyday model."""
PRIOR = BackboneCard(
    "prior",
    16,
    (0.5, 0.5, 0.5),
    (0.2, 0.2, 0.2),
    WIDTH,
    shrinkage=1.5,
    shrinkage_guessed=0.2,
    temperature=0.12,
)

Matrix = NDArray[np.float32]


def exported_propagation(folder: Path) -> PropagationSession:
    """A session of untrained attention whose weights differ between edges."""
    path = folder / "propagation.onnx"
    export_propagation(PropagationNetwork(random_attention(WIDTH)), path)
    return PropagationSession(path)


def tree(branches: int = 3, leaves: int = 3) -> CategoryGraph:
    """A tree of a root, branches and leaves.

    Ids: the root is 1, branch b (from 0) is 2 + b, leaf l of branch b is 2 + branches + b * leaves
    + l.
    """
    parents_of: dict[str, tuple[str, ...]] = {"root": ()}
    parents_of |= {f"branch {branch}": ("root",) for branch in range(branches)}
    parents_of |= {
        f"leaf {branch}.{leaf}": (f"branch {branch}",)
        for branch in range(branches)
        for leaf in range(leaves)
    }
    return graph_of(parents_of)


@dataclass(frozen=True)
class Collection:
    """A graph and the position of each class in embedding space.

    Attributes:
        graph: the category graph.
        means: mean (d,) of each class's images, not normalised.
        generator: draws the images.
        noise: standard deviation of an image around its class, as a length.
    """

    graph: CategoryGraph
    means: Mapping[int, Matrix]
    generator: np.random.Generator
    noise: float

    def images_of(self, class_id: int, count: int) -> Matrix:
        """Normalised embeddings (count, d) around a class's mean."""
        noise = self.generator.normal(size=(count, WIDTH)) * self.noise / np.sqrt(WIDTH)
        return unit(self.means[class_id] + noise)

    def images_of_each(
        self, class_ids: Sequence[int], count: int
    ) -> tuple[Matrix, NDArray[np.int64]]:
        """Embeddings (n, d) of `count` images of each class, and their classes (n,)."""
        images = np.concatenate([self.images_of(class_id, count) for class_id in class_ids])
        return images, np.repeat(np.array(class_ids, dtype=np.int64), count)

    def shots(self, counts: Mapping[int, int]) -> Shots:
        """Labelled images of each class, with image ids from 1."""
        embeddings = [self.images_of(class_id, count) for class_id, count in counts.items()]
        class_ids = np.repeat(list(counts), list(counts.values())).astype(np.int64)
        return Shots(np.arange(1, len(class_ids) + 1), class_ids, np.concatenate(embeddings))


def collection(
    graph: CategoryGraph, *, seed: int = 0, spread: float = 0.8, noise: float = 0.8
) -> Collection:
    """Scatter class means down a graph, each at distance `spread` from its parents' mean."""
    generator = np.random.default_rng(seed)
    means: dict[int, Matrix] = {}
    for level in graph.levels():
        for class_id in level:
            parents = graph.parents(class_id)
            start = (
                np.mean([means[parent] for parent in parents], axis=0)
                if parents
                else np.zeros(WIDTH)
            )
            step = generator.normal(size=WIDTH)
            means[class_id] = (start + spread * step / np.linalg.norm(step)).astype(np.float32)
    return Collection(graph, means, generator, noise)


def unit(vectors: NDArray[np.floating]) -> Matrix:
    """Normalise vectors."""
    return (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)


def no_shots() -> Shots:
    """A project without labels."""
    return Shots(np.empty(0, np.int64), np.empty(0, np.int64), np.empty((0, WIDTH), np.float32))


def some_shots(shots: Shots, chosen: NDArray[np.int64]) -> Shots:
    """Shots at these positions, in this order."""
    return Shots(shots.image_ids[chosen], shots.class_ids[chosen], shots.embeddings[chosen])


def without(shots: Shots, position: int) -> Shots:
    """All shots except one."""
    return some_shots(shots, np.delete(np.arange(len(shots)), position))


def stand_in_distance(shots: Shots, shot: int, lambda_: float, *, count: int) -> float:
    """Squared distance of a held-out shot to its class in the PPN setting, computed without it.

    The class's mean is of its other shots, and its parents are the `count` classes with the nearest
    means.
    """
    embeddings, classes = shots.embeddings.astype(np.float64), shots.class_ids
    own = classes[shot]
    rest = np.arange(len(classes)) != shot
    mean = embeddings[rest & (classes == own)].mean(axis=0)
    others = [
        embeddings[classes == other].mean(axis=0) for other in np.unique(classes) if other != own
    ]
    others.sort(key=lambda other: float(((other - mean) ** 2).sum()))
    final = lambda_ * mean + (1 - lambda_) * np.mean(others[:count], axis=0)
    return float(((embeddings[shot] - final) ** 2).sum())


def together(first: Shots, second: Shots) -> Shots:
    """Concatenate both, renumbering the second's images."""
    return Shots(
        np.arange(1, len(first) + len(second) + 1),
        np.concatenate([first.class_ids, second.class_ids]),
        np.concatenate([first.embeddings, second.embeddings]),
    )


def propagation_matrix(table: PrototypeTable) -> Matrix:
    """Edge weights (C, C) of a table: rows are children, columns parents."""
    matrix = np.zeros((len(table.class_ids), len(table.class_ids)), dtype=np.float32)
    matrix[table.edges[1], table.edges[0]] = table.edge_weights
    return matrix


def anchor_labels(
    positions: Sequence[int], allowed: Sequence[Sequence[int]], width: int
) -> AnchorLabels:
    """Labels of anchors with the indices of permitted candidates, out of `width`."""
    places = {label: np.array(each, dtype=np.int64) for label, each in enumerate(allowed)}
    return AnchorLabels(
        np.array(positions, dtype=np.int64), np.arange(len(positions)), places, width
    )
