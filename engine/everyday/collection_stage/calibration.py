"""Calibration: from chances to probabilities, by the collection and by shots that were held out.

Images are mistaken for siblings more often than for other classes, so the sum of a branch's
candidates is less sure than it is right. Each candidate's probability is therefore multiplied by
those of its branches, to a small power.
"""

from dataclasses import dataclass

import numpy as np

from engine.arrays import Floats, Integers
from engine.everyday.back_off import LEAST_PROBABILITY, Branches

PRIORS = 0.5
"""Power of the estimated class sizes in probabilities where classes are imbalanced and have many
shots; less by one shot's share of them: one shot says too little about the extent of a class
(decision 52)."""
AGREED = (0.5, 0.85)
"""Agreement of the stage with a regression of the shots up to which estimated sizes are not
evidence, and from which they are trusted (decision 52)."""
PRIOR_STEPS = 10
"""Of expectation maximisation. Chosen: further ones move sizes by less than a percent."""
PSEUDO_COUNT = 0.3
"""Images of each class beforehand, as a share of the mean: few images move priors little."""
FACTORS = np.geomspace(0.4, 2.5, 33)
"""Factors on the power that are tried. Chosen: 0.4 to 2.5, in steps of 6%."""
PRIOR_SPREAD = 0.25
"""Prior standard deviation of the factor's logarithm, where shots are familiar."""
SIMILARITY = 1.12
"""What similarity adds to the logarithm of the power: look-alikes sharpen it (decision 52)."""
SHOTS = 0.12  # the power goes with the shots of a class to this power
FAMILIARITY = 0.45
"""Power of the familiarity in it: shots taken in another place are less informative."""
AGREEMENT = 1.8
"""What disagreement of the stage and a regression of the shots takes from the logarithm of the
power where classes are imbalanced, as far as the agreement is below the second of `AGREED`
(decision 52)."""
COMPARED = -0.08
"""The power goes with the share of the directions that images are compared in to this power: in few
directions chance similarity is as strong as real one, and chances are flatter than they are right;
less so where a regression of the shots disagrees (decision 52)."""
IMBALANCED = 0.2  # imbalance from which on all of it counts
USUAL = -1.20
"""Logarithm of the power of one familiar shot of each class among images that have no look-
alikes."""
MOST_POWER = 3.0
"""Highest power of a probability. Chosen: above what was right anywhere (decision 52)."""
SMOOTHING = 0.1
"""Chance that a single shot represents none of its look-alikes; a tenth of it with ten shots."""
ZERO_SHOTS = 0.5  # shots that a zero-shot class counts as having


def expected_power(
    *,
    similarity: float,
    shots: float,
    familiarity: float,
    imbalance: float = 0.0,
    agreement: float = 1.0,
    compared: float = 1.0,
) -> float:
    """Return the expected power of probabilities before any shot is held out.

    Above 1 sharpens, below 1 flattens.

    Args:
        similarity: mean weight of look-alikes, in [0, 1].
        shots: of a class, geometric mean.
        familiarity: of the shots with the collection, in (0, 1].
        imbalance: of the classes, in [0, 1].
        agreement: share of the images for which the stage and a regression of the shots name the
            same class.
        compared: share of the whitened directions that images are compared in.
    """
    imbalanced = min(1.0, imbalance / IMBALANCED)
    level = USUAL + SIMILARITY * similarity + AGREEMENT * (agreement - AGREED[1]) * imbalanced
    power = np.exp(level) * max(shots, 1.0) ** (SHOTS * (1 - imbalanced)) * familiarity**FAMILIARITY
    return min(float(power) * compared ** (COMPARED * agreed(agreement)), MOST_POWER)


def prior_power(*, shots: float, imbalance: float, agreement: float) -> float:
    """The power of estimated class sizes in probabilities, 0 where classes are of about one size.

    Args:
        shots: of a class, geometric mean.
        imbalance: of the classes, in [0, 1].
        agreement: share of the images for which the stage and a regression of the shots name the
            same class.
    """
    return PRIORS * min(1.0, imbalance / IMBALANCED) * agreed(agreement) * (1 - 1 / max(shots, 1.0))


def agreed(agreement: float) -> float:
    """How far the agreement of the stage with a regression of the shots is trusted, in [0, 1]."""
    doubtful, sure = AGREED
    return min(1.0, max(0.0, (agreement - doubtful) / (sure - doubtful)))


@dataclass(frozen=True)
class Calibration:
    """How chances become probabilities."""

    power: float  # of the chances
    smoothing: Floats  # (c,) float32, share of a class's probability that goes to the runners-up
    branches: Branches  # the classes above the c candidates
    # (c,) float32, factors of the probabilities; None where classes are balanced
    priors: Floats | None = None

    def apply(self, chances: Floats) -> Floats:
        """Probabilities (n, c) float32 of chances (n, c) that are not negative."""
        sharp = sharpened(chances, self.power)
        claims = self.branches.lean(leaked(sharp, smoothed_share(sharp, self.smoothing)))
        if self.priors is not None:
            claims *= self.priors
            claims /= claims.sum(axis=1, keepdims=True)
        return claims


def class_priors(probabilities: Floats, power: float) -> Floats:
    """Factors (c,) float32 for probabilities (n, c) that assume equal class sizes.

    Expectation maximisation of label shift (Saerens et al., 2002), with some images of each class
    beforehand.

    Args:
        power: of the sizes: 1 trusts them, 0 assumes classes of one size.
    """
    count, width = probabilities.shape
    priors = np.full(width, 1 / width)
    for _ in range(PRIOR_STEPS):
        weighed = probabilities @ priors
        sizes = priors * (probabilities / np.maximum(weighed, LEAST_PROBABILITY)[:, None]).sum(
            axis=0
        )
        priors = (sizes + PSEUDO_COUNT * (count + 1) / width) / (count + PSEUDO_COUNT * (count + 1))
    return ((width * priors) ** power).astype(np.float32)


def sharpened(chances: Floats, power: float) -> Floats:
    """Chances (n, c) to a power, with sums of 1, before any smoothing."""
    sharp = np.maximum(chances, LEAST_PROBABILITY)
    np.log(sharp, out=sharp)
    sharp *= np.float32(power)
    np.exp(sharp, out=sharp)
    sharp /= sharp.sum(axis=1, keepdims=True)
    return sharp


def smoothed_share(sharp: Floats, smoothing: Floats) -> Floats:
    """Share (n, 1) of probabilities (n, c) moved to the runners-up; smoothing (c,) or (n, c).

    No product of matrices: BLAS of some processors raises the flag of an invalid number for few
    columns.
    """
    return (sharp * smoothing).sum(axis=1, keepdims=True)


def smoothing_for(shot_counts: Floats) -> Floats:
    """Smoothing (c,) by number of shots; all look-alikes of an odd single shot are wrong."""
    return (SMOOTHING / np.maximum(shot_counts, ZERO_SHOTS)).astype(np.float32)


@dataclass(frozen=True)
class HeldOutChances:
    """Chances of shots that the stage was fitted without."""

    chances: Floats  # (h, c) float32
    shots: Integers  # (h,) int64 positions among the labelled images
    classes: Integers  # (h,) int64 positions of the shots' own candidates
    shot_counts: Floats  # (h, c) float32 shots that each candidate had meanwhile
    hits_without: int  # how many of them the model without the stage gets right
    branches: Branches  # the classes above the c candidates

    @property
    def hits(self) -> int:
        """How many of the shots the stage gets right."""
        return int((self.chances.argmax(axis=1) == self.classes).sum()) if len(self.classes) else 0

    def claims(self, power: float) -> Floats:
        """Probabilities (h, c) float32 that a calibration of this power makes of the chances."""
        sharp = sharpened(self.chances, power)
        return self.branches.lean(
            leaked(sharp, smoothed_share(sharp, smoothing_for(self.shot_counts)))
        )


def power_from(held_out: HeldOutChances, expected: float, familiarity: float) -> float:
    """Choose the power whose probabilities predict the observed number of held-out hits.

    It stays near the expected one.

    Not by likelihood, which a few odd shots would rule. Shots that were taken elsewhere
    (familiarity in (0, 1]) are similar to one another alone, so holding them out is little evidence
    for other images, and moves little.
    """
    if len(held_out.classes) == 0:
        return expected
    spread = PRIOR_SPREAD * familiarity**4
    factor = max(
        FACTORS.tolist(),
        key=lambda factor: _evidence(held_out, expected * factor, np.log(factor) / spread),
    )
    return min(expected * float(factor), MOST_POWER)


def _evidence(held_out: HeldOutChances, power: float, off: float) -> float:
    """Log likelihood of the number of hits (normal), plus the log prior of `off` deviations."""
    best = held_out.claims(power).max(axis=1).astype(np.float64)
    spread = max(float((best * (1 - best)).sum()), 0.25)
    missed = best.sum() - held_out.hits
    return float(-0.5 * missed**2 / spread - 0.5 * off**2)


def leaked(claims: Floats, smoothing: Floats) -> Floats:
    """Move a part (n, 1) of probabilities (n, c) to the runners-up, evenly if flat."""
    flat = np.sqrt(claims)
    flat *= smoothing / flat.sum(axis=1, keepdims=True)
    kept = claims * (1 - smoothing)
    kept += flat
    return kept
