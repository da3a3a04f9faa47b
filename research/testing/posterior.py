"""Propagation without given parents, as an empirical Bayes estimate of class means.

The mean of a class is assumed to scatter around the known prototypes of training, and a support
image around the mean of its class. The expected mean, given k images, blends their own mean with
the known prototypes, each weighted by its posterior probability. Eq. 6 is that blend; the paper
takes a fixed lambda and the three nearest.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
import torch
from torch import Tensor

from engine.model.propagation import squared_distances
from engine.training.class_heads import ClassHeads
from engine.training.training_set import Positions
from research.testing.bench import Bench, EmbeddedTasks

BETAS = (0.1, 0.2, 0.4, 0.8, 1.6)
TEMPERATURES = (0.5, 1.0)
Blend = Callable[[EmbeddedTasks], Tensor]
"""Final prototypes (T, N, d) of tasks."""


@final
class KnownClasses:
    """Prototypes of the Z classes with training images, coarse ones included.

    Attributes:
        positions: (Z,) int64, ascending.
        images: positions of all training images of each class.
        vectors: (Z, d) float32, mean embedding of these.
    """

    def __init__(self, bench: Bench) -> None:
        self._bench, data = bench, bench.data
        is_own = ~data.is_test & data.part_classes(test=False)[data.class_positions]
        self.positions: Positions = np.unique(data.class_positions[is_own])
        self.images = tuple(
            np.flatnonzero(is_own & (data.class_positions == each))
            for each in self.positions.tolist()
        )
        self.vectors = torch.stack(
            [bench.embeddings_of(images).mean(dim=0) for images in self.images]
        )

    @cached_property
    def centre(self) -> Tensor:
        """Mean (d,) of the prototypes."""
        return self.vectors.mean(dim=0)

    @cached_property
    def scatter(self) -> float:
        """Unbiased mean squared distance of few-shot training images from their class mean."""
        squares, freedom = 0.0, 0
        for place in self.few_shot.tolist():
            rows = self.embeddings_of(place)
            squares += float((rows - rows.mean(dim=0)).square().sum())
            freedom += len(rows) - 1
        return squares / max(freedom, 1)

    @cached_property
    def few_shot(self) -> Positions:
        """Positions (f,) of the few-shot classes among the known ones."""
        return np.flatnonzero(np.isin(self.positions, self._bench.data.training_few_shot))

    def embeddings_of(self, place: int) -> Tensor:
        """Embeddings (m, d) of the training images of a known class."""
        return self._bench.embeddings_of(self.images[place])

    def places_of(self, classes: Positions) -> Positions:
        """Position (k,) of each class among the known ones, -1 for others."""
        place = np.minimum(np.searchsorted(self.positions, classes), len(self.positions) - 1)
        return np.where(self.positions[place] == classes, place, -1)


def own_weight(beta: float, shots: int) -> float:
    """Lambda of Eq. 6 for k images; beta is the variance of class means over that of images."""
    return beta / (beta + 1 / shots)


def plain_means(embedded: EmbeddedTasks) -> Tensor:
    """Lambda 1: `P0` alone."""
    return embedded.support.mean(dim=2)


@dataclass(frozen=True)
class Shrunk:
    """Means shrunk towards the mean of all known prototypes."""

    known: KnownClasses
    beta: float

    def __call__(self, embedded: EmbeddedTasks) -> Tensor:
        """Final prototypes (T, N, d) float32."""
        share = own_weight(self.beta, embedded.support.shape[2])
        return share * plain_means(embedded) + (1 - share) * self.known.centre


def cluster_centres(known: KnownClasses, count: int) -> Tensor:
    """Centres (count, d) of training images by k-means, as nodes to propagate from."""
    from sklearn.cluster import KMeans

    rows = torch.cat([known.embeddings_of(place) for place in range(len(known.positions))]).numpy()
    clusters = KMeans(min(count, len(rows)), n_init=1, max_iter=50, random_state=0).fit(rows)
    return torch.from_numpy(np.asarray(clusters.cluster_centers_, dtype=np.float32))


@dataclass(frozen=True)
class Posterior:
    """Prototypes of training, weighted by the probability that a class scatters around each.

    w_z = softmax_z(-|P0 - P_z|² / (2 T s² (beta + 1/k))).

    Attributes:
        prototypes: (Z, d) float32, `P_z`.
        scatter: s², see `KnownClasses.scatter`.
        beta: see `own_weight`.
        temperature: T.
    """

    prototypes: Tensor
    scatter: float
    beta: float
    temperature: float

    def __call__(self, embedded: EmbeddedTasks) -> Tensor:
        """Final prototypes (T, N, d) float32."""
        initial, shots = plain_means(embedded), embedded.support.shape[2]
        share = own_weight(self.beta, shots)
        width = 2 * self.temperature * self.scatter * (self.beta + 1 / shots)
        scores = -squared_distances(initial.flatten(0, 1), self.prototypes) / width
        propagated = (scores.softmax(dim=1) @ self.prototypes).reshape(initial.shape)
        return share * initial + (1 - share) * propagated


@dataclass(frozen=True)
class ByHeads:
    """Parents by the heads of training: known prototypes, weighted by their probabilities.

    Attributes:
        known: prototypes.
        heads: from training, on the CPU.
        levels: with possible parents; every level has the same weight.
        beta: see `own_weight`.
    """

    known: KnownClasses
    heads: ClassHeads
    levels: Sequence[int]
    beta: float

    @torch.no_grad()
    def __call__(self, embedded: EmbeddedTasks) -> Tensor:
        """Final prototypes (T, N, d) float32."""
        tasks, ways, shots, _ = embedded.support.shape
        scores = self.heads.log_probabilities(embedded.support.flatten(0, 2))[
            :, torch.from_numpy(self.known.positions)
        ]
        # Images of one class are independent evidence.
        scores = scores.reshape(tasks * ways, shots, -1).sum(dim=1)
        known_levels = self.heads.levels[torch.from_numpy(self.known.positions)]
        parts = []
        for level in self.levels:
            on_level = known_levels == level
            parts.append(scores[:, on_level].softmax(dim=1) @ self.known.vectors[on_level])
        propagated = torch.stack(parts).mean(dim=0).reshape(tasks, ways, -1)
        share = own_weight(self.beta, shots)
        return share * plain_means(embedded) + (1 - share) * propagated


def level_choices(heads: ClassHeads) -> tuple[tuple[int, ...], ...]:
    """Sets of levels to try: the one above the finest, all above the finest, all."""
    levels = heads.seen_levels
    tried = (levels[1:2], levels[1:], levels)
    return tuple(dict.fromkeys(tuple(each) for each in tried if each))
