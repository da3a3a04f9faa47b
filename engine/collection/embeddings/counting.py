"""How many images are at a class: labelled with it, or shown at it or below."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import NO_CLASS

Codes = NDArray[np.int64]


def counts_of(codes: Codes) -> dict[int, int]:
    """Images (n,) of each class that has any."""
    counts = np.bincount(codes[codes >= 0])
    class_ids = np.flatnonzero(counts)
    return dict(zip(class_ids.tolist(), counts[class_ids].tolist(), strict=True))


def shown_classes(labels: Codes, best: Codes, is_unknown: NDArray[np.bool_]) -> Codes:
    """The class (n,) at which each image is shown: the person's, or else the likeliest unless the image is unknown."""
    return np.where(labels != NO_CLASS, labels, np.where(is_unknown, NO_CLASS, best))


@dataclass(frozen=True)
class ShownCounts:
    """Distinct images shown at each class."""

    exactly: NDArray[np.int64]  # (k,) int64 by class id; classes behind the last have none
    or_below: Mapping[int, int]  # images at each class or below; classes without any are left out

    @staticmethod
    def none() -> "ShownCounts":
        """Of no image."""
        return ShownCounts(np.zeros(0, dtype=np.int64), {})

    def moved_to(self, graph: CategoryGraph, shown: Codes) -> "ShownCounts":
        """The counts of other shown classes (n,) in the same graph: only what differs is added up."""
        exactly = np.bincount(shown[shown >= 0])
        width = max(len(exactly), len(self.exactly))
        more = np.pad(exactly, (0, width - len(exactly))) - np.pad(self.exactly, (0, width - len(self.exactly)))
        totals: Counter[int] = Counter(self.or_below)
        for class_id in np.flatnonzero(more).tolist():
            if class_id not in graph:
                continue
            # An image has one class, and that class each ancestor once.
            for above in (class_id, *graph.ancestors(class_id)):
                totals[above] += int(more[class_id])
                if totals[above] == 0:
                    del totals[above]
        return ShownCounts(exactly, dict(totals))
