"""Figures from few images: intervals of shares, the calibration error, and how far is too far."""

from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

CONFIDENCE: Final = 1.96
"""Standard deviations around the mean that hold 19 of 20 cases."""
EXTRA: Final = 0.5
"""Counted in for each of the four outcomes of a pair, so that intervals of few pairs are wide enough."""
CALIBRATION_BINS: Final = 15
"""Bins of a calibration error, as in the source of `calibration_error`."""
UNKNOWN_QUANTILE: Final = 0.99
"""Share of held-out shots that must not be unknown. Chosen: one in a hundred may."""
FEWEST_DISTANCES: Final = 8
"""Fewer held-out shots than this say nothing about what is far."""
LEAST_UNKNOWN_DISTANCE: Final = 1e-4
"""Squared distance within which unit-length embeddings are of the same picture, up to rounding."""


def share_interval(hits: int, count: int) -> tuple[float, float]:
    """Where a share lies in 19 of 20 cases; from 0 to 1 where nothing was counted.

    Source: Wilson, Journal of the American Statistical Association, 1927.

    Args:
        hits: images of which it holds.
        count: all of them.
    """
    if not count:
        return 0.0, 1.0
    share, square = hits / count, CONFIDENCE**2
    middle = (share + square / (2 * count)) / (1 + square / count)
    spread = CONFIDENCE * sqrt(share * (1 - share) / count + square / (4 * count**2)) / (1 + square / count)
    return max(0.0, middle - spread), min(1.0, middle + spread)


def gain_interval(count: int, gained: int, lost: int) -> tuple[float, float]:
    """Where the difference of two shares lies in 19 of 20 cases, both counted on the same images.

    Only images count on which the two differ.

    Source: Agresti and Min, Statistics in Medicine, 2005: paired proportions, with half an observation more for each of
    the four outcomes.

    Args:
        count: all images.
        gained, lost: images of which it holds only afterwards, only before.
    """
    pairs, more, less = count + 4 * EXTRA, gained + EXTRA, lost + EXTRA
    middle = (more - less) / pairs
    spread = CONFIDENCE * sqrt(more + less - (more - less) ** 2 / pairs) / pairs
    return max(-1.0, middle - spread), min(1.0, middle + spread)


def calibration_error(scores: NDArray[np.float32], is_right: NDArray[np.bool_], bins: int = CALIBRATION_BINS) -> float:
    """Expected calibration error: mean gap between score and accuracy over equally wide bins.

    Source: Guo et al., ICML 2017.

    Args:
        scores: (n,) in [0, 1].
        is_right: (n,) bool.
    """
    return float(np.abs(calibration_gaps(scores, is_right, bins)).sum()) if len(scores) else float("nan")


def calibration_gaps(
    scores: NDArray[np.float32], is_right: NDArray[np.bool_], bins: int = CALIBRATION_BINS
) -> NDArray[np.float64]:
    """What each bin (bins,) adds to the calibration error, positive where scores are above accuracy.

    Args:
        scores: (n,) in [0, 1], n > 0.
        is_right: (n,) bool.
    """
    place = np.minimum((scores * bins).astype(np.int64), bins - 1)
    return np.bincount(place, weights=scores - is_right.astype(np.float64), minlength=bins) / len(scores)


def distance_limit(nearest: NDArray[np.float32]) -> float:
    """Squared distance that all but about one in a hundred images of known classes stay within.

    Args:
        nearest: (n,) squared distances of such images to the nearest class; infinity is returned for fewer than 8.
    """
    finite = nearest[np.isfinite(nearest)]
    if len(finite) < FEWEST_DISTANCES:
        return float("inf")
    return float(max(np.quantile(finite, UNKNOWN_QUANTILE), finite.mean() + 3 * finite.std(), LEAST_UNKNOWN_DISTANCE))
