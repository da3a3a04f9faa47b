"""Labelled images as label errors are looked for: labels, and vectors in which images of one class lie together."""

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np

from engine.everyday.blocks import Flags, Floats, Integers, one_thread_each, to_floats
from engine.everyday.classifier import Space
from engine.everyday.collection_stage.neighbours import MOST_IMAGES, whitening_of
from engine.everyday.shots import EmbeddedSnapshot
from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import UNKNOWN

FEWEST_TO_WHITEN: Final = (
    200  # of fewer images whitening removes what siblings share, too (decision 83)
)


@dataclass(frozen=True)
class JudgedLabels:
    """n labelled images, c different labels among them."""

    image_ids: Integers  # (n,) int64, ascending
    labels: Integers  # (n,) int64, class ids, or `UNKNOWN` for none of the classes
    vectors: Floats  # (n, d) float32 of length 1, where images of one class lie together
    plain: Floats  # (n, e) float32, embeddings as the backbone has them, less their mean
    is_confirmed: Flags = field(
        default_factory=lambda: np.zeros(0, dtype=bool)
    )  # (n,) bool, looked at twice

    def __len__(self) -> int:
        return len(self.image_ids)

    @cached_property
    def class_ids(self) -> Integers:
        """(c,) int64, ascending."""
        return np.unique(self.labels)

    @cached_property
    def columns(self) -> Integers:
        """(n,) int64, the place of each label among `class_ids`."""
        return np.searchsorted(self.class_ids, self.labels).astype(np.int64)

    @cached_property
    def counts(self) -> Integers:
        """(c,) int64, images of each label."""
        return np.bincount(self.columns, minlength=len(self.class_ids)).astype(np.int64)


@one_thread_each
def labelled_images(
    images: EmbeddedSnapshot,
    graph: CategoryGraph,
    space: Space | None,
    confirmed: Collection[int] = (),
) -> JudgedLabels:
    """The labelled images that have an embedding and whose class is in the graph, over all views where known.

    Args:
        images: of the collection.
        graph: of its classes.
        space: where images are compared, as a fitted classifier learned it; None to learn it here.
        confirmed: ids of images whose label a person looked at again.
    """
    places = np.flatnonzero((images.labels >= 0) | (images.labels == UNKNOWN))
    places = places[images.is_filled[images.rows[places]]]
    gone = [
        each
        for each in np.unique(images.labels[places]).tolist()
        if each != UNKNOWN and each not in graph
    ]
    places = places[~np.isin(images.labels[places], gone)]
    image_ids, alone = images.image_ids[places], to_floats(images.embeddings[images.rows[places]])
    plain = images.views.in_place_of(alone, image_ids)
    is_confirmed = np.isin(image_ids, np.array(sorted(confirmed), dtype=np.int64))
    vectors = _comparable(plain, images, space)
    labels = images.labels[places].astype(np.int64)
    return JudgedLabels(image_ids, labels, vectors, centred(plain), is_confirmed)


def centred(plain: Floats) -> Floats:
    """Embeddings (n, d) less their mean."""
    return np.asarray(plain - plain.mean(axis=0), dtype=np.float32) if len(plain) else plain


def _comparable(plain: Floats, images: EmbeddedSnapshot, space: Space | None) -> Floats:
    """Whitened vectors (n, d) where the collection has enough images for that, else directions from the mean."""
    ready = images.ready_rows
    if len(ready) >= FEWEST_TO_WHITEN:
        if space is None:
            some = ready[:: max(1, -(-len(ready) // MOST_IMAGES))]
            space = whitening_of(images.embeddings[some])
        if space is not None:
            return space.apply(plain)
    moved = centred(plain)
    lengths = np.sqrt(np.einsum("nd,nd->n", moved, moved))[:, None]
    return np.asarray(moved / np.maximum(lengths, np.float32(1e-6)), dtype=np.float32)
