"""Scores of images and of held-out shots, and statistics of them.

Intervals, calibration error, the distance limit of unknown images, and error odds: by what factor a
model's odds of being wrong differ from what its probabilities say, learned from checked answers of
a class under review (decision 83) or of sure predictions in an audit (decision 105).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np

from engine.arrays import Codes, Doubles, Flags, Floats, Integers
from engine.everyday.blocks import Embeddings, at_columns, block_of, factor_of, filled_in_blocks
from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import NO_CLASS

COLUMN_BLOCK_ROWS = 4096  # rows that are multiplied with a single vector at once
CONFIDENCE = 1.96  # standard deviations around the mean that hold 19 of 20 cases
EXTRA = 0.5
"""Added to each of the four outcomes of a pair, so that intervals of few pairs are wide enough."""
CALIBRATION_BINS = 15  # bins of a calibration error, as in the source of `calibration_error`
UNKNOWN_QUANTILE = 0.99
"""Share of held-out shots that must not be unknown. Chosen: one in a hundred may."""
FEWEST_DISTANCES = 8  # fewer held-out shots than this give no limit
LEAST_UNKNOWN_DISTANCE = 1e-4
"""Squared distance within which unit-length embeddings are of the same picture, up to rounding."""


PRIOR_ERRORS = 1.0
"""What a model's own probabilities weigh against answers about a class, in errors."""


FADING_ODDS = 0.99
"""Power of a class's error odds with each further answer: the model changes meanwhile."""


@dataclass(frozen=True)
class Scores:
    """Outcome for n images."""

    best: Codes  # (n,) int32 position of the most probable candidate
    best_logit: Floats  # (n,) float32; its probability is exp(best_logit - log_total)
    log_total: Floats  # (n,) float32
    safe_class: Codes  # (n,) int32 class id, or -1
    safe_score: Floats  # (n,) float32
    # (n,) float32 to the labelled images, by the collection stage; NaN without it
    similarity: Floats

    @property
    def best_score(self) -> Floats:
        """(n,) probability of the most probable candidate."""
        return np.exp(self.best_logit - self.log_total)

    @classmethod
    def empty(cls, count: int) -> "Scores":
        """Scores to be filled for `count` images; zeros keep `best` a valid position."""
        integers, floats = (
            np.zeros((2, count), dtype=np.int32),
            np.zeros((4, count), dtype=np.float32),
        )
        return cls(integers[0], floats[0], floats[1], integers[1], floats[2], floats[3])

    def at(self, rows: Integers) -> "Scores":
        """Scores of these rows, ascending; the very same ones where these are all."""
        if len(rows) == len(self.best):
            return self
        return Scores(*(array[rows] for array in vars(self).values()))

    def put(self, rows: slice | Integers, part: "Scores") -> None:
        """Write `part` into these rows."""
        for name, array in vars(self).items():
            array[rows] = getattr(part, name)


@dataclass(frozen=True)
class HeldOutShots:
    """Labelled images, each classified by a model that was fitted without it."""

    image_ids: Integers  # (h,) int64
    class_ids: Integers  # (h,) int64, the label of each, a candidate or a class below one
    probabilities: Floats  # (h, c) float32 over the model's candidates

    def top_class(self) -> tuple[Integers, Floats]:
        """Position (h,) of each image's most probable candidate, and its probability (h,)."""
        best = self.probabilities.argmax(axis=1)
        return best, at_columns(self.probabilities, best)

    def fitting(self, graph: CategoryGraph) -> dict[int, frozenset[int]]:
        """For each label the classes that are right for it: itself and all ancestors."""
        labels = set(self.class_ids.tolist())
        return {label: graph.ancestors(label) | {label} for label in labels if label in graph}


def similarity(embeddings: Embeddings, vector: Floats) -> Floats:
    """Inner products (n,) of all embeddings with a vector (d,)."""
    scaled = vector * factor_of(embeddings)
    return filled_in_blocks(
        len(embeddings), lambda rows: block_of(embeddings[rows]) @ scaled, COLUMN_BLOCK_ROWS
    )


def share_interval(hits: float, count: float) -> tuple[float, float]:
    """95 % confidence interval of a share, from 0 to 1 where nothing was counted.

    Source: Wilson, Journal of the American Statistical Association, 1927.
    """
    if not count:
        return 0.0, 1.0
    share, square = hits / count, CONFIDENCE**2
    middle = (share + square / (2 * count)) / (1 + square / count)
    spread = CONFIDENCE * sqrt(share * (1 - share) / count + square / (4 * count**2))
    spread /= 1 + square / count
    return max(0.0, middle - spread), min(1.0, middle + spread)


def gain_interval(count: int, gained: int, lost: int) -> tuple[float, float]:
    """95 % confidence interval of the difference of two shares, counted on the same images.

    Source: Agresti and Min, Statistics in Medicine, 2005: paired proportions, with half an
    observation more for each of the four outcomes.

    Args:
        count: all images.
        gained, lost: images of which it holds only afterwards, only before.
    """
    pairs, more, less = count + 4 * EXTRA, gained + EXTRA, lost + EXTRA
    middle = (more - less) / pairs
    spread = CONFIDENCE * sqrt(more + less - (more - less) ** 2 / pairs) / pairs
    return max(-1.0, middle - spread), min(1.0, middle + spread)


def calibration_error(scores: Floats, is_right: Flags) -> float:
    """Expected calibration error: mean gap of score (n,) and accuracy over equal bins.

    NaN for n = 0.

    Source: Guo et al., ICML 2017.
    """
    if not len(scores):
        return float("nan")
    return float(np.abs(calibration_gaps(scores, is_right)).sum())


def calibration_gaps(scores: Floats, is_right: Flags, bins: int = CALIBRATION_BINS) -> Doubles:
    """What each bin (bins,) adds to the calibration error of n > 0 scores.

    Positive: overconfident.
    """
    place = np.minimum((scores * bins).astype(np.int64), bins - 1)
    return np.bincount(place, weights=scores - is_right.astype(np.float64), minlength=bins) / len(
        scores
    )


def distance_limit(nearest: Floats) -> float:
    """Limit of squared distances (n,) that 99 % of known images keep; infinite with few."""
    finite = nearest[np.isfinite(nearest)]
    if len(finite) < FEWEST_DISTANCES:
        return float("inf")
    return float(
        max(
            np.quantile(finite, UNKNOWN_QUANTILE),
            finite.mean() + 3 * finite.std(),
            LEAST_UNKNOWN_DISTANCE,
        )
    )


def error_odds_of(odds: Mapping[int, float], class_id: int) -> float:
    """Error odds of a class; those of all classes together where there was no answer about it."""
    return odds.get(class_id, odds.get(NO_CLASS, 1.0))


def corrected_odds(odds: float, expected: float, found: float) -> float:
    """Error odds relative to the model's, after one more answer (the mean of a gamma distribution).

    Args:
        odds: before the answer.
        expected: errors by these odds.
        found: true errors.
    """
    return odds * (PRIOR_ERRORS + found) / (PRIOR_ERRORS + expected)


def with_error_odds(probability: Floats, odds: Floats | float) -> Floats:
    """Probabilities (n,) float32 of being right, with the odds of being wrong times `odds`."""
    right = np.clip(probability, 0, 1)
    return (right / np.maximum(right + odds * (1 - right), np.float32(1e-9))).astype(np.float32)
