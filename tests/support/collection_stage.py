"""Generated collections for the collection stage: correlated noise, many classes, few labels."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.everyday.collection_stage.basis import CollectionBasis, collection_basis
from engine.everyday.shots import Shots
from engine.graph.category_graph import CategoryGraph
from tests.support.everyday import WIDTH, unit
from tests.support.graphs import graph_of

FAMILIES = 3
LEAVES = 4
NUISANCE = 2.5

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Crowd:
    """A collection with known classes.

    Attributes:
        graph: families over leaves, every leaf of the last family below the first family too.
        embeddings: (n, d) of length 1.
        truth: (n,) leaf of each image.
    """

    graph: CategoryGraph
    embeddings: Matrix
    truth: NDArray[np.int64]

    @property
    def image_ids(self) -> NDArray[np.int64]:
        """(n,) ids: 101, 102, ..."""
        return np.arange(101, 101 + len(self.truth))

    @property
    def leaves(self) -> list[int]:
        """Leaf ids, ascending."""
        return sorted(set(self.truth.tolist()))

    def rows(self, class_id: int) -> NDArray[np.int64]:
        """Rows of a leaf's images."""
        return np.flatnonzero(self.truth == class_id)

    def shots(self, count: int, *, coarse: int = 0, offset: int = 0) -> Shots:
        """The first images of each leaf as shots, and the next ones with their parent as label."""
        rows, labels = [], []
        for leaf in self.leaves:
            own = self.rows(leaf)[offset:]
            rows += own[: count + coarse].tolist()
            labels += [leaf] * count + [min(self.graph.parents(leaf))] * coarse
        order = np.argsort(rows)
        chosen = np.array(rows, dtype=np.int64)[order]
        return Shots(
            self.image_ids[chosen], np.array(labels, dtype=np.int64)[order], self.embeddings[chosen]
        )

    def basis(self, shots: Shots) -> CollectionBasis:
        """The basis of all images with these shots labelled."""
        labelled = np.searchsorted(self.image_ids, shots.image_ids)
        found = collection_basis(self.image_ids, self.embeddings, labelled=labelled)
        assert found is not None
        return found


def crowd(per_leaf: int = 40, *, seed: int = 0) -> Crowd:
    """Generate a collection whose main directions are unrelated to the classes."""
    generator = np.random.default_rng(seed)
    parents_of: dict[str, tuple[str, ...]] = {f"family {family}": () for family in range(FAMILIES)}
    for family in range(FAMILIES):
        parents = (
            (f"family {family}", "family 0") if family == FAMILIES - 1 else (f"family {family}",)
        )
        parents_of |= {f"leaf {family}.{leaf}": parents for leaf in range(LEAVES)}
    graph = graph_of(parents_of)
    nuisance = generator.normal(size=(2, WIDTH))
    embeddings, truth = [], []
    for family in range(FAMILIES):
        middle = generator.normal(size=WIDTH)
        for leaf in range(LEAVES):
            mean = middle + 1.2 * generator.normal(size=WIDTH)
            noise = 0.6 * generator.normal(size=(per_leaf, WIDTH))
            embeddings.append(
                mean + noise + NUISANCE * generator.normal(size=(per_leaf, 2)) @ nuisance
            )
            truth += [graph.find(f"leaf {family}.{leaf}")] * per_leaf
    order = generator.permutation(len(truth))
    return Crowd(
        graph, unit(np.concatenate(embeddings))[order], np.array(truth, dtype=np.int64)[order]
    )
