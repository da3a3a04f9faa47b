"""The collection stage's basis of an open project, kept up to date: new embeddings, new labels, removed images."""

from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from engine.everyday.blocks import stop_if_asked
from engine.everyday.collection_stage.basis import MOST_ANCHORS, CollectionBasis, collection_basis
from engine.everyday.collection_stage.cached_basis import CachedBasis, basis_key
from engine.everyday.snapshot import GROWTH, EmbeddedSnapshot

MANY_ANCHORS: Final = 64
"""Once labels added so many anchors, the basis is written again: linking them again would take as long as writing."""


@final
class LiveBasis:
    """The basis of a project's images, made when it is first asked for. One fit at a time may ask.

    Args:
        cached: where bases of large collections are kept between openings.
    """

    def __init__(self, cached: CachedBasis) -> None:
        self._cached = cached
        self._key = b""
        self._cached_anchors = 0
        self._basis: CollectionBasis | None = None
        self._rows = np.zeros(0, dtype=np.int64)

    def current(self, images: EmbeddedSnapshot, labelled: NDArray[np.int64]) -> CollectionBasis | None:
        """The basis of the listed images that have an embedding, with the labelled ones among its anchors.

        Args:
            images: with rows that lie where they lay before.
            labelled: ids of the images with a label and an embedding.
        """
        ready, anchors = images.ready_rows, images.rows_of(labelled)
        basis = self._basis
        if basis is None or self._is_outdated(ready):
            basis = self._read(images, ready) or self._made(images, ready, anchors)
        else:
            basis = self._with_new(basis, images, ready)
        if basis is not None:
            basis = basis.with_anchors(images.embeddings, anchors)
        self._basis, self._rows = basis, ready  # together, so that a fit that was cancelled leaves what was there
        self._write(images)
        return basis

    def _made(
        self, images: EmbeddedSnapshot, ready: NDArray[np.int64], anchors: NDArray[np.int64]
    ) -> CollectionBasis | None:
        return collection_basis(images.row_ids, images.embeddings, labelled=anchors, ready=ready)

    def _read(self, images: EmbeddedSnapshot, ready: NDArray[np.int64]) -> CollectionBasis | None:
        """The cached basis of a large collection; from now on `_key` says for which embeddings to write it."""
        self._key, self._cached_anchors = b"", 0
        if len(ready) <= MOST_ANCHORS:
            return None  # making it takes no longer than reading a file
        self._key = basis_key(images, ready)
        stop_if_asked()
        basis = self._cached.read(self._key, images)
        self._cached_anchors = 0 if basis is None else len(basis.anchors)
        return basis

    def _write(self, images: EmbeddedSnapshot) -> None:
        basis = self._basis
        if basis is None or not self._key or len(basis.anchors) < self._cached_anchors + MANY_ANCHORS:
            return
        if basis_key(images, self._rows) == self._key:  # otherwise images came or went since it was made
            self._cached.write(self._key, basis)
        self._cached_anchors = len(basis.anchors)

    def _is_outdated(self, ready: NDArray[np.int64]) -> bool:
        if np.array_equal(ready, self._rows):
            return False
        basis = self._basis
        if basis is None or len(ready) <= MOST_ANCHORS:
            return True
        return not basis.learned_from / GROWTH < len(ready) < GROWTH * basis.learned_from

    def _with_new(self, basis: CollectionBasis, images: EmbeddedSnapshot, ready: NDArray[np.int64]) -> CollectionBasis:
        new = np.setdiff1d(ready, self._rows, assume_unique=True)
        if len(new) or len(basis.image_ids) != len(images.row_ids):
            return basis.with_images(images.row_ids, images.embeddings, new)
        return basis
