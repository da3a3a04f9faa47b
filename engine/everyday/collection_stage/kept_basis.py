"""The basis of a large collection in a mapped file: for exactly these embeddings, and passed over for any others.

May be deleted at any time.
"""

import contextlib
import logging
from pathlib import Path
from typing import Final, final

import numpy as np

from engine.everyday.blocks import Integers
from engine.everyday.collection_stage.basis import CollectionBasis
from engine.everyday.collection_stage.nearest_anchors import NearestAnchors
from engine.everyday.collection_stage.neighbours import NEIGHBOURS, Nearest, Whitening
from engine.everyday.shots import EmbeddedSnapshot
from engine.images.read_file import content_hash
from engine.kept_files import KeptFiles, mapped_parts, write_parts

SUFFIX: Final = ".basis"
VERSION: Final = 2  # of the way in which a basis is made: files of another one are of no use
MOST_BYTES: Final = (
    2 << 30
)  # of all collections together; that of 100,000 images takes 40 MB, of 2.5 million 165
_MAGIC: Final = b"protoleaf basis 1"
_BEFORE: Final = "*.npz"  # files of a basis as earlier versions kept it
_log = logging.getLogger(__name__)


def basis_key(images: EmbeddedSnapshot, ready: Integers) -> bytes:
    """Identity of what a basis depends on: the rows, the images in them, and their embeddings or contents."""
    embedded = images.embeddings if images.contents is None else images.contents
    parts = (np.array([VERSION]).data, ready.data, images.row_ids.data, embedded.data)
    return content_hash(b"".join(content_hash(part.cast("B")) for part in parts))


@final
class KeptBasis:
    """That of one project and backbone."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._files = KeptFiles(folder, name, SUFFIX, MOST_BYTES)

    def read(self, key: bytes, images: EmbeddedSnapshot) -> CollectionBasis | None:
        """Map the basis of this key; None where there is none, it is of another key, or damaged."""
        path = self._files.newest()
        if path is None:
            return None
        try:
            return _of_parts(mapped_parts(path, _MAGIC)[0], key, images)
        except (OSError, ValueError, IndexError) as error:
            _log.info("kept whitening and neighbours cannot be used and are made anew: %s", error)
            return None

    def write(self, key: bytes, basis: CollectionBasis) -> None:
        """Write a basis, whole or not at all; an error of the disk is only logged."""
        parts = [key, *_parts(basis)]
        if (
            self._files.write(sum(map(len, parts)), lambda file: write_parts(file, _MAGIC, parts))
            is None
        ):
            return
        for path in self._folder.glob(_BEFORE):
            with contextlib.suppress(OSError):
                path.unlink()


def _parts(basis: CollectionBasis) -> list[bytes | memoryview]:
    compared = np.zeros(0, dtype=np.int16) if basis.cosines is None else basis.cosines
    found = basis.found.whole()
    arrays = (
        basis.whitening.mean, basis.whitening.matrix, basis.scales, basis.anchors,
        found.positions, found.cosines, compared, np.array([basis.learned_from], dtype=np.int64),
    )  # fmt: skip
    return [np.ascontiguousarray(each).reshape(-1).view(np.uint8).data for each in arrays]


def _of_parts(
    parts: list[memoryview], key: bytes, images: EmbeddedSnapshot
) -> CollectionBasis | None:
    if bytes(parts[0]) != key:
        return None
    mean, matrix, scales, anchors_part, positions, cosines, compared, learned_from = parts[1:]
    width, anchors = images.embeddings.shape[1], np.frombuffer(anchors_part, np.int64)
    whitening = Whitening(
        np.frombuffer(mean, np.float32), np.frombuffer(matrix, np.float32).reshape(-1, width)
    )
    basis = CollectionBasis(
        image_ids=images.row_ids,
        whitening=whitening,
        scales=np.frombuffer(scales, np.float32),
        anchors=anchors,
        vectors=whitening.apply(images.embeddings[anchors]),
        found=NearestAnchors.of(
            Nearest(
                np.frombuffer(positions, np.int32).reshape(-1, NEIGHBOURS),
                np.frombuffer(cosines, np.float32).reshape(-1, NEIGHBOURS),
            )
        ),
        learned_from=int(np.frombuffer(learned_from, np.int64)[0]),
    )
    if len(compared):
        basis.know_cosines(np.frombuffer(compared, np.int16).reshape(-1, len(anchors)))
    return basis
