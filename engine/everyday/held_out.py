"""What a model says of labelled images that it did not learn from: the honest answer to "how often is it right?"."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.everyday.tuning import HeldOutCheck, Tuning, squared_at
from engine.graph.category_graph import CategoryGraph

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class HeldOutShots:
    """Labelled images, each classified by a model that was fitted without it.

    Attributes:
        image_ids: (h,) int64.
        class_ids: (h,) int64, the label of each, a candidate or a class below one.
        probabilities: (h, c) float32 over the model's candidates.
    """

    image_ids: NDArray[np.int64]
    class_ids: NDArray[np.int64]
    probabilities: Matrix

    def likeliest(self) -> tuple[NDArray[np.int64], Matrix]:
        """Position (h,) of each image's likeliest candidate, and its probability (h,)."""
        best = self.probabilities.argmax(axis=1)
        return best, np.take_along_axis(self.probabilities, best[:, None], axis=1)[:, 0]

    def fitting(self, graph: CategoryGraph) -> dict[int, frozenset[int]]:
        """For each label the classes that are right for it: itself and all above; labels that are gone are left out."""
        labels = set(self.class_ids.tolist())
        return {label: graph.ancestors(label) | {label} for label in labels if label in graph}


def held_out_shots(check: HeldOutCheck, tuning: Tuning, places: NDArray[np.int64], width: int) -> HeldOutShots:
    """Finish the check that tuning used: probabilities (Eq. 2) with the shrinkage and temperature that were chosen.

    Args:
        check: the shots held out one at a time.
        tuning: what it led to.
        places: (k,) int64, places of the check's classes among the candidates.
        width: number of candidates; those without a shot of their own have no say here.
    """
    rows = check.rows(np.flatnonzero(check.can_tell_leaf))
    probabilities = np.zeros((len(rows.class_ids), width), dtype=np.float32)
    if probabilities.size and len(places):
        squared = squared_at(rows, tuning.shrinkage)
        powers = np.exp((squared.min(axis=1, keepdims=True) - squared) / np.float32(tuning.temperature))
        probabilities[:, places] = powers / powers.sum(axis=1, keepdims=True)
    return HeldOutShots(rows.image_ids, rows.class_ids, probabilities)
