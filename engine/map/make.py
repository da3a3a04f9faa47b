"""Layout of the map of a project by its embeddings, or placement of new images on it."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.arrays import Floats, Integers
from engine.collection.embedded_images import EmbeddedImages
from engine.collection.models import model_or_fallback
from engine.config import CacheFolders
from engine.errors import InputError
from engine.events import CancelToken, OnProgress, Progress, ignore_progress
from engine.everyday.blocks import stop_if_requested, stopped_by
from engine.everyday.layout.neighbours import NeighbourIndex
from engine.everyday.layout.plane import MOST_LAID_OUT, lay_out, place_among, sample_of
from engine.everyday.layout.space import map_space
from engine.map.image_map import (
    MOST_LANDMARKS,
    ImageMap,
    content_numbers,
    map_cache,
    read_map,
    write_map,
)
from engine.project import Project
from engine.texts import marked
from engine.worker.protocol import Request

PERCENT = 100
_NEIGHBOURS_DONE = 15  # percent of the work after the search for neighbours
_LAID_OUT = 95
_LOOKING = marked("comparing images")
_LAYING = marked("laying out")
_PLACING = marked("placing images")


@dataclass(frozen=True)
class MadeMap:
    """Result of making a map."""

    images: int  # with a place
    placed: int  # images that were added to an existing layout; 0 for a new layout


@dataclass(frozen=True)
class MakeMap(Request[MadeMap]):
    """Make the map of a project, or add new images to it unless `is_from_scratch`."""

    project: Path  # only read
    cache: Path  # root of the caches
    is_from_scratch: bool = False  # make a new layout


def make_map(
    project: Project,
    caches: CacheFolders,
    *,
    is_from_scratch: bool = False,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> tuple[ImageMap, int]:
    """Make or complete the map of a project, write it to the cache, and count the added images.

    Raises:
        InputError: no image is embedded.
        StorageError: the disk is full or fails.
        Cancelled: the cached map is not changed.
    """
    model = model_or_fallback(project, caches)
    cache = map_cache(project, model, caches)
    with stopped_by(cancel):
        embedded = EmbeddedImages(project, model, caches)
        try:
            on_progress(Progress(0, PERCENT, unit="", note=_LOOKING))
            embedded.read()
            stop_if_requested()
            known = None if is_from_scratch else read_map(cache)
            is_wide = known is not None and known.space.takes(model.card.embedding_width)
            made, placed = (
                _completed(embedded, known, on_progress)
                if known and is_wide
                else _made(embedded, on_progress)
            )
        finally:
            embedded.close()
        stop_if_requested()
        write_map(cache, made)
    on_progress(Progress(PERCENT, PERCENT, unit=""))
    return made, placed


def _made(embedded: EmbeddedImages, on_progress: OnProgress) -> tuple[ImageMap, int]:
    rows, ids = embedded.ready_rows, embedded.images.ids[embedded.is_ready]
    if not len(rows):
        raise InputError(
            "no image is embedded yet",
            remedy="run `embed` first, or wait until the images were read",
        )
    embeddings = embedded.store.embeddings[rows]
    space = map_space(embeddings)
    vectors = space.apply(embeddings)
    chosen = sample_of(len(vectors), MOST_LAID_OUT)
    on_progress(Progress(_NEIGHBOURS_DONE // 2, PERCENT, unit="", note=_LOOKING))

    def on_round(done: int, total: int) -> None:
        percent = _NEIGHBOURS_DONE + (_LAID_OUT - _NEIGHBOURS_DONE) * done // total
        on_progress(Progress(percent, PERCENT, unit="", note=_LAYING))

    places = np.empty((len(vectors), 2), dtype=np.float32)
    places[chosen] = lay_out(vectors[chosen], on_round)
    others = np.setdiff1d(np.arange(len(vectors)), chosen, assume_unique=True)
    if len(others):
        places[others] = place_among(
            NeighbourIndex.of(vectors[chosen]), places[chosen], vectors[others]
        )
    marks = sample_of(len(chosen), MOST_LANDMARKS, seed=1)
    contents = content_numbers(embedded)[embedded.is_ready]
    none_later = np.zeros(len(ids), dtype=bool)
    landmarks = vectors[chosen[marks]], places[chosen[marks]]
    return ImageMap(ids, contents, places, none_later, space, *landmarks), 0


def _completed(
    embedded: EmbeddedImages, known: ImageMap, on_progress: OnProgress
) -> tuple[ImageMap, int]:
    is_ready = embedded.is_ready
    ids, contents = embedded.images.ids[is_ready], content_numbers(embedded)[is_ready]
    is_new = known.missing(ids, contents)
    if is_new.all():
        return _made(embedded, on_progress)
    new = np.flatnonzero(is_new)
    if not len(new):
        return known, 0
    on_progress(Progress(_NEIGHBOURS_DONE, PERCENT, unit="", note=_PLACING))
    vectors = known.space.apply(embedded.store.embeddings[embedded.ready_rows])
    places = _placed(known, ids, vectors, is_new)
    return known.with_new(ids[new], contents[new], places), len(new)


def _placed(known: ImageMap, ids: Integers, vectors: Floats, is_new: np.ndarray) -> Floats:
    """Places of new images among at most `MOST_LAID_OUT` others."""
    old = np.flatnonzero(~is_new)
    old = old[sample_of(len(old), MOST_LAID_OUT)]
    there = known.places[np.searchsorted(known.image_ids, ids[old])]
    return place_among(NeighbourIndex.of(vectors[old]), there, vectors[is_new])
