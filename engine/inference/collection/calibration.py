"""From chances to probabilities: how far to trust them, told by shots that were held out, and by how few there are."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

POWERS: Final = np.geomspace(0.4, 2.5, 33)
PRIOR_SPREAD: Final = 0.12
"""Standard deviation of the logarithm of the power beforehand, so that few held-out shots move it little."""
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
            np.log(sharp, out=sharp)
            sharp *= np.float32(self.power)
            np.exp(sharp, out=sharp)
        sharp /= sharp.sum(axis=1, keepdims=True)
        return sharp


def doubt_for(shot_counts: Matrix) -> Matrix:
    """Doubt (c,) in classes with so many shots: all look-alikes of an odd only shot are wrong together."""
    return (DOUBT / np.maximum(shot_counts, ZERO_SHOTS)).astype(np.float32)


def usual_power(shot_counts: Matrix) -> float:
    """The power to expect of classes with so many shots (c,): 1 with one each, rising to the square root of 2.

    A mean of n shots predicts with the variance 1 + 1 / n within a class, and powers go with its square root.
    """
    counts = shot_counts[shot_counts > 0]
    mean = float(counts.mean()) if len(counts) else 1.0
    return float(np.sqrt(2 * mean / (mean + 1)))


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


def power_from(held_out: HeldOutChances, shot_counts: Matrix) -> float:
    """The power whose probabilities claim as many hits as the held-out shots had, if it is near the usual one.

    Matching the claim and not the likelihood: a few odd shots would rule the likelihood.

    Args:
        held_out: may be empty.
        shot_counts: (c,) of the candidates once nothing is held out: one shot more makes it a little surer.
    """
    if len(held_out.classes) == 0:
        return usual_power(shot_counts)
    meanwhile = usual_power(held_out.shot_counts)
    factor = max(POWERS.tolist(), key=lambda factor: _evidence(held_out, factor * meanwhile, factor))
    return float(factor) * usual_power(shot_counts)


def _evidence(held_out: HeldOutChances, power: float, factor: float) -> float:
    """Log likelihood of the number of hits (normal around the claim), and of the factor on the usual power."""
    claims = Calibration(power, np.zeros(0, np.float32)).sharpened(held_out.chances)
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
