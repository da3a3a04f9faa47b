"""The basis of an open project, kept up to date and in a file: whitening and neighbours take seconds."""

from typing import Final, final

import numpy as np

from engine.everyday.blocks import Integers, stop_if_asked
from engine.everyday.collection_stage.basis import MOST_ANCHORS, CollectionBasis, collection_basis
from engine.everyday.collection_stage.kept_basis import KeptBasis, basis_key
from engine.everyday.shots import GROWTH, EmbeddedSnapshot

MANY_ANCHORS: Final = 64
"""Once labels added so many anchors, the basis is written again: linking them again would take as long as writing."""


@final
class LiveBasis:
    """The basis of a project's images, made when first needed; for one fit at a time."""

    def __init__(self, kept: KeptBasis | None) -> None:
        self._kept = kept
        self._key = b""
        self._kept_anchors = 0
        self._basis: CollectionBasis | None = None
        self._rows = np.zeros(0, dtype=np.int64)

    @property
    def known(self) -> CollectionBasis | None:
        """The basis as it was made last, from any thread; None before."""
        return self._basis

    def current(self, images: EmbeddedSnapshot, labelled: Integers) -> CollectionBasis | None:
        """The basis of the listed images that have an embedding, with the labelled ones (by id) among its anchors."""
        ready, anchors = images.ready_rows, images.rows_of(labelled)
        basis = self._basis
        if basis is None or self._is_outdated(ready):
            basis = self._read(images, ready)
            if basis is None:
                basis = collection_basis(
                    images.row_ids, images.embeddings, labelled=anchors, ready=ready
                )
        else:
            basis = self._with_new(basis, images, ready)
        if basis is not None:
            basis = basis.with_anchors(images.embeddings, anchors)
        self._basis, self._rows = (
            basis,
            ready,
        )  # together, so that a fit that was cancelled leaves what was there
        self._keep(images)
        return self._basis

    def _read(self, images: EmbeddedSnapshot, ready: Integers) -> CollectionBasis | None:
        """The kept basis of a large collection; `_key` identifies the embeddings to keep it for."""
        self._key, self._kept_anchors = b"", 0
        if self._kept is None or len(ready) <= MOST_ANCHORS:
            return None  # making it takes no longer than reading a file
        self._key = basis_key(images, ready)
        stop_if_asked()
        basis = self._kept.read(self._key, images)
        self._kept_anchors = 0 if basis is None else len(basis.anchors)
        return basis

    def _keep(self, images: EmbeddedSnapshot) -> None:
        """Keep the basis where much of it is new; it is mapped from then on, and its memory is free."""
        basis = self._basis
        if (
            basis is None
            or self._kept is None
            or not self._key
            or len(basis.anchors) < self._kept_anchors + MANY_ANCHORS
        ):
            return
        if (
            basis_key(images, self._rows) == self._key
        ):  # otherwise images came or went since it was made
            self._kept.write(self._key, basis)
            self._basis = self._kept.read(self._key, images) or basis
        self._kept_anchors = len(basis.anchors)

    def _is_outdated(self, ready: Integers) -> bool:
        if np.array_equal(ready, self._rows):
            return False
        basis = self._basis
        if basis is None or len(ready) <= MOST_ANCHORS:
            return True
        return not basis.learned_from / GROWTH < len(ready) < GROWTH * basis.learned_from

    def _with_new(
        self, basis: CollectionBasis, images: EmbeddedSnapshot, ready: Integers
    ) -> CollectionBasis:
        new = np.setdiff1d(ready, self._rows, assume_unique=True)
        if len(new) or len(basis.image_ids) != len(images.row_ids):
            return basis.with_images(images.row_ids, images.embeddings, new)
        return basis
