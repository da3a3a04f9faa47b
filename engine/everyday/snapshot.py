"""Images, labels and embeddings as they were at one moment, for work on another thread."""

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.everyday.fixed_point import to_floats
from engine.everyday.shots import Shots
from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import UNKNOWN

GROWTH: Final = 1.25
"""What was learned from a large collection that grew or shrank by this much is learned anew; until then more images are
linked to the anchors that there are, and those that left stay as links between others."""


@dataclass(frozen=True)
class ViewEmbeddings:
    """Embeddings of some images over all their views."""

    image_ids: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # (k,) int64, ascending
    # (k, d) float32 of length 1
    vectors: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))

    def has(self, image_ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(n,) bool, which of these images are among them."""
        return np.isin(image_ids, self.image_ids)

    def in_place_of(self, vectors: NDArray[np.float32], image_ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Embeddings (n, d) of these images: over all views where that is known, else as given."""
        known = np.flatnonzero(self.has(image_ids))
        if not len(known):
            return vectors
        chosen = vectors.copy()
        chosen[known] = self.vectors[np.searchsorted(self.image_ids, image_ids[known])]
        return chosen


@dataclass(frozen=True)
class EmbeddedSnapshot:
    """What a fit reads, at the cost of a few references: its arrays are replaced by who owns them, never changed.

    The exception is `embeddings`: rows that are filled later, or anew, change in it. `age` tells which they are.
    """

    image_ids: NDArray[np.int64]  # (n,) int64 of the listed images, ascending
    labels: NDArray[np.int64]  # (n,) int64, class id, `NO_CLASS` or `UNKNOWN`
    rows: NDArray[np.int64]  # (n,) int64 rows of the listed images
    has_failed: NDArray[np.bool_]  # (n,) bool
    row_ids: NDArray[np.int64]  # (r,) int64, the image in each row, ascending; also images that were removed
    embeddings: NDArray[np.int16]  # (r, d) int16 in fixed point
    is_filled: NDArray[np.bool_]  # (r,) bool, rows that have an embedding
    age: int  # of the store; rows with a later `EmbeddingStore.filled_at` are others than the ones that this is about
    views: ViewEmbeddings = field(default_factory=ViewEmbeddings)  # embeddings of labelled images over all their views

    @property
    def ready_rows(self) -> NDArray[np.int64]:
        """Rows of the listed images that have an embedding, ascending."""
        return self.rows[self.is_filled[self.rows]]

    @property
    def has_all(self) -> bool:
        """Whether every image has an embedding or cannot be read, so that no more embeddings are to come."""
        return bool((self.is_filled[self.rows] | self.has_failed).all())

    def rows_of(self, image_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows of images that have one."""
        return np.searchsorted(self.row_ids, image_ids).astype(np.int64)

    def shots(self, graph: CategoryGraph) -> Shots:
        """The labelled images that have an embedding and whose class is in the graph, over all views where known."""
        places = np.flatnonzero(self.labels >= 0)
        places = places[self.is_filled[self.rows[places]]]
        known = [class_id for class_id in np.unique(self.labels[places]).tolist() if class_id in graph]
        places = places[np.isin(self.labels[places], known)]
        image_ids, alone = self.image_ids[places], to_floats(self.embeddings[self.rows[places]])
        return Shots(image_ids, self.labels[places], self.views.in_place_of(alone, image_ids), alone)

    def ignored(self) -> NDArray[np.int64]:
        """Ids of the images that teach nothing: said to show none of the classes, or removed."""
        unknown = self.image_ids[self.labels == UNKNOWN]
        if len(self.row_ids) == len(self.image_ids):
            return unknown
        return np.union1d(unknown, np.setdiff1d(self.row_ids, self.image_ids, assume_unique=True))


def has_outgrown(images: EmbeddedSnapshot, learned_from: NDArray[np.int64]) -> bool:
    """Whether enough embeddings came, or came back, that the model should learn from them.

    Once no more are to come, a single one is enough.

    Args:
        images: as they are now.
        learned_from: rows that had an embedding when the model was last asked to learn.
    """
    ready = images.ready_rows
    if len(ready) >= GROWTH * len(learned_from):
        return True
    return images.has_all and not np.isin(ready, learned_from, assume_unique=True).all()
