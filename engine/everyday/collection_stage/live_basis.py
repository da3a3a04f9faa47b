"""The basis of an open project, kept up to date, and its cache on disk: whitening and neighbours take seconds.

A cached basis is for exactly these embeddings; for any others it is passed over. Files may be deleted at any time.
"""

import contextlib
import logging
import os
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from engine.everyday.blocks import Integers, stop_if_asked
from engine.everyday.collection_stage.basis import MOST_ANCHORS, CollectionBasis, collection_basis
from engine.everyday.collection_stage.neighbours import Nearest, Whitening
from engine.everyday.shots import GROWTH, EmbeddedSnapshot
from engine.images.read_file import content_hash
from engine.new_file import clear_abandoned_drafts, new_file, private_folder

VERSION: Final = 2  # of the way in which a basis is made: files of another one are of no use
MOST_FILES: Final = 12  # of the collections that were opened last; one of 100,000 images takes 6 MB
_DAMAGE: Final = (
    OSError, ValueError, KeyError, EOFError, TypeError, RuntimeError, MemoryError, struct.error, zlib.error,
    zipfile.BadZipFile,
)  # fmt: skip
"""What reading a damaged archive raises: a single wrong bit may mark it as encrypted or packed."""
_log = logging.getLogger(__name__)

Arrays = dict[str, NDArray[Any]]

MANY_ANCHORS: Final = 64
"""Once labels added so many anchors, the basis is written again: linking them again would take as long as writing."""


def basis_key(images: EmbeddedSnapshot, ready: Integers) -> bytes:
    """Identity of what a basis depends on: the rows, the images in them, and their embeddings or contents."""
    embedded = images.embeddings if images.contents is None else images.contents
    parts = (np.array([VERSION]).data, ready.data, images.row_ids.data, embedded.data)
    return content_hash(b"".join(content_hash(part.cast("B")) for part in parts))


class CachedBasis:
    """One file in the folder of all collections, for one project and backbone."""

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / f"{content_hash(name.encode('utf-8', 'surrogateescape')).hex()}.npz"

    def read(self, key: bytes, images: EmbeddedSnapshot) -> CollectionBasis | None:
        """The basis of this key, None when there is none or the file is damaged."""
        try:
            with self.path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
                if file["key"].tobytes() != key:
                    return None
                basis = _of_arrays({name: file[name] for name in file.files}, images)
        except FileNotFoundError:
            return None
        except _DAMAGE as error:
            _log.info("the cached whitening and neighbours cannot be used and are made anew: %s", error)
            return None
        with contextlib.suppress(OSError):  # the folder may only be read, or another program dropped the file just now
            os.utime(self.path)
        return basis

    def write(self, key: bytes, basis: CollectionBasis) -> None:
        """Write a basis, whole or not at all; an error of the disk is only logged."""
        named_key = np.frombuffer(key, dtype=np.uint8)
        try:
            clear_abandoned_drafts(private_folder(self.path.parent))
            with new_file(self.path, replace=True) as draft:
                np.savez(draft.file, allow_pickle=False, key=named_key, **_arrays_of(basis))
            _drop_oldest(self.path.parent)
        except OSError as error:
            _log.info("whitening and neighbours cannot be cached: %s", error)


def _arrays_of(basis: CollectionBasis) -> Arrays:
    return {
        "mean": basis.whitening.mean,
        "matrix": basis.whitening.matrix,
        "scales": basis.scales,
        "anchors": basis.anchors,
        "positions": basis.found.positions,
        "cosines": basis.found.cosines,
        "learned_from": np.array(basis.learned_from),
    }


def _of_arrays(arrays: Arrays, images: EmbeddedSnapshot) -> CollectionBasis:
    whitening = Whitening(arrays["mean"], arrays["matrix"])
    return CollectionBasis(
        image_ids=images.row_ids,
        whitening=whitening,
        scales=arrays["scales"],
        anchors=arrays["anchors"],
        vectors=whitening.apply(images.embeddings[arrays["anchors"]]),
        found=Nearest(arrays["positions"], arrays["cosines"]),
        learned_from=int(arrays["learned_from"]),
    )


def _drop_oldest(folder: Path) -> None:
    by_age = sorted(folder.glob("*.npz"), key=lambda path: path.stat().st_mtime_ns)
    for path in by_age[:-MOST_FILES]:
        with contextlib.suppress(OSError):  # one that another program reads just now cannot go on every system
            path.unlink()


@final
class LiveBasis:
    """The basis of a project's images, made when first needed; for one fit at a time."""

    def __init__(self, cached: CachedBasis) -> None:
        self._cached = cached
        self._key = b""
        self._cached_anchors = 0
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
                basis = collection_basis(images.row_ids, images.embeddings, labelled=anchors, ready=ready)
        else:
            basis = self._with_new(basis, images, ready)
        if basis is not None:
            basis = basis.with_anchors(images.embeddings, anchors)
        self._basis, self._rows = basis, ready  # together, so that a fit that was cancelled leaves what was there
        self._write(images)
        return basis

    def _read(self, images: EmbeddedSnapshot, ready: Integers) -> CollectionBasis | None:
        """The cached basis of a large collection; `_key` identifies the embeddings to write it for."""
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

    def _is_outdated(self, ready: Integers) -> bool:
        if np.array_equal(ready, self._rows):
            return False
        basis = self._basis
        if basis is None or len(ready) <= MOST_ANCHORS:
            return True
        return not basis.learned_from / GROWTH < len(ready) < GROWTH * basis.learned_from

    def _with_new(self, basis: CollectionBasis, images: EmbeddedSnapshot, ready: Integers) -> CollectionBasis:
        new = np.setdiff1d(ready, self._rows, assume_unique=True)
        if len(new) or len(basis.image_ids) != len(images.row_ids):
            return basis.with_images(images.row_ids, images.embeddings, new)
        return basis
