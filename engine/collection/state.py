"""What a screen shows of a collection: plain, immutable snapshots, made anew after every change."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.graph.codes import NO_CLASS, UNKNOWN

__all__ = ["NO_CLASS", "UNKNOWN", "CollectionState", "ImageStatus"]


class ImageStatus(IntEnum):
    """What is known of an image's content."""

    WAITING = 0
    READY = 1
    FAILED = 2


@dataclass(frozen=True)
class CollectionState:
    """All images of a project with labels and predictions; arrays are aligned, in ascending image id."""

    folder: Path  # folder that relative paths start from
    image_ids: NDArray[np.int64]  # (n,) int64
    paths: Sequence[str]  # (n,) paths as stored
    label_class: NDArray[np.int64]  # (n,) int64, the person's class, `NO_CLASS`, or `UNKNOWN`
    best_class: NDArray[np.int64]  # (n,) int64, the likeliest leaf, or `NO_CLASS` without a prediction
    # (n,) float32, probability of `best_class`, given that the image is of one of the classes
    best_score: NDArray[np.float32]
    safe_class: NDArray[np.int64]  # (n,) int64, the deepest class that passes its bar, or `NO_CLASS`
    safe_score: NDArray[np.float32]  # (n,) float32, probability of `safe_class`
    is_unknown: NDArray[np.bool_]  # (n,) bool, too far from every prototype
    status: NDArray[np.uint8]  # (n,) uint8, an `ImageStatus`
    shot_counts: Mapping[int, int]  # images that a person labelled with exactly this class
    image_counts: Mapping[int, int]  # distinct images labelled or predicted at this class or below
    model_name: str = ""  # name of the backbone
    # why an image could not be read, by its id, in one line; shared by snapshots, never changed. An image that has an
    # embedding from before is ready all the same.
    failures: Mapping[int, str] = field(default_factory=dict)
    # (n,) int32, place of an image among those to label first, 0 for the one that would teach most; those without a
    # place have the last; None where nobody asked, or nothing can be said
    teach_rank: NDArray[np.int32] | None = None
    # ids of the images that should be embedded in all their views, and are not
    without_views: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    is_list_only: bool = False  # nobody looked at the embeddings yet, so nothing is known of images that seem to wait

    def position(self, image_id: int) -> int:
        """Place of an image in the arrays.

        Raises:
            KeyError: no such image.
        """
        place = bisect_left(self.image_ids, image_id)
        if place == len(self.image_ids) or self.image_ids[place] != image_id:
            raise KeyError(image_id)
        return place

    def path_of(self, image_id: int) -> Path:
        """Absolute path of an image."""
        return self.folder / self.paths[self.position(image_id)]
