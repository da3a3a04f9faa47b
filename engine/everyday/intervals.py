"""Where a share that was counted on a few images truly lies."""

from math import sqrt
from typing import Final

CONFIDENCE: Final = 1.96
"""Standard deviations around the mean that hold 19 of 20 cases."""
EXTRA: Final = 0.5
"""Counted in for each of the four outcomes of a pair, so that intervals of few pairs are wide enough."""


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
