"""Peers on the same embeddings and labels: softmax of prototypes, and two novelty detectors.

Both expect as many images of classes without examples as their share of the leaves, like the
program.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from research.transfer.task import Matrix, softmax, squared_distances

TEMPERATURES = np.geomspace(0.005, 1.0, 24)
"""Candidates, of squared distances between embeddings of length 1."""
USUAL_TEMPERATURE = 0.1
"""Default where no shot can be held out, as each class has a single one."""


@dataclass(frozen=True)
class PeerTask:
    """Labels and images.

    Attributes:
        support: (s, d) float32 of the labelled images.
        places: (s,) int64 in [0, k), the class of each.
        queries: (q, d) float32 of the images to classify.
        share: of the leaves that have examples.
    """

    support: Matrix
    places: NDArray[np.int64]
    queries: Matrix
    share: float

    @cached_property
    def sums(self) -> Matrix:
        """(k, d) of each class's shots."""
        sums = np.zeros((int(self.places.max()) + 1, self.support.shape[1]), dtype=np.float32)
        np.add.at(sums, self.places, self.support)
        return sums

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """(k,) shots of each class."""
        return np.bincount(self.places)

    @cached_property
    def distances(self) -> Matrix:
        """(q, k) squared distances of the queries to the prototypes."""
        return squared_distances(
            self.queries, (self.sums / self.counts[:, None]).astype(np.float32)
        )

    @cached_property
    def temperature(self) -> float:
        """Temperature of the least log loss of shots, each held out of its prototype."""
        held = np.flatnonzero(self.counts[self.places] > 1)
        if not len(held) or len(self.counts) == 1:
            return USUAL_TEMPERATURE
        own, prototypes = self.places[held], (self.sums / self.counts[:, None]).astype(np.float32)
        distances = squared_distances(self.support[held], prototypes)
        without = (self.sums[own] - self.support[held]) / (self.counts[own, None] - 1)
        distances[np.arange(len(held)), own] = ((self.support[held] - without) ** 2).sum(axis=1)

        def loss(temperature: float) -> float:
            chances = softmax(-distances / np.float32(temperature))[np.arange(len(held)), own]
            return -float(np.log(np.maximum(chances, 1e-12)).mean())

        return float(min(TEMPERATURES.tolist(), key=loss))


def by_softmax(task: PeerTask) -> Matrix:
    """Probabilities (q, k) that sum to 1 (Guo and others, 2017)."""
    return softmax(-task.distances / np.float32(task.temperature))


def by_energy(task: PeerTask) -> Matrix:
    """Softmax times a probability by the rank of the energy (Liu and others, 2020)."""
    logits = -task.distances / np.float32(task.temperature)
    top = logits.max(axis=1)
    energy = top + np.log(np.exp(logits - top[:, None]).sum(axis=1))
    rank = np.empty(len(energy))
    rank[np.argsort(energy, kind="stable")] = (np.arange(len(energy)) + 0.5) / len(energy)
    share = task.share
    known = 1 - 2 * (1 - share) * (1 - rank) if share >= 1 / 2 else 2 * share * rank
    return (by_softmax(task) * known[:, None]).astype(np.float32)


def by_distance(task: PeerTask) -> Matrix:
    """Softmax times a logistic function of the distance to the nearest prototype."""
    nearest = task.distances.min(axis=1)
    nearness = (nearest.mean() - nearest) / max(float(nearest.std()), 1e-6)
    share = min(max(task.share, 1e-4), 1 - 1e-4)
    known = 1 / (1 + np.exp(-nearness - np.log(share / (1 - share))))
    if task.share == 1:
        known = np.ones_like(known)
    return (by_softmax(task) * known[:, None]).astype(np.float32)


PEERS: Mapping[str, Callable[[PeerTask], Matrix]] = {
    "softmax": by_softmax,
    "energy": by_energy,
    "distance": by_distance,
}
