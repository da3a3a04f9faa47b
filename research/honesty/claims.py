"""Claimed and true accuracy of predictions, as counts that add up over draws and stages."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from engine.everyday.prototypical.model import EverydayModel
from engine.everyday.scores import CALIBRATION_BINS, Scores, calibration_gaps
from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import NO_CLASS

Flags = NDArray[np.bool_]
Floats = NDArray[np.float32]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class ImageClaims:
    """Claims about n images.

    Attributes:
        score: (n,) float32, of the most probable candidate.
        is_right: (n,) bool, whether that is the true leaf or an ancestor.
        has_safe, safe_right, is_leaf: (n,) bool, whether there is a safe class, whether it is the
            true leaf or an ancestor, and whether it is a leaf.
        safe_score: (n,) float32.
    """

    score: Floats
    is_right: Flags
    has_safe: Flags
    safe_right: Flags
    is_leaf: Flags
    safe_score: Floats

    @cached_property
    def rightly_sure(self) -> Flags:
        """(n,) bool."""
        return self.has_safe & self.safe_right

    def at(self, chosen: Flags) -> "ImageClaims":
        """The claims about some of the images."""
        return ImageClaims(*(getattr(self, field.name)[chosen] for field in fields(self)))


def claims_of(
    fitted: EverydayModel, scores: Scores, truth: Integers, graph: CategoryGraph
) -> ImageClaims:
    """Claims of a model of the program; an unknown image has no safe class."""
    safe = np.where(fitted.is_unknown(scores), NO_CLASS, scores.safe_class)
    best = fitted.candidate_ids[scores.best]
    return claims_by(best, scores.best_score, safe, scores.safe_score, truth=truth, graph=graph)


def claims_by(
    best: Integers,
    score: Floats,
    safe: Integers,
    safe_score: Floats,
    *,
    truth: Integers,
    graph: CategoryGraph,
) -> ImageClaims:
    """Claims by class ids (n,) of top candidates, safe classes and truth."""
    on_line = {leaf: graph.ancestors(leaf) | {leaf} for leaf in np.unique(truth).tolist()}

    def holds(given: Integers) -> Flags:
        pairs = zip(given.tolist(), truth.tolist(), strict=True)
        return np.array([class_id in on_line[leaf] for class_id, leaf in pairs], dtype=bool)

    has_safe, leaves = safe != NO_CLASS, list(graph.leaves())
    return ImageClaims(score, holds(best), has_safe, holds(safe), np.isin(safe, leaves), safe_score)


@dataclass(frozen=True)
class ClaimTally:
    """Counts of images, and sums of claimed probabilities.

    Attributes:
        images, claimed, right: all, the sum of their scores, and those with the right top class.
        gaps: claimed minus right in each bin of the calibration error.
        safe, safe_claimed, safe_right: with a safe class.
        leaf, leaf_claimed, leaf_right: whose safe class is a leaf.
        sure_before: of classes with examples, rightly sure without the probability of unseen
            classes.
        sure_still: of these, rightly sure here.
    """

    images: int
    claimed: float
    right: int
    gaps: tuple[float, ...]
    safe: int
    safe_claimed: float
    safe_right: int
    leaf: int
    leaf_claimed: float
    leaf_right: int
    sure_before: int
    sure_still: int

    @staticmethod
    def of(claims: ImageClaims, sure_before: Flags) -> "ClaimTally":
        """Count; `sure_before` (n,) are rightly sure ones elsewhere."""
        safe, leaf = claims.has_safe, claims.has_safe & claims.is_leaf
        gaps = np.zeros(CALIBRATION_BINS)
        if len(claims.score):
            gaps = calibration_gaps(claims.score, claims.is_right) * len(claims.score)
        return ClaimTally(
            len(claims.score),
            float(claims.score.sum()),
            int(claims.is_right.sum()),
            tuple(gaps.tolist()),
            int(safe.sum()),
            float(claims.safe_score[safe].sum()),
            int(claims.safe_right[safe].sum()),
            int(leaf.sum()),
            float(claims.safe_score[leaf].sum()),
            int(claims.safe_right[leaf].sum()),
            int(sure_before.sum()),
            int((sure_before & claims.rightly_sure).sum()),
        )

    @property
    def calibration_error(self) -> float:
        """Expected calibration error; NaN of no images."""
        return sum(map(abs, self.gaps)) / self.images if self.images else float("nan")


def total(tallies: Sequence[ClaimTally]) -> ClaimTally:
    """The sum of one tally or more."""
    sums = {
        field.name: sum(getattr(each, field.name) for each in tallies)
        for field in fields(ClaimTally)
        if field.name != "gaps"
    }
    gaps = tuple(map(sum, zip(*(each.gaps for each in tallies), strict=True)))
    return ClaimTally(gaps=gaps, **sums)
