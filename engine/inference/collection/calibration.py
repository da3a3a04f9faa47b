"""From chances to probabilities: how far to trust them, told by shots that were held out, and by how few there are."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

POWERS: Final = np.geomspace(0.4, 2.5, 33)
PRIOR_SPREAD: Final = 0.3
"""Standard deviation of the logarithm of the power around 1, so that few held-out shots move it little."""
DOUBT: Final = 0.1
"""Chance that an only shot stands for none of the images that look like it; a tenth of that with ten shots."""
ZERO_SHOTS: Final = 0.5
"""Shots that a zero-shot class counts as having."""
LEAST: Final = np.float32(1e-9)

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Calibration:
    """How chances become probabilities.

    Attributes:
        power: above 1 sharpens, below 1 flattens.
        doubt: (c,) float32, share of a class's probability that goes to the runners-up.
    """

    power: float
    doubt: Matrix

    def apply(self, chances: Matrix) -> Matrix:
        """Probabilities (n, c) float32 of chances (n, c) that are not negative."""
        sharp = self.sharpened(chances)
        return leaked(sharp, (sharp @ self.doubt)[:, None])

    def sharpened(self, chances: Matrix) -> Matrix:
        """Chances to the power, with sums of 1, before any doubt."""
        sharp = np.maximum(chances, LEAST)
        if self.power != 1:
            sharp = np.exp(np.float32(self.power) * np.log(sharp))
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
        hits_without: how many of them the model without the stage gets right.
    """

    chances: Matrix
    classes: NDArray[np.int64]
    shot_counts: Matrix
    hits_without: int

    @property
    def hits(self) -> int:
        """How many of the shots the stage gets right."""
        return int((self.chances.argmax(axis=1) == self.classes).sum()) if len(self.classes) else 0


def power_from(held_out: HeldOutChances) -> float:
    """The power whose probabilities claim as many hits as the held-out shots had, if it is near 1; 1 without any.

    Matching the claim and not the likelihood: a few odd shots would rule the likelihood.
    """
    if len(held_out.classes) == 0:
        return 1.0
    return float(max(POWERS.tolist(), key=lambda power: _evidence(held_out, power)))


def _evidence(held_out: HeldOutChances, power: float) -> float:
    """Log likelihood of the number of hits (normal around the claim), and of the power beforehand."""
    claims = Calibration(power, np.zeros(0, np.float32)).sharpened(held_out.chances)
    doubt = (claims * doubt_for(held_out.shot_counts)).sum(axis=1, keepdims=True)
    best = leaked(claims, doubt).max(axis=1).astype(np.float64)
    spread = max(float((best * (1 - best)).sum()), 0.25)
    missed = best.sum() - held_out.hits
    return float(-0.5 * missed**2 / spread - 0.5 * (np.log(power) / PRIOR_SPREAD) ** 2)


def leaked(claims: Matrix, doubt: Matrix) -> Matrix:
    """Claims (n, c) of which a part (n, 1) goes to the runners-up: the flatter the claims, the more evenly."""
    flat = np.sqrt(claims)
    flat *= doubt / flat.sum(axis=1, keepdims=True)
    flat += (1 - doubt) * claims
    return flat
