"""Calibration error of few images: of each draw, and of all draws together.

With a few hundred images, bins are small, and even calibrated scores have an error of 6 or 7 points
in a draw. As the gap of a bin has a sign, chance cancels out over draws, and bias does not.
"""

import math

import numpy as np
from numpy.typing import NDArray

from engine.everyday.scores import CALIBRATION_BINS, calibration_gaps
from research.transfer.parts import figure_of
from research.transfer.results import Figures, TransferResult

_GAPS = tuple(f"calibration_gap_{number}" for number in range(1, CALIBRATION_BINS + 1))


def gaps(scores: NDArray[np.float32], is_right: NDArray[np.bool_]) -> Figures:
    """Signed gap of each bin in the calibration error of a draw; absolute values sum up to it.

    Args:
        scores: (n,) in [0, 1], n > 0.
        is_right: (n,) bool.
    """
    return dict(zip(_GAPS, calibration_gaps(scores, is_right).tolist(), strict=True))


def error_of_all_draws(result: TransferResult, part: str | None = None) -> float:
    """Calibration error of all draws' images taken together; NaN where no draw has gaps.

    Draws have the same weight, whatever their number of images.
    """
    values = [result.values(figure_of(name, part)) for name in _GAPS]
    means = [
        math.fsum(known) / len(known)
        for gap in values
        if (known := [v for v in gap if not math.isnan(v)])
    ]
    return math.fsum(map(abs, means)) if means else math.nan
