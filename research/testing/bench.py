"""Embeddings of all images in tests, by a trained model."""

from dataclasses import dataclass
from functools import cached_property
from typing import final

import networkx as nx
import numpy as np
import torch
from torch import Tensor

from engine.training.loop import Embed
from engine.training.training_set import Positions
from research.data_sets.stored import FewShotData
from research.testing.tasks import Tasks


@dataclass(frozen=True)
class EmbeddedTasks:
    """Embeddings of tasks: `support` (T, N, k, d) and `queries` (T, N * Q, d), float32."""

    tasks: Tasks
    support: Tensor
    queries: Tensor


@final
class Bench:
    """Embed each image once, on first use.

    Args:
        data: the data set.
        embed: of the trained model.

    Attributes:
        parents: positions of the parents of each of the C classes.
    """

    def __init__(self, data: FewShotData, embed: Embed) -> None:
        self.data = data
        graph: nx.DiGraph[int] = nx.DiGraph(data.edge_index.T.tolist())
        graph.add_nodes_from(range(len(data.class_names)))
        self.parents = tuple(
            tuple(sorted(graph.predecessors(place))) for place in range(len(graph))
        )
        self._embed = embed
        self._rows = np.full(len(data.class_positions), -1, dtype=np.int64)
        self._blocks: list[Tensor] = []
        self._count = 0

    def embeddings_of(self, positions: Positions) -> Tensor:
        """Embeddings (..., d) float32 of images at positions (...), on the CPU."""
        wanted = np.unique(positions)
        missing = wanted[self._rows[wanted] < 0]
        if len(missing):
            self._blocks = [torch.cat([*self._blocks, self._embed(missing).cpu()])]
            self._rows[missing] = np.arange(self._count, self._count + len(missing))
            self._count += len(missing)
        return self._blocks[0][torch.from_numpy(self._rows[positions])]

    @cached_property
    def whitening(self) -> Tensor:
        """Whitening matrix (d, d) float32 that evens out the scatter within few-shot classes.

        The covariance within classes is shrunk towards its mean variance (Ledoit and Wolf, 2004).
        """
        from sklearn.covariance import ledoit_wolf

        data = self.data
        images = [
            np.flatnonzero((data.class_positions == y) & ~data.is_test)
            for y in data.training_few_shot.tolist()
        ]
        rows = torch.cat([_centred(self.embeddings_of(positions)) for positions in images])
        covariance = torch.from_numpy(ledoit_wolf(rows.numpy(), assume_centered=True)[0])
        values, vectors = torch.linalg.eigh(covariance.double())
        return (vectors * values.clamp(min=1e-12).rsqrt() @ vectors.T).float()

    def embed_tasks(self, tasks: Tasks) -> EmbeddedTasks:
        """Look up the embeddings of tasks."""
        return EmbeddedTasks(
            tasks, self.embeddings_of(tasks.support), self.embeddings_of(tasks.flat_queries)
        )


def _centred(embeddings: Tensor) -> Tensor:
    return embeddings - embeddings.mean(dim=0)


def test_images(data: FewShotData) -> dict[int, Positions]:
    """Test images of each test few-shot class."""
    return {
        position: np.flatnonzero((data.class_positions == position) & data.is_test)
        for position in data.test_few_shot.tolist()
    }


test_images.__test__ = False  # type: ignore[attr-defined]  # pytest takes a function of this name for a test


def validation_images(data: FewShotData) -> dict[int, Positions]:
    """Images of each validation class, else of each training class; never of a test class."""
    classes = data.validation_few_shot if len(data.validation_few_shot) else data.training_few_shot
    return {
        position: np.flatnonzero((data.class_positions == position) & ~data.is_test)
        for position in classes.tolist()
    }
