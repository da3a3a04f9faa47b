"""Map of a collection: the place of each image in the plane, cached by project and backbone.

New and changed images are placed among the others, which do not move.
"""

from dataclasses import dataclass, replace
from typing import final

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
from engine.full_disk import writing
from engine.mapped_cache import MappedCache
from engine.project import Project

VERSION = 1  # of the file; one of another version is discarded
SUFFIX = ".map"
LIMIT_BYTES = 128 << 20  # of all collections; a map of 100,000 images takes 8 MB
MOST_LANDMARKS = 20_000  # images that prototypes are placed among
STALE_SHARE = 0.25
"""Share of images placed later from which a map is stale: they did not shape the layout."""


_COLUMNS = (
    *("image_ids", "contents", "places", "is_later"),
    *("landmarks", "landmark_places"),
)
"""Arrays of a map in its file, besides those of its space."""


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


def map_cache(project: Project, model: ModelFiles, caches: CacheFolders) -> MappedCache:
    """The cache file of the map of a project and backbone."""
    name = f"{VERSION} {model.embedding_identity} {project.backups.project_id}"
    return MappedCache(caches.maps, name, SUFFIX, LIMIT_BYTES, copy_on_write=True)


def read_map(cache: MappedCache) -> ImageMap | None:
    """Read a map; None if the file is missing, damaged, or of another version."""
    found = cache.read()
    if found is None:
        return None
    try:
        columns = {name: found.arrays[name] for name in _COLUMNS}
        made = ImageMap(space=MapSpace.of_arrays(found.arrays), **columns)
    except KeyError:
        return None
    return made if _is_sound(made) else None


def _is_sound(found: ImageMap) -> bool:
    count, ids = len(found.image_ids), found.image_ids
    shapes = (found.contents.shape, found.places.shape, found.is_later.shape)
    is_shaped = shapes == ((count,), (count, 2), (count,)) and found.landmark_places.shape == (
        len(found.landmarks),
        2,
    )
    return is_shaped and bool(np.isfinite(found.places).all()) and bool((np.diff(ids) > 0).all())


def write_map(cache: MappedCache, made: ImageMap) -> None:
    """Write a map to the cache, and evict maps that were not used for long.

    Raises:
        StorageError: the disk is full or fails.
    """
    remedy = "free some disk space or choose another cache folder"
    with writing(cache.folder, "the map cannot be saved", remedy):
        cache.put({**made.space.arrays(), **{name: getattr(made, name) for name in _COLUMNS}})
