"""Requests to the worker for an open project: embed images, train, change the backbone."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

import numpy as np

from engine.arrays import Integers
from engine.collection.backbone_change import PreparedChange
from engine.collection.live import LiveCollection
from engine.collection.models import model_of
from engine.collection.state import NO_CLASS, CollectionState, ImageStatus
from engine.collection.training.trained import Depth
from engine.config import CacheFolders
from engine.embedding.messages import EmbedBatch, EmbedImages, EmbedRequest
from engine.embedding.photo_caches import NO_PREVIEWS
from engine.embedding.views import MOST_IN_ALL_VIEWS
from engine.training.curve import TrainingDuration, TrainingPoint
from engine.worker.protocol import Request


@dataclass(frozen=True)
class TrainingResult:
    """A finished training."""

    folder: Path  # with the files of a model version
    name: str  # of the version
    figures: Mapping[str, float | None]  # see `TrainedFiles`


@dataclass(frozen=True)
class Train(Request[TrainingResult]):
    """Train a model version; the requesting process adds it to the project."""

    event_types = (TrainingPoint,)

    project: Path  # only read
    cache: Path  # root of the caches
    depth: Depth  # what is trained
    out: Path  # empty or missing folder for the files; removed if the training fails or is stopped
    settings: Mapping[str, int | float | str] = field(default_factory=dict)  # by name


@dataclass(frozen=True)
class EstimateTraining(Request[TrainingDuration]):
    """Measure how long training a backbone would take."""

    project: Path  # only read
    cache: Path  # root of the caches
    settings: Mapping[str, int | float | str] = field(default_factory=dict)  # by name


@dataclass(frozen=True)
class PrepareChange(Request[PreparedChange]):
    """Embed a project's images with another backbone and compare both; images are in events."""

    event_types = (EmbedBatch,)

    project: Path  # only read
    cache: Path  # root of the caches
    backbone: str  # a name, or the path of an ONNX file
    device: str = "auto"  # one of `providers.DEVICES`


def file_to_embed(
    live: LiveCollection, caches: CacheFolders, file: Path, device: str = "auto"
) -> EmbedImages:
    """Request to embed a file that is not an image of the project."""
    model = live.model
    return EmbedImages(
        (EmbedRequest(0, file),),
        model.backbone,
        model.embedding_identity,
        model.card,
        caches.root,
        device,
    )


IMAGES_AT_ONCE = 5_000  # of one request; it is made in some milliseconds


def images_to_embed(
    live: LiveCollection,
    caches: CacheFolders,
    device: str,
    *,
    in_view: Iterable[int] = (),
    asked: Collection[int] = (),
    most: int = IMAGES_AT_ONCE,
    with_failed: bool = False,
    with_all: bool = False,
    written_to: Collection[int] = (),
    thumbnail_side: int = NO_PREVIEWS,
) -> EmbedImages | None:
    """The next batch of pending images: visible, labelled, then other ones; None without any.

    Unless the collection is large, they are embedded in all views.

    Args:
        asked: ids of images in earlier requests of the run; they count as done in the progress.
        with_failed: append images that failed before.
        with_all: append images with an embedding, whose files may have changed.
        written_to: add these images, whose files have changed since they were read.
        thumbnail_side: of the thumbnails to make, unless the collection is large.

    Raises:
        ModelError: the backbone's file is missing.
    """
    state = live.state
    is_wanted = (state.status == ImageStatus.WAITING) | with_all
    if with_failed or with_all:
        is_wanted |= state.status == ImageStatus.FAILED
    if written_to:
        is_wanted |= np.isin(state.image_ids, np.fromiter(written_to, dtype=np.int64))
    if asked:
        is_wanted &= ~np.isin(state.image_ids, np.fromiter(asked, dtype=np.int64))
    places = np.flatnonzero(is_wanted)
    if not len(places):
        return None
    ids = state.image_ids[_in_order(state, places, in_view)[:most]].tolist()
    left = len(places)
    return _request(
        live, caches, device, ids, done_before=len(asked), left=left, thumbnail_side=thumbnail_side
    )


def views_to_embed(
    live: LiveCollection,
    caches: CacheFolders,
    device: str,
    *,
    asked: Collection[int] = (),
    left_out: Collection[int] = (),
    most: int,
) -> EmbedImages | None:
    """The next batch of images to embed in all views; None without any.

    Raises:
        ModelError: the backbone's file is missing.
    """
    wanted = live.embedded.without_views()
    wanted = wanted[~np.isin(wanted, np.fromiter(chain(asked, left_out), dtype=np.int64))]
    if not len(wanted):
        return None
    request = _request(
        live, caches, device, wanted[:most].tolist(), done_before=len(asked), left=len(wanted)
    )
    return replace(request, with_views=True)


def _request(
    live: LiveCollection,
    caches: CacheFolders,
    device: str,
    ids: Sequence[int],
    *,
    done_before: int,
    left: int,
    thumbnail_side: int = NO_PREVIEWS,
) -> EmbedImages:
    model, table = model_of(live.project, caches), live.project.images.table(ids)
    place_of = {image_id: place for place, image_id in enumerate(table.ids)}
    ids = [image_id for image_id in ids if image_id in place_of]
    first: dict[str, int] = {}  # images of a file are in sequence, at its first one
    for rank, image_id in enumerate(ids):
        first.setdefault(table.paths[place_of[image_id]], rank)
    places = sorted(
        (place_of[image_id] for image_id in ids), key=lambda place: first[table.paths[place]]
    )
    folder = live.project.path.parent
    is_small = len(live.state.image_ids) <= MOST_IN_ALL_VIEWS
    return EmbedImages(
        tuple(
            EmbedRequest(
                table.ids[each],
                folder / table.paths[each],
                table.content_hashes[each],
                table.parts[each],
            )
            for each in places
        ),
        model.backbone,
        model.embedding_identity,
        model.card,
        caches.root,
        device,
        done_before,
        done_before + left,
        with_views=is_small,
        thumbnail_side=thumbnail_side if is_small else NO_PREVIEWS,
    )


def _in_order(state: CollectionState, places: Integers, in_view: Iterable[int]) -> Integers:
    """Rows in the order of embedding; pending images come first."""
    is_in_view = np.isin(state.image_ids[places], np.fromiter(in_view, dtype=np.int64))
    is_labelled = state.label_class[places] != NO_CLASS
    waits = state.status[places] == ImageStatus.WAITING
    return places[np.lexsort((~is_labelled, ~is_in_view, ~waits))]
