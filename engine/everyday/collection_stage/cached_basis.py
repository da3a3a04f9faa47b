"""Caches the collection stage's basis of a large collection: whitening and neighbours take seconds, reading does not.

A cached basis is for exactly these embeddings; for any others it is passed over. Files may be deleted at any time.
"""

import contextlib
import logging
import os
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from engine.everyday.collection_stage.basis import CollectionBasis
from engine.everyday.collection_stage.neighbours import Nearest
from engine.everyday.collection_stage.whitening import Whitening
from engine.everyday.snapshot import EmbeddedSnapshot
from engine.images.content_hash import content_hash
from engine.new_file import clear_abandoned_drafts, new_file, private_folder

VERSION: Final = 2
"""Of the way in which a basis is made: files of another one are of no use."""
MOST_FILES: Final = 12
"""Of the collections that were opened last; one of 100,000 images takes 6 MB."""
_DAMAGE: Final = (
    OSError, ValueError, KeyError, EOFError, TypeError, RuntimeError, MemoryError, struct.error, zlib.error,
    zipfile.BadZipFile,
)  # fmt: skip
"""What reading an archive raises, whatever stands in it: a single wrong bit may call it encrypted or packed."""
_log = logging.getLogger(__name__)

Arrays = dict[str, NDArray[Any]]


def basis_key(images: EmbeddedSnapshot, ready: NDArray[np.int64]) -> bytes:
    """Identity of what a basis depends on: the rows, the images in them, and their embeddings."""
    parts = (np.array([VERSION]).data, ready.data, images.row_ids.data, images.embeddings.data)
    return content_hash(b"".join(content_hash(part.cast("B")) for part in parts))


class CachedBasis:
    """One file, for one project and backbone.

    Args:
        folder: of the files of all collections; made when something is first kept.
        name: of the project and its backbone, any text.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / f"{content_hash(name.encode('utf-8', 'surrogateescape')).hex()}.npz"

    def read(self, key: bytes, images: EmbeddedSnapshot) -> CollectionBasis | None:
        """The basis that was written under this key, None when there is none or the file is damaged."""
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
        """Write a basis, whole or not at all; a disk that refuses costs a few seconds at the next opening, no more."""
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
