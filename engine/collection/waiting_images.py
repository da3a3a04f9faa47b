"""Which images of an open collection wait for an embedding, in what order, as a request to a worker."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from engine.collection.models import model_of
from engine.collection.state import NO_CLASS, CollectionState, ImageStatus
from engine.config import CacheFolders
from engine.embedding.messages import EmbedImages, EmbedRequest

if TYPE_CHECKING:
    from engine.collection.live import LiveCollection

IMAGES_AT_ONCE: Final = 5_000
"""Of one request: it is made in some milliseconds, so the window and the project's thread stay free."""


def images_to_embed(
    live: "LiveCollection",
    caches: CacheFolders,
    device: str,
    *,
    in_view: Iterable[int] = (),
    asked: Collection[int] = (),
    most: int = IMAGES_AT_ONCE,
    with_failed: bool = False,
    with_all: bool = False,
) -> EmbedImages | None:
    """The next images that wait: those in view, then labelled ones, then the others; None when there are none.

    Predictions are made from labelled images, so these come before the images that wait for a label.

    Args:
        device: one of `providers.DEVICES`.
        in_view: ids of images that somebody looks at.
        asked: ids of images that earlier requests of the same run named; they count as done in the progress.
        most: images in the request.
        with_failed: also those that could not be embedded before, after the others.
        with_all: also those that have an embedding, after the others: their files may have changed.

    Raises:
        ModelError: the backbone's file is gone.
    """
    state = live.state
    is_wanted = (state.status == ImageStatus.WAITING) | with_all
    if with_failed or with_all:
        is_wanted |= state.status == ImageStatus.FAILED
    if asked:
        is_wanted &= ~np.isin(state.image_ids, np.fromiter(asked, dtype=np.int64))
    places = np.flatnonzero(is_wanted)
    if not len(places):
        return None
    ids = state.image_ids[_in_order(state, places, in_view)[:most]].tolist()
    return _request(live, caches, device, ids, done_before=len(asked), left=len(places))


def views_to_embed(
    live: "LiveCollection",
    caches: CacheFolders,
    device: str,
    *,
    asked: Collection[int] = (),
    left_out: Collection[int] = (),
    most: int,
) -> EmbedImages | None:
    """The next labelled images to embed in all their views; None when there are none.

    Args:
        device: one of `providers.DEVICES`.
        asked: ids of images that earlier requests of the same run named.
        left_out: ids of images not to try.
        most: images in the request.

    Raises:
        ModelError: the backbone's file is gone.
    """
    wanted = live.embedded.without_views()
    wanted = wanted[~np.isin(wanted, np.fromiter(chain(asked, left_out), dtype=np.int64))]
    if not len(wanted):
        return None
    request = _request(live, caches, device, wanted[:most].tolist(), done_before=len(asked), left=len(wanted))
    return replace(request, with_views=True)


def _request(
    live: "LiveCollection", caches: CacheFolders, device: str, ids: Sequence[int], *, done_before: int, left: int
) -> EmbedImages:
    model = model_of(live.project, caches)
    hashes = live.embedded.images.hashes_of(ids)
    return EmbedImages(
        tuple(
            EmbedRequest(image_id, live.state.path_of(image_id), known)
            for image_id, known in zip(ids, hashes, strict=True)
        ),
        model.backbone,
        model.backbone_hash,
        model.card,
        caches.root,
        device,
        done_before,
        done_before + left,
    )


def _in_order(state: CollectionState, places: NDArray[np.int64], in_view: Iterable[int]) -> NDArray[np.int64]:
    """Places in the order in which they are wanted; what waits comes before what is looked at once more."""
    is_in_view = np.isin(state.image_ids[places], np.fromiter(in_view, dtype=np.int64))
    is_labelled = state.label_class[places] != NO_CLASS
    waits = state.status[places] == ImageStatus.WAITING
    return places[np.lexsort((~is_labelled, ~is_in_view, ~waits))]
