"""Calibration error of few images: each draw's own, and that of all draws together.

Of a few hundred images each bin holds a handful, so that even scores that are right on the mean show an error of 6 or 7
points in a draw, by chance. The gap of a bin has a sign, though: over draws chance cancels and what is wrong stays.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.everyday.scores import CALIBRATION_BINS, calibration_gaps
from research.transfer.parts import figure_of
from research.transfer.results import Figures, TransferResult

_GAPS: Final = tuple(f"calibration_gap_{number}" for number in range(1, CALIBRATION_BINS + 1))


def gaps(scores: NDArray[np.float32], is_right: NDArray[np.bool_]) -> Figures:
    """The signed share of each bin in a draw's calibration error; their absolute values sum up to it.

    Args:
        scores: (n,) in [0, 1], n > 0.
        is_right: (n,) bool.
    """
    return dict(zip(_GAPS, calibration_gaps(scores, is_right).tolist(), strict=True))


def error_of_all_draws(result: TransferResult, part: str | None = None) -> float:
    """Calibration error of all draws' images taken together; NaN where no draw has gaps.

    Draws that score different numbers of images count the same.
    """
    values = [result.values(figure_of(name, part)) for name in _GAPS]
    means = [
        math.fsum(known) / len(known)
        for gap in values
        if (known := [v for v in gap if not math.isnan(v)])
    ]
    return math.fsum(map(abs, means)) if means else math.nan
