"""The views of an image: all of it, and its four corners seen a little closer.

The mean over views depends less on the framing of a photo than one embedding. Labelled images are
few and decide all predictions, so they are embedded in all views; in a small collection so are all
others, once each has an embedding (decision 109).
"""

import hashlib
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Codes, Floats, Integers, Pixels
from engine.file_parts import BoundingBox

if TYPE_CHECKING:
    from engine.images.decode import ImageDecoder

VIEWS = 5  # the whole image and its four corners
CLOSER = 9 / 7  # how much larger things are in a corner than in the whole
MOST_PER_CLASS = 10  # labelled images of a class that are embedded in all views first
# larger collections have views of labelled images alone: all would take too long
MOST_IN_ALL_VIEWS = 10_000
_VERSION = 1  # of what the views are; embeddings of others are of no use


def views_of_side(data: bytes, side: int, resize_share: float, views: int = VIEWS) -> Pixels:
    """Decode the bytes of an image file to its views; see `views_of_image`."""
    from engine.images.decode import ImageDecoder

    return views_of_image(ImageDecoder(data), side, resize_share, views)


def views_of_image(
    image: "ImageDecoder",
    side: int,
    resize_share: float,
    views: int = VIEWS,
    box: BoundingBox | None = None,
) -> Pixels:
    """Decode an image to (views, side, side, 3) uint8 RGB: the whole, and its corners.

    Args:
        box: instead of the whole picture, the square around a box, and its corners.

    Raises:
        ImageError: it is not a valid image.
    """
    whole = image.square(side, resize_share, box)
    if views == 1:
        return whole[None]
    closer = image.square(closer_side(side), resize_share, box)
    near, far = slice(None, side), slice(-side, None)
    return np.stack(
        [whole, *(closer[rows, columns] for rows in (near, far) for columns in (near, far))]
    )


def closer_side(side: int) -> int:
    """Side in pixels of the picture that the corners are cut from."""
    return round(side * CLOSER)


def mean_of_views(embeddings: Floats) -> Floats:
    """One embedding (n, d) of length 1 for each image, from those (n * VIEWS, d) of its views."""
    mean = unit_length(embeddings).reshape(-1, VIEWS, embeddings.shape[1]).mean(axis=1)
    return unit_length(mean)


def unit_length(embeddings: Floats) -> Floats:
    """Embeddings (n, d) scaled to length 1, so that distances mean the same for every backbone."""
    norms = np.linalg.norm(embeddings, axis=1, keepdims=True)
    return (embeddings / np.maximum(norms, np.float32(1e-6))).astype(np.float32)


def those_to_view(labels: Codes) -> Integers:
    """Indices (k,) of the images to embed in all views, labelled ones first.

    Args:
        labels: (n,) class ids, negative without a label.
    """
    labelled = np.flatnonzero(labels >= 0)
    labelled = labelled[first_of_each(labels[labelled])]
    if len(labels) > MOST_IN_ALL_VIEWS:
        return labelled
    return np.concatenate(
        [labelled, np.setdiff1d(np.arange(len(labels)), labelled, assume_unique=True)]
    )


def first_of_each(class_ids: NDArray[np.integer]) -> Integers:
    """Places (k,), ascending, of the first labelled images of each class."""
    order = np.argsort(class_ids, kind="stable")
    ordered = class_ids[order]
    starts = np.searchsorted(ordered, ordered)  # where the class of each begins
    return np.sort(order[np.arange(len(order)) - starts < MOST_PER_CLASS])


def views_hash(identity: str) -> str:
    """Identity of the embeddings over all views, which have a cache of their own; hex."""
    return hashlib.sha256(f"{identity} {VIEWS} views, version {_VERSION}".encode()).hexdigest()
