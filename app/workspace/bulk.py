"""Accepting many guesses at once: which of the chosen images, and how many errors to expect. No Qt."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.collection.state import NO_CLASS, CollectionState, ImageStatus


class Acceptable(NamedTuple):
    """What accepting would do.

    Attributes:
        groups: images by the class that each would be labelled as; empty when there is nothing to accept.
        expected_errors: how many of them are wrong on average, by the model's own calibrated probabilities.
        unknown_count: images above the threshold that perhaps show none of the classes, accepted or not.
    """

    groups: Mapping[int, Sequence[int]]
    expected_errors: float
    unknown_count: int

    @property
    def image_count(self) -> int:
        """How many images would get a label."""
        return sum(map(len, self.groups.values()))


def acceptable(
    state: CollectionState, image_ids: Sequence[int], threshold: float, *, with_unknown: bool = False
) -> Acceptable:
    """Find the images whose likeliest class is more probable than the threshold.

    Never among them: images with a label, those without a prediction, and those that are gone.

    Args:
        state: predictions and labels.
        image_ids: the chosen images; they keep their order within a class.
        threshold: probability, in [0, 1].
        with_unknown: whether also images that perhaps show none of the classes.
    """
    places = _places(state, np.array(image_ids, dtype=np.int64))
    scores = state.best_score[places].astype(np.float64)
    is_guess = (state.label_class[places] == NO_CLASS) & (state.best_class[places] != NO_CLASS)
    is_sure = is_guess & (state.status[places] == ImageStatus.READY) & (scores > threshold)
    is_unknown = state.is_unknown[places]
    fits = is_sure if with_unknown else is_sure & ~is_unknown
    unknown_count = int(np.count_nonzero(is_sure & is_unknown))
    places, scores = places[fits], scores[fits]
    by_class = np.argsort(state.best_class[places], kind="stable")
    class_ids, starts = np.unique(state.best_class[places][by_class], return_index=True)
    parts = np.split(state.image_ids[places][by_class], starts[1:])
    groups = {class_id: part.tolist() for class_id, part in zip(class_ids.tolist(), parts, strict=False)}
    return Acceptable(groups, float((1 - scores).sum()), unknown_count)


def labelled_count(state: CollectionState, image_ids: Sequence[int]) -> int:
    """How many of these images a person has labelled, as a class or as none of them."""
    places = _places(state, np.array(image_ids, dtype=np.int64))
    return int(np.count_nonzero(state.label_class[places] != NO_CLASS))


def _places(state: CollectionState, image_ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where these images are in the state's arrays, without those that are not there."""
    if not len(state.image_ids):
        return np.zeros(0, dtype=np.int64)
    places = np.minimum(np.searchsorted(state.image_ids, image_ids), len(state.image_ids) - 1)
    return places[state.image_ids[places] == image_ids]
