"""Keeps the collection stage's view of an open collection up with it: new embeddings, new labels, removed images."""

from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from engine.collection.embedding_store import EmbeddingStore
from engine.collection.kept_basis import KeptBasis, look_key
from engine.everyday.collection_stage.basis import MOST_ANCHORS, CollectionBasis, collection_basis

GROWTH: Final = 1.25
"""A large collection that grew or shrank by this much is looked at anew; until then more images are linked to what is
there, and those that left stay in it as links between others."""
MANY_ANCHORS: Final = 64
"""Once labels added so many anchors, the look is kept anew: linking them again would take as long as writing it."""


@final
class LiveBasis:
    """The basis of a store's images, made when it is first asked for.

    Args:
        store: of the embeddings.
        kept: where looks at large collections are kept.
    """

    def __init__(self, store: EmbeddingStore, kept: KeptBasis) -> None:
        self._store = store
        self._kept = kept
        self._kept_key = b""
        self._kept_anchors = 0
        self._basis: CollectionBasis | None = None
        self._rows = np.zeros(0, dtype=np.int64)

    def current(self, listed: NDArray[np.int64], labelled: NDArray[np.int64]) -> CollectionBasis | None:
        """The basis of the listed images that have an embedding, with the labelled ones among its anchors.

        Args:
            listed: (n,) ids of the project's images, ascending.
            labelled: ids of those with a label and an embedding.
        """
        ready, anchors = self._ready(listed), self._rows_of(labelled)
        if self._basis is None or self._must_look_anew(ready):
            self._basis = self._read(ready) or self._look(ready, anchors)
        else:
            self._take_new(ready)
        if self._basis is not None:
            self._basis = self._basis.with_anchors(self._store.embeddings, anchors)
        self._rows = ready
        self._keep()
        return self._basis

    def _look(self, ready: NDArray[np.int64], anchors: NDArray[np.int64]) -> CollectionBasis | None:
        return collection_basis(self._store.image_ids, self._store.embeddings, labelled=anchors, ready=ready)

    def _read(self, ready: NDArray[np.int64]) -> CollectionBasis | None:
        """What was kept of a large collection; from now on `_kept_key` says for which embeddings to keep it."""
        self._kept_key, self._kept_anchors = b"", 0
        if len(ready) <= MOST_ANCHORS:
            return None  # looking at it takes no longer than reading a file
        self._kept_key = look_key(self._store, ready)
        basis = self._kept.read(self._kept_key, self._store)
        self._kept_anchors = 0 if basis is None else len(basis.anchors)
        return basis

    def _keep(self) -> None:
        basis = self._basis
        if basis is None or not self._kept_key or len(basis.anchors) < self._kept_anchors + MANY_ANCHORS:
            return
        if look_key(self._store, self._rows) == self._kept_key:  # otherwise images came or went since it was made
            self._kept.write(self._kept_key, basis)
        self._kept_anchors = len(basis.anchors)

    def has_outgrown(self, listed: NDArray[np.int64], *, is_last: bool) -> bool:
        """Whether enough embeddings came, or came back, since it was made that the model should learn from them.

        Args:
            listed: (n,) ids of the project's images, ascending.
            is_last: no more embeddings are to come; then a single one is enough.
        """
        ready = self._ready(listed)
        return len(ready) >= GROWTH * len(self._rows) or (is_last and not np.isin(ready, self._rows).all())

    def _ready(self, listed: NDArray[np.int64]) -> NDArray[np.int64]:
        rows = self._rows_of(listed)
        return rows[self._store.is_filled[rows]]

    def _rows_of(self, image_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        rows = self._store.rows_of(image_ids)
        assert rows is not None, "every listed image has a row"
        return rows

    def _must_look_anew(self, ready: NDArray[np.int64]) -> bool:
        if np.array_equal(ready, self._rows):
            return False
        basis = self._basis
        if basis is None or len(ready) <= MOST_ANCHORS:
            return True
        return not basis.learned_from / GROWTH < len(ready) < GROWTH * basis.learned_from

    def _take_new(self, ready: NDArray[np.int64]) -> None:
        assert self._basis is not None, "made before"
        new = np.setdiff1d(ready, self._rows, assume_unique=True)
        if len(new):
            self._basis = self._basis.with_images(self._store.image_ids, self._store.embeddings, new)
        elif len(self._basis.image_ids) != len(self._store.image_ids):
            none = np.zeros(0, dtype=np.int64)
            self._basis = self._basis.with_images(self._store.image_ids, self._store.embeddings, none)
