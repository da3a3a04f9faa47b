"""Collection states for tests of screens."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.collection.state import NO_CLASS, UNKNOWN, CollectionState, ImageStatus


@dataclass(frozen=True)
class Picture:
    """One image of a state.

    Attributes:
        label: the labelled class, `NO_CLASS` or `UNKNOWN`.
        best: predicted leaf with its score; `NO_CLASS` for none.
        safe: safe class with its score.
    """

    label: int = NO_CLASS
    best: int = NO_CLASS
    score: float = 0.0
    safe: int = NO_CLASS
    safe_score: float = 0.0
    is_unknown: bool = False
    status: ImageStatus = ImageStatus.READY


def state_of(
    pictures: Sequence[Picture],
    *,
    folder: Path = Path("photos"),
    image_counts: Mapping[int, int] | None = None,
    first_id: int = 11,
) -> CollectionState:
    """A state of these images; ids count up from `first_id`, files are 11.png, 12.png, ..."""
    labels = [picture.label for picture in pictures]
    return CollectionState(
        folder=folder,
        image_ids=np.arange(first_id, first_id + len(pictures), dtype=np.int64),
        paths=[f"{first_id + place}.png" for place in range(len(pictures))],
        label_class=np.array(labels, dtype=np.int64),
        best_class=np.array([picture.best for picture in pictures], dtype=np.int64),
        best_score=np.array([picture.score for picture in pictures], dtype=np.float32),
        safe_class=np.array([picture.safe for picture in pictures], dtype=np.int64),
        safe_score=np.array([picture.safe_score for picture in pictures], dtype=np.float32),
        is_unknown=np.array([picture.is_unknown for picture in pictures], dtype=bool),
        status=np.array([picture.status for picture in pictures], dtype=np.uint8),
        shot_counts={label: labels.count(label) for label in set(labels) - {NO_CLASS, UNKNOWN}},
        image_counts=image_counts or {},
        model_name="leafnet",
    )


def many_pictures(count: int, *, classes: int = 7, seed: int = 0) -> CollectionState:
    """A large state with random predictions and no labels."""
    generator = np.random.default_rng(seed)
    best = generator.integers(1, classes + 1, count).astype(np.int32)
    score = generator.uniform(0.3, 1.0, count).astype(np.float32)
    return CollectionState(
        folder=Path("photos"),
        image_ids=np.arange(1, count + 1, dtype=np.int64),
        paths=[f"{number}.png" for number in range(1, count + 1)],
        label_class=np.full(count, NO_CLASS, dtype=np.int32),
        best_class=best,
        best_score=score,
        safe_class=np.where(score > 0.8, best, NO_CLASS),
        safe_score=score,
        is_unknown=np.zeros(count, dtype=bool),
        status=np.full(count, ImageStatus.READY, dtype=np.uint8),
        shot_counts={},
        image_counts={},
        model_name="leafnet",
    )
