"""Rank the images of a collection by similarity to images or to a file from outside."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.arrays import Floats, Integers
from engine.collection.embedded_images import EmbeddedImages
from engine.everyday.in_use import ImageSimilarity


@dataclass(frozen=True)
class LikeImages:
    """Images in order of similarity."""

    image_ids: Integers  # (k,) int64; the query images first, then the most similar ones
    cosines: Floats  # (k,) float32 in [-1, 1]; 1 for the query images

    def first(self, count: int) -> "LikeImages":
        return LikeImages(self.image_ids[:count], self.cosines[:count])


def like_images(
    embedded: EmbeddedImages,
    image_ids: Sequence[int],
    *,
    outside: Floats | None = None,
    similarity: ImageSimilarity,
) -> LikeImages:
    """Rank all images that have an embedding, most similar first; ties by image id.

    Args:
        image_ids: query images; those without an embedding are ignored.
        outside: (d,) embedding of another file.
        similarity: how images are compared.
    """
    store, rows = embedded.store, embedded.ready_rows
    asked = embedded.rows_of(embedded.images.listed(image_ids))
    asked = asked[store.is_filled[asked]]
    vectors = store.floats(asked)
    if outside is not None:
        vectors = np.concatenate([vectors, outside[None].astype(np.float32)])
    if len(vectors) == 0 or len(rows) == 0:
        return LikeImages(rows[:0], np.zeros(0, dtype=np.float32))
    found = similarity.cosines(store.embeddings, store.is_filled, vectors)
    found[asked] = np.inf
    order = rows[np.argsort(-found[rows], kind="stable")]
    return LikeImages(store.image_ids[order], np.clip(found[order], -1, 1))
