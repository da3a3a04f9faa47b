"""A share of images over draws, with an interval by cluster sampling of draws."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.everyday.scores import share_interval
from research.reports.text_table import MISSING
from research.teaching.expected_errors import design_effect_of


@dataclass(frozen=True)
class PooledShare:
    """A share and its design effect.

    Attributes:
        hits, count: images.
        design_effect: variance relative to that of independent images.
    """

    hits: int
    count: int
    design_effect: float

    @property
    def value(self) -> float:
        """The share in [0, 1]; NaN of no images."""
        return self.hits / self.count if self.count else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval (Wilson)."""
        return share_interval(self.hits / self.design_effect, self.count / self.design_effect)

    def as_text(self) -> str:
        """`93.6 (91.0 to 95.5)`, in percent; a dash of nothing."""
        low, high = self.interval
        return (
            f"{100 * self.value:.1f} ({100 * low:.1f} to {100 * high:.1f})"
            if self.count
            else MISSING
        )


def share_of(hits: Sequence[int], counts: Sequence[int]) -> PooledShare:
    """Pooled share of the images of all draws."""
    sizes, errors = np.array(counts, dtype=np.float64), np.subtract(counts, hits).astype(np.float64)
    has_some = sizes > 0
    return PooledShare(sum(hits), sum(counts), design_effect_of(sizes[has_some], errors[has_some]))
