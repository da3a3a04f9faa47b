"""From chances to probabilities: how sure to be, told by how far labels reach and by shots that were held out."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

FACTORS: Final = np.geomspace(0.4, 2.5, 33)
"""Factors on all powers that are tried. Chosen: from less than half to two and a half times, in steps of 6 %."""
PRIOR_SPREAD: Final = 0.12
"""Standard deviation of the logarithm of the factor beforehand, so that few held-out shots move it little."""
REACH: Final = 2.0
"""What a reach of 1 adds to the power: what a label says is surer than what prototypes say."""
SHRINKAGE: Final = 1 / 3
"""What a whitening that is all shrinkage takes off the power: few images do not show who is like whom."""
FAMILIARITY: Final = 0.25
"""The power goes with the familiarity to this power."""
MOST_POWER: Final = 3.0
"""Highest power of a probability. Chosen: above the 2 and more that was right at a high reach (decision 20)."""
DOUBT: Final = 0.1
"""Chance that an only shot stands for none of the images that look like it; a tenth of that with ten shots."""
ZERO_SHOTS: Final = 0.5
"""Shots that a zero-shot class counts as having."""
LEAST: Final = np.float32(1e-9)
"""Smallest chance of which a logarithm is taken. Chosen: far below what changes a prediction."""

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Powers:
    """The power of each image's chances: above 1 sharpens, below 1 flattens.

    Attributes:
        factor: of all powers.
        unreached: power of an image that no label reaches, before the factor.
    """

    factor: float
    unreached: float

    def of(self, reached: Matrix) -> Matrix:
        """Powers (n,) of images with a reach (n,)."""
        return np.minimum(self.factor * (self.unreached + REACH * reached), MOST_POWER).astype(np.float32)

    def times(self, factor: float) -> "Powers":
        """The same with another factor on top."""
        return Powers(self.factor * factor, self.unreached)


def expected_powers(shrinkage: float, familiarity: float) -> Powers:
    """Powers to expect before any shot was held out.

    Args:
        shrinkage: of the collection's whitening, in [0, 1].
        familiarity: of the shots with the collection, in [0, 1].
    """
    return Powers(familiarity**FAMILIARITY, 1 - SHRINKAGE * shrinkage)


@dataclass(frozen=True)
class Calibration:
    """How chances become probabilities.

    Attributes:
        powers: of the chances.
        doubt: (c,) float32, share of a class's probability that goes to the runners-up.
    """

    powers: Powers
    doubt: Matrix

    def apply(self, chances: Matrix, reached: Matrix) -> Matrix:
        """Probabilities (n, c) float32 of chances (n, c) that are not negative, of images with a reach (n,)."""
        sharp = sharpened(chances, self.powers.of(reached))
        return leaked(sharp, (sharp @ self.doubt)[:, None])


def sharpened(chances: Matrix, powers: Matrix) -> Matrix:
    """Chances (n, c) to the powers (n,), with sums of 1, before any doubt."""
    sharp = np.maximum(chances, LEAST)
    np.log(sharp, out=sharp)
    sharp *= powers[:, None]
    np.exp(sharp, out=sharp)
    sharp /= sharp.sum(axis=1, keepdims=True)
    return sharp


def doubt_for(shot_counts: Matrix) -> Matrix:
    """Doubt (c,) in classes with so many shots: all look-alikes of an odd only shot are wrong together."""
    return (DOUBT / np.maximum(shot_counts, ZERO_SHOTS)).astype(np.float32)


@dataclass(frozen=True)
class HeldOutChances:
    """What the stage said of shots that it did not know to be shots.

    Attributes:
        chances: (h, c) float32.
        classes: (h,) int64 positions of the shots' own candidates.
        shot_counts: (h, c) float32 shots that each candidate had meanwhile.
        reached: (h,) float32, how far the labels of others reached them meanwhile.
        hits_without: how many of them the model without the stage gets right.
    """

    chances: Matrix
    classes: NDArray[np.int64]
    shot_counts: Matrix
    reached: Matrix
    hits_without: int

    @property
    def hits(self) -> int:
        """How many of the shots the stage gets right."""
        return int((self.chances.argmax(axis=1) == self.classes).sum()) if len(self.classes) else 0


def powers_from(held_out: HeldOutChances, expected: Powers) -> Powers:
    """The powers whose probabilities claim as many hits as the held-out shots had, if they are near the expected ones.

    Matching the claim and not the likelihood: a few odd shots would rule the likelihood.

    Args:
        held_out: may be empty.
        expected: beforehand.
    """
    if len(held_out.classes) == 0:
        return expected
    factor = max(FACTORS.tolist(), key=lambda factor: _evidence(held_out, expected.times(factor), factor))
    return expected.times(float(factor))


def _evidence(held_out: HeldOutChances, powers: Powers, factor: float) -> float:
    """Log likelihood of the number of hits (normal around the claim), and of the factor on the expected powers."""
    claims = sharpened(held_out.chances, powers.of(held_out.reached))
    doubt = (claims * doubt_for(held_out.shot_counts)).sum(axis=1, keepdims=True)
    best = leaked(claims, doubt).max(axis=1).astype(np.float64)
    spread = max(float((best * (1 - best)).sum()), 0.25)
    missed = best.sum() - held_out.hits
    return float(-0.5 * missed**2 / spread - 0.5 * (np.log(factor) / PRIOR_SPREAD) ** 2)


def leaked(claims: Matrix, doubt: Matrix) -> Matrix:
    """Claims (n, c) of which a part (n, 1) goes to the runners-up: the flatter the claims, the more evenly."""
    flat = np.sqrt(claims)
    flat *= doubt / flat.sum(axis=1, keepdims=True)
    kept = claims * (1 - doubt)
    kept += flat
    return kept
