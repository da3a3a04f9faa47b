"""What a classifier says of many images at once, and of labelled images that it did not learn from."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.everyday.blocks import in_blocks
from engine.everyday.fixed_point import Embeddings, block_of, factor_of
from engine.graph.category_graph import CategoryGraph

COLUMN_BLOCK_ROWS: Final = 4096
"""Rows that are multiplied with a single vector at once."""


@dataclass(frozen=True)
class Scores:
    """Outcome for n images."""

    best: NDArray[np.int64]  # (n,) int64 position of the likeliest candidate
    # best_logit, log_total: (n,) float32; probability is exp(best_logit - log_total)
    best_logit: NDArray[np.float32]
    log_total: NDArray[np.float32]
    safe_class: NDArray[np.int64]  # (n,) int64 class id, or -1
    safe_score: NDArray[np.float32]  # (n,) float32
    # (n,) float32 to the labelled images, as the collection stage has it; NaN without it
    similarity: NDArray[np.float32]

    @property
    def best_score(self) -> NDArray[np.float32]:
        """(n,) probability of the likeliest candidate."""
        return np.exp(self.best_logit - self.log_total)

    @classmethod
    def empty(cls, count: int) -> "Scores":
        """Scores to be filled, for `count` images; zeros until then, so that `best` never points outside."""
        integers, floats = np.zeros((2, count), dtype=np.int64), np.zeros((4, count), dtype=np.float32)
        return cls(integers[0], floats[0], floats[1], integers[1], floats[2], floats[3])

    def at(self, rows: NDArray[np.int64]) -> "Scores":
        """Scores of these rows, ascending; the very same ones where these are all."""
        if len(rows) == len(self.best):
            return self
        return Scores(*(array[rows] for array in vars(self).values()))

    def put(self, rows: slice | NDArray[np.int64], part: "Scores") -> None:
        """Write `part` into these rows."""
        for name, array in vars(self).items():
            array[rows] = getattr(part, name)


@dataclass(frozen=True)
class HeldOutShots:
    """Labelled images, each classified by a model that was fitted without it."""

    image_ids: NDArray[np.int64]  # (h,) int64
    class_ids: NDArray[np.int64]  # (h,) int64, the label of each, a candidate or a class below one
    probabilities: NDArray[np.float32]  # (h, c) float32 over the model's candidates

    def likeliest(self) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Position (h,) of each image's likeliest candidate, and its probability (h,)."""
        best = self.probabilities.argmax(axis=1)
        return best, np.take_along_axis(self.probabilities, best[:, None], axis=1)[:, 0]

    def fitting(self, graph: CategoryGraph) -> dict[int, frozenset[int]]:
        """For each label the classes that are right for it: itself and all above; labels that are gone are left out."""
        labels = set(self.class_ids.tolist())
        return {label: graph.ancestors(label) | {label} for label in labels if label in graph}


def similarity(embeddings: Embeddings, vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Inner products (n,) of all embeddings with a vector (d,)."""
    found = np.empty(len(embeddings), dtype=np.float32)

    def work(rows: slice) -> None:
        np.matmul(block_of(embeddings[rows]), vector * factor_of(embeddings), out=found[rows])

    in_blocks(len(embeddings), work, COLUMN_BLOCK_ROWS)
    return found
