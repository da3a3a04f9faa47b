"""The collection stage's basis of an open project, kept up to date: new embeddings, new labels, removed images."""

from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from engine.collection.embeddings.cached_basis import CachedBasis, basis_key
from engine.collection.embeddings.embedded_images import EmbeddedImages
from engine.everyday.collection_stage.basis import MOST_ANCHORS, CollectionBasis, collection_basis

GROWTH: Final = 1.25
"""The basis of a large collection that grew or shrank by this much is made anew; until then more images are linked to
the anchors that there are, and those that left stay in it as links between others."""
MANY_ANCHORS: Final = 64
"""Once labels added so many anchors, the basis is written again: linking them again would take as long as writing."""


@final
class LiveBasis:
    """The basis of a project's images, made when it is first asked for.

    Args:
        embedded: the images; a new basis is needed after `EmbeddedImages.read`.
        cached: where bases of large collections are kept between openings.
    """

    def __init__(self, embedded: EmbeddedImages, cached: CachedBasis) -> None:
        self._embedded = embedded
        self._store = embedded.store
        self._cached = cached
        self._key = b""
        self._cached_anchors = 0
        self._basis: CollectionBasis | None = None
        self._rows = np.zeros(0, dtype=np.int64)

    def current(self, labelled: NDArray[np.int64]) -> CollectionBasis | None:
        """The basis of the listed images that have an embedding, with the labelled ones among its anchors.

        Args:
            labelled: ids of the images with a label and an embedding.
        """
        ready, anchors = self._embedded.ready_rows, self._embedded.rows_of(labelled)
        if self._basis is None or self._is_outdated(ready):
            self._basis = self._read(ready) or self._made(ready, anchors)
        else:
            self._take_new(ready)
        if self._basis is not None:
            self._basis = self._basis.with_anchors(self._store.embeddings, anchors)
        self._rows = ready
        self._write()
        return self._basis

    def has_outgrown(self) -> bool:
        """Whether enough embeddings came, or came back, since it was made that the model should learn from them.

        Once no more are to come, a single one is enough.
        """
        ready = self._embedded.ready_rows
        if len(ready) >= GROWTH * len(self._rows):
            return True
        is_last = bool((self._embedded.is_ready | self._embedded.images.has_failed).all())
        return is_last and not np.isin(ready, self._rows).all()

    def _made(self, ready: NDArray[np.int64], anchors: NDArray[np.int64]) -> CollectionBasis | None:
        return collection_basis(self._store.image_ids, self._store.embeddings, labelled=anchors, ready=ready)

    def _read(self, ready: NDArray[np.int64]) -> CollectionBasis | None:
        """The cached basis of a large collection; from now on `_key` says for which embeddings to write it."""
        self._key, self._cached_anchors = b"", 0
        if len(ready) <= MOST_ANCHORS:
            return None  # making it takes no longer than reading a file
        self._key = basis_key(self._store, ready)
        basis = self._cached.read(self._key, self._store)
        self._cached_anchors = 0 if basis is None else len(basis.anchors)
        return basis

    def _write(self) -> None:
        basis = self._basis
        if basis is None or not self._key or len(basis.anchors) < self._cached_anchors + MANY_ANCHORS:
            return
        if basis_key(self._store, self._rows) == self._key:  # otherwise images came or went since it was made
            self._cached.write(self._key, basis)
        self._cached_anchors = len(basis.anchors)

    def _is_outdated(self, ready: NDArray[np.int64]) -> bool:
        if np.array_equal(ready, self._rows):
            return False
        basis = self._basis
        if basis is None or len(ready) <= MOST_ANCHORS:
            return True
        return not basis.learned_from / GROWTH < len(ready) < GROWTH * basis.learned_from

    def _take_new(self, ready: NDArray[np.int64]) -> None:
        assert self._basis is not None, "made before"
        new = np.setdiff1d(ready, self._rows, assume_unique=True)
        if len(new) or len(self._basis.image_ids) != len(self._store.image_ids):
            self._basis = self._basis.with_images(self._store.image_ids, self._store.embeddings, new)
