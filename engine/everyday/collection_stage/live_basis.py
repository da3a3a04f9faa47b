"""The basis of an open project, updated with its images and cached in a memory-mapped file.

Whitening and neighbours take seconds to compute. A cached basis is used for exactly the embeddings
that it was computed from; the file may be deleted at any time.
"""

import contextlib
from pathlib import Path
from typing import final

import numpy as np

from engine.arrays import Integers, no_integers
from engine.everyday.blocks import stop_if_requested
from engine.everyday.collection_stage.basis import MOST_ANCHORS, CollectionBasis, collection_basis
from engine.everyday.collection_stage.neighbours import Nearest, NearestAnchors, Whitening
from engine.everyday.shots import GROWTH, EmbeddedSnapshot
from engine.images.read_file import content_hash
from engine.mapped_cache import Arrays, MappedCache

MANY_ANCHORS = 64
"""New anchors after which the basis is written again: linking them again would take as long."""

SUFFIX = ".basis"
VERSION = 2  # of the computation of a basis; files of another version are not used
LIMIT_BYTES = 2 << 30  # of all collections; 100,000 images take 40 MB, 2.5 million 165 MB
_EARLIER_FILES = "*.npz"  # of earlier versions of the program


def basis_key(images: EmbeddedSnapshot, ready: Integers) -> bytes:
    """Hash of what a basis depends on: rows, their images, and their embeddings or contents."""
    embedded = images.embeddings if images.contents is None else images.contents
    parts = (np.array([VERSION]).data, ready.data, images.row_ids.data, embedded.data)
    return content_hash(b"".join(content_hash(part.cast("B")) for part in parts))


@final
class BasisCache:
    """The basis of one project and backbone."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._cache = MappedCache(folder, name, SUFFIX, LIMIT_BYTES)

    def read(self, key: bytes, images: EmbeddedSnapshot) -> CollectionBasis | None:
        """Map the basis of this key; None where there is none, or it is of another key."""
        found = self._cache.read()
        if found is None or found.arrays["key"].tobytes() != key:
            return None
        return _basis(found.arrays, images)

    def write(self, key: bytes, basis: CollectionBasis) -> None:
        """Write a basis, completely or not at all; an error of the disk is only logged."""
        if self._cache.write({"key": np.frombuffer(key, np.uint8), **_arrays(basis)}):
            for path in self._folder.glob(_EARLIER_FILES):
                with contextlib.suppress(OSError):
                    path.unlink()


def _arrays(basis: CollectionBasis) -> Arrays:
    nearest = basis.found.whole()
    arrays: Arrays = {
        "mean": basis.whitening.mean,
        "matrix": basis.whitening.matrix,
        "scales": basis.scales,
        "anchors": basis.anchors,
        "positions": nearest.positions,
        "cosines": nearest.cosines,
        "learned_from": np.array([basis.learned_from]),
    }
    return arrays if basis.cosines is None else {**arrays, "anchor_cosines": basis.cosines}


def _basis(arrays: Arrays, images: EmbeddedSnapshot) -> CollectionBasis:
    whitening = Whitening(arrays["mean"], arrays["matrix"])
    basis = CollectionBasis(
        image_ids=images.row_ids,
        whitening=whitening,
        scales=arrays["scales"],
        anchors=arrays["anchors"],
        vectors=whitening.apply(images.embeddings[arrays["anchors"]]),
        found=NearestAnchors.of(Nearest(arrays["positions"], arrays["cosines"])),
        learned_from=int(arrays["learned_from"][0]),
    )
    if "anchor_cosines" in arrays:
        basis.know_cosines(arrays["anchor_cosines"])
    return basis


@final
class LiveBasis:
    """The basis of a project's images, made when first needed; for one fit at a time."""

    def __init__(self, kept: BasisCache | None) -> None:
        self._kept = kept
        self._key = b""
        self._kept_anchors = 0
        self._basis: CollectionBasis | None = None
        self._rows = no_integers()

    @property
    def known(self) -> CollectionBasis | None:
        """The basis as it was made last, from any thread; None before."""
        return self._basis

    def current(self, images: EmbeddedSnapshot, labelled: Integers) -> CollectionBasis | None:
        """The basis of the listed images with embeddings; the labelled ones are anchors."""
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
        # Together, so that a fit that was cancelled leaves what was there
        self._basis, self._rows = (basis, ready)
        self._keep(images)
        return self._basis

    def _read(self, images: EmbeddedSnapshot, ready: Integers) -> CollectionBasis | None:
        """Read the cached basis of a large collection; `_key` identifies its embeddings."""
        self._key, self._kept_anchors = b"", 0
        if self._kept is None or len(ready) <= MOST_ANCHORS:
            return None  # making it takes no longer than reading a file
        self._key = basis_key(images, ready)
        stop_if_requested()
        basis = self._kept.read(self._key, images)
        self._kept_anchors = 0 if basis is None else len(basis.anchors)
        return basis

    def _keep(self, images: EmbeddedSnapshot) -> None:
        """Cache the basis where much of it is new; then memory-map it, which frees memory."""
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
