"""Means over few draws, with Student's t intervals."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

MOST_DRAWS = 30

T_95 = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045),
)
"""Two-sided 95 % quantiles of Student's t by degrees of freedom: draws minus one."""


@dataclass(frozen=True)
class Estimate:
    """Mean over draws and half width of its 95 % interval; NaN where undefined."""

    mean: float
    half_width: float

    @property
    def is_above_zero(self) -> bool:
        """Whether the whole interval is above 0."""
        return self.mean - self.half_width > 0

    def as_percent(self, *, with_sign: bool = False) -> str:
        """`36.2 ± 0.9`, in percent; without interval for a single draw, a dash for none."""
        if math.isnan(self.mean):
            return "-"
        mean = f"{100 * self.mean:+.1f}" if with_sign else f"{100 * self.mean:.1f}"
        return mean if math.isnan(self.half_width) else f"{mean} ± {100 * self.half_width:.1f}"


def estimate(values: Sequence[float]) -> Estimate:
    """Mean and interval of at most `MOST_DRAWS` values; NaN values are left out."""
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return Estimate(math.nan, math.nan)
    mean = statistics.fmean(known)
    if len(known) == 1:
        return Estimate(mean, math.nan)
    return Estimate(mean, T_95[len(known) - 2] * statistics.stdev(known) / math.sqrt(len(known)))


def paired_difference(first: Sequence[float], second: Sequence[float]) -> Estimate:
    """Paired difference, first minus second."""
    return estimate([one - other for one, other in zip(first, second, strict=True)])
