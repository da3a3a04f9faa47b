"""How much more often a changed model would be right: the same labelled images held out of both, before and after."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.collection.state import NO_CLASS
from engine.everyday.classifier import FittedClassifier
from engine.everyday.scores import gain_interval
from engine.graph.category_graph import CategoryGraph


@dataclass(frozen=True)
class HeldOutAnswers:
    """What a model says of labelled images that it did not learn from."""

    image_ids: NDArray[np.int64]  # (h,) int64, ascending
    is_right: NDArray[np.bool_]  # (h,) bool, whether the likeliest leaf is the label or one above it
    is_named: NDArray[np.bool_]  # (h,) bool, whether the image has a safe class
    is_named_rightly: NDArray[np.bool_]  # (h,) bool, whether it has one that is the label or one above it

    def of(self, image_ids: NDArray[np.int64]) -> "HeldOutAnswers":
        """The answers about these images, which must be there."""
        rows = np.searchsorted(self.image_ids, image_ids)
        return HeldOutAnswers(image_ids, self.is_right[rows], self.is_named[rows], self.is_named_rightly[rows])


@dataclass(frozen=True)
class HeldOutComparison:
    """Two models on the n labelled images that were held out of both."""

    images: int  # n
    # before, after: how many of them have the right likeliest class
    before: int
    after: int
    # lost, gained: how many only the first, only the second model gets right
    lost: int
    gained: int
    # named_before, named_after: how many have a safe class
    named_before: int
    named_after: int
    # named_rightly_before, named_rightly_after: how many have a right one
    named_rightly_before: int
    named_rightly_after: int

    @property
    def gain(self) -> float:
        """By how much the accuracy goes up, in [-1, 1]."""
        return (self.after - self.before) / self.images if self.images else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Where the true gain lies in 19 of 20 cases.

        Both models are asked about the same images; see `gain_interval`.
        """
        return gain_interval(self.images, self.gained, self.lost)


def held_out_answers(fitted: FittedClassifier, graph: CategoryGraph) -> HeldOutAnswers:
    """What a model says of the shots that it was checked with.

    Args:
        graph: that it was fitted to.
    """
    held_out = fitted.held_out
    if held_out is None or held_out.probabilities.size == 0:
        none = np.zeros(0, dtype=bool)
        return HeldOutAnswers(np.zeros(0, dtype=np.int64), none, none, none)
    best, score = held_out.likeliest()
    safe, _ = fitted.back_off.decide(best, score, held_out.probabilities @ fitted.back_off.roll_up)
    fitting = held_out.fitting(graph)
    order = np.argsort(held_out.image_ids, kind="stable")
    is_right = _are_fitting(fitting, fitted.candidate_ids[best], held_out.class_ids)
    is_named_rightly = _are_fitting(fitting, safe, held_out.class_ids)
    return HeldOutAnswers(
        held_out.image_ids[order], is_right[order], (safe != NO_CLASS)[order], is_named_rightly[order]
    )


def compared(before: HeldOutAnswers, after: HeldOutAnswers) -> HeldOutComparison:
    """Put two models side by side."""
    shared = np.intersect1d(before.image_ids, after.image_ids)
    was, now = before.of(shared), after.of(shared)
    return HeldOutComparison(
        images=len(shared),
        before=int(was.is_right.sum()),
        after=int(now.is_right.sum()),
        lost=int((was.is_right & ~now.is_right).sum()),
        gained=int((~was.is_right & now.is_right).sum()),
        named_before=int(was.is_named.sum()),
        named_after=int(now.is_named.sum()),
        named_rightly_before=int(was.is_named_rightly.sum()),
        named_rightly_after=int(now.is_named_rightly.sum()),
    )


def _are_fitting(
    fitting: dict[int, frozenset[int]], answer: NDArray[np.int64], labels: NDArray[np.int64]
) -> NDArray[np.bool_]:
    pairs = zip(answer.tolist(), labels.tolist(), strict=True)
    return np.array([each in fitting.get(label, ()) for each, label in pairs], dtype=bool)
