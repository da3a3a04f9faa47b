"""What every end-to-end training sees: pixels, the most special class known of each, the category graph as arrays."""

from dataclasses import dataclass
from functools import cached_property

import networkx as nx
import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.int64]


@dataclass(frozen=True)
class TrainingSet:
    """Images with their classes on a category graph of C classes."""

    # (n, S, S, 3) uint8 RGB; may be memory-mapped. What S exceeds the trained side by is room for shifts.
    pixels: NDArray[np.uint8]
    class_positions: Positions  # (n,) int64 in [0, C), the most special class known of each image
    edge_index: Positions  # (2, E) int64, row 0 the parent, row 1 the child; without cycles
    levels: Positions  # (C,) int64, level of each class; a class competes with the others on its level
    few_shot: Positions  # (F,) int64, sorted positions of the few-shot (finest) classes; all others are coarse
    class_names: tuple[str, ...]  # C names, for messages

    @property
    def class_count(self) -> int:
        """Number of classes, C."""
        return len(self.class_names)

    @property
    def side(self) -> int:
        """Side S of the stored images in pixels."""
        return int(self.pixels.shape[1])

    @cached_property
    def images_by_class(self) -> tuple[Positions, ...]:
        """Ascending positions of the images that each class itself has, for each of C classes."""
        order = np.argsort(self.class_positions, kind="stable")
        bounds = np.cumsum(np.bincount(self.class_positions, minlength=self.class_count))[:-1]
        return tuple(np.split(order, bounds))

    @cached_property
    def ancestors(self) -> tuple[frozenset[int], ...]:
        return tuple(frozenset(nx.ancestors(self._graph, position)) for position in range(self.class_count))

    @cached_property
    def descendants(self) -> tuple[frozenset[int], ...]:
        return tuple(frozenset(nx.descendants(self._graph, position)) for position in range(self.class_count))

    @cached_property
    def _graph(self) -> "nx.DiGraph[int]":
        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_nodes_from(range(self.class_count))
        graph.add_edges_from(self.edge_index.T.tolist())
        return graph
