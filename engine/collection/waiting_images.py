"""Which images of an open collection wait for an embedding, as a request to a worker."""

from typing import TYPE_CHECKING, Final

import numpy as np

from engine.collection.models import model_of
from engine.collection.state import ImageStatus
from engine.config import CacheFolders
from engine.embedding.messages import EmbedImages
from engine.embedding.records import EmbedRequest

if TYPE_CHECKING:
    from engine.collection.live import LiveCollection

IMAGES_AT_ONCE: Final = 5_000
"""Of one request: it is made in some milliseconds, so the window and the project's thread stay free."""


def images_to_embed(
    live: "LiveCollection",
    caches: CacheFolders,
    device: str,
    *,
    after: int = 0,
    with_failed: bool = False,
    with_all: bool = False,
    done_before: int = 0,
) -> EmbedImages | None:
    """The next images that wait; None when there are none.

    Args:
        live: the open collection.
        caches: where embeddings lie.
        device: one of `providers.DEVICES`.
        after: only images with a greater id.
        with_failed: also those that could not be embedded before.
        with_all: also those that have an embedding: their files may have changed.
        done_before: images that earlier requests of the same run did.

    Raises:
        ModelError: the backbone's file is gone.
    """
    state = live.state
    is_wanted = state.status == ImageStatus.WAITING
    if with_failed or with_all:
        is_wanted |= state.status == ImageStatus.FAILED
    places = np.flatnonzero((is_wanted | with_all) & (state.image_ids > after))
    if not len(places):
        return None
    ids = state.image_ids[places[:IMAGES_AT_ONCE]].tolist()
    model = model_of(live.project, caches)
    return EmbedImages(
        tuple(
            EmbedRequest(image_id, state.path_of(image_id), known)
            for image_id, known in zip(ids, live.embedded.images.hashes_of(ids), strict=True)
        ),
        model.backbone,
        model.backbone_hash,
        model.card,
        caches.root,
        device,
        done_before,
        done_before + len(places),
    )
