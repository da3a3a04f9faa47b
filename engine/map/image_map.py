"""Map of a collection: the place of each image in the plane, cached by project and backbone.

New and changed images are placed among the others, which do not move.
"""

import contextlib
import hashlib
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Flags, Floats, Integers, rows_of
from engine.collection.embedded_images import EmbeddedImages
from engine.collection.models import ModelFiles
from engine.config import CacheFolders
from engine.everyday.blocks import Embeddings
from engine.everyday.layout.neighbours import NeighbourIndex
from engine.everyday.layout.plane import place_among
from engine.everyday.layout.space import MapSpace
from engine.full_disk import storage_error
from engine.new_file import new_file, private_folder
from engine.project import Project

VERSION: Final = 1  # of the file; one of another version is discarded
MOST_FILES: Final = 12  # in the cache; a map of 100,000 images takes 8 MB
MOST_LANDMARKS: Final = 20_000  # images that prototypes are placed among
STALE_SHARE: Final = 0.25
"""Share of images placed later from which a map is stale: they did not shape the layout."""


@final
@dataclass(frozen=True, eq=False)
class ImageMap:
    """Places of n images in the plane, in ascending image id."""

    image_ids: Integers  # (n,) int64
    contents: NDArray[np.uint64]  # (n,) content numbers when they were placed
    places: Floats  # (n, 2) float32, nearly all within 50 of zero; y grows upwards
    is_later: Flags  # (n,) whether they were placed after the layout
    space: MapSpace
    landmarks: Floats  # (l, w) float32, vectors of some of the images
    landmark_places: Floats  # (l, 2)

    @property
    def later_count(self) -> int:
        return int(np.count_nonzero(self.is_later))

    @property
    def is_stale(self) -> bool:
        """Whether a new layout is recommended."""
        return bool(len(self.image_ids) and self.later_count >= STALE_SHARE * len(self.image_ids))

    def missing(self, image_ids: Integers, contents: NDArray[np.uint64]) -> Flags:
        """(k,) which of these images are not placed, or have changed since."""
        rows, is_there = rows_of(image_ids, self.image_ids)
        is_same = is_there.copy()
        is_same[is_there] = self.contents[rows[is_there]] == contents[is_there]
        return ~is_same

    def with_new(
        self, image_ids: Integers, contents: NDArray[np.uint64], places: Floats
    ) -> "ImageMap":
        """Add or replace images."""
        kept = ~np.isin(self.image_ids, image_ids)
        ids = np.concatenate([self.image_ids[kept], image_ids])
        order = np.argsort(ids)
        return replace(
            self,
            image_ids=ids[order],
            contents=np.concatenate([self.contents[kept], contents])[order],
            places=np.concatenate([self.places[kept], places])[order],
            is_later=np.concatenate([self.is_later[kept], np.ones(len(image_ids), dtype=bool)])[
                order
            ],
        )

    def place(self, embeddings: Embeddings) -> Floats:
        """Place embeddings (m, d), such as prototypes, by their nearest landmarks: (m, 2)."""
        if not len(embeddings) or not len(self.landmarks):
            return np.zeros((len(embeddings), 2), dtype=np.float32)
        return place_among(
            NeighbourIndex.of(self.landmarks), self.landmark_places, self.space.apply(embeddings)
        )


def content_numbers(embedded: EmbeddedImages) -> NDArray[np.uint64]:
    """(n,) the first 64 bits of the content hash of each image, 0 before it was read."""
    hashes = embedded.images.content_hashes
    found = (
        int.from_bytes((hashes[place] or b"")[:8], "little")
        for place in range(len(embedded.images.ids))
    )
    return np.fromiter(found, dtype=np.uint64, count=len(embedded.images.ids))


def map_file(project: Project, model: ModelFiles, caches: CacheFolders) -> Path:
    """Path of the map of a project and backbone; the file may not exist."""
    name = hashlib.sha256(
        f"{model.embedding_identity} {project.backups.project_id}".encode()
    ).hexdigest()
    return caches.maps / f"{name[:32]}.npz"


def read_map(path: Path) -> ImageMap | None:
    """Read a map; None if the file is missing, damaged, or of another version."""
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            if int(file["version"]) != VERSION:
                return None
            found = ImageMap(
                file["image_ids"],
                file["contents"],
                file["places"],
                file["is_later"],
                MapSpace.of_arrays(file),
                file["landmarks"],
                file["landmark_places"],
            )
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, RuntimeError):
        return None
    return found if _is_sound(found) else None


def _is_sound(found: ImageMap) -> bool:
    count, ids = len(found.image_ids), found.image_ids
    shapes = (found.contents.shape, found.places.shape, found.is_later.shape)
    is_shaped = shapes == ((count,), (count, 2), (count,)) and found.landmark_places.shape == (
        len(found.landmarks),
        2,
    )
    return is_shaped and bool(np.isfinite(found.places).all()) and bool((np.diff(ids) > 0).all())


def write_map(path: Path, made: ImageMap) -> None:
    """Write a map to the cache, and evict the oldest maps.

    Raises:
        StorageError: the disk is full or fails.
    """
    try:
        private_folder(path.parent)
        with new_file(path, replace=True) as draft:
            np.savez(
                draft.file,
                allow_pickle=False,
                version=np.int64(VERSION),
                image_ids=made.image_ids,
                contents=made.contents,
                places=made.places,
                is_later=made.is_later,
                landmarks=made.landmarks,
                landmark_places=made.landmark_places,
                **made.space.arrays(),
            )
        _drop_oldest(path.parent)
    except OSError as error:
        remedy = "free some disk space or choose another cache folder"
        raise storage_error(path, error, "the map cannot be saved", remedy) from error


def _drop_oldest(folder: Path) -> None:
    by_age = sorted(folder.glob("*.npz"), key=lambda path: path.stat().st_mtime_ns)
    for path in by_age[:-MOST_FILES]:
        with contextlib.suppress(OSError):  # Windows cannot delete a file that is open
            path.unlink()
