"""Class imbalance: the class-balanced mean of a collection, and how much class sizes differ.

Whitened embeddings are directions from the collection's mean. Where most images are of one class,
that mean lies within it: its images point everywhere, are taken for all other classes, and pull
their prototypes along. From the mean of the class means, in which each class counts once, they
point one way. A few shots estimate that mean roughly, so it is shrunk to the collection's by how
much of the difference is chance (James and Stein, 1961).

Whitening also brings the c - 1 directions in which c classes differ (Fisher, 1936) to nearly the
variance of hundreds in which images of one class do. One shot of each of three classes is then
drowned in these, so images are compared with prototypes only in the directions that tell images
apart most: the more of them, the more classes and shots there are. Several shots of a class say
more than these directions contain, so a regression of the shots, in all of them, is joined
(decision 52). All of this is ours, not the paper's.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from engine.arrays import Floats, Integers
from engine.everyday.blocks import sums_by_class, unit_rows
from engine.everyday.collection_stage.calibration import agreed
from engine.everyday.collection_stage.neighbours import Whitening
from engine.everyday.prototypical.classification import softmax

WITHIN = 0.45
"""Variance within classes as a share of the total, by which the mean is shrunk (decision 52)."""
MOST_WITHIN = 0.7
"""The same where classes vary most: only a larger difference counts as imbalance."""
SAME_SOURCE = (0.5, 0.7)
"""Familiarity of shots at which a difference of means begins, and ends, to count as class sizes."""
TAUGHT = (0.5, 0.9)
"""Share of the unlabelled images whose class has shots up to which a difference is one of classes
without, and from which it is not."""
BALANCED = 0.005  # squared difference, in variances of all images, of balanced classes
HALF = 0.015  # how much more makes an imbalance of one half (decision 52)
EFFECTIVE = (0.08, 0.48)
"""Share of the classes that the estimated sizes leave without effect: up to the first classes count
as balanced, from the second on their imbalance is 1 (decision 52)."""
YIELDING = 0.7
"""Share of the stage's log chances that is left out at an imbalance of 1 (decision 52)."""
REGRESSION = 2.0  # power of the regression's chances at an imbalance of 1 (decision 52)
EXTRA_SHOTS = 0.5  # added to those of a class when directions are counted (decision 52)
MOST_DIRECTIONS = 0.5
"""Share of all directions above which all are: leaving the rest out changes nothing more."""
UNJOINED = 3.0
"""Shots of a class up to which no regression is joined: it adds nothing (decision 52)."""
JOINED = 3.0
"""The regression's weight relative to the stage's where there are many shots of few classes; less
by the share that `UNJOINED` is of a class's shots, and the more directions are compared (decision
111)."""
DOUBTFUL = 0.25
"""Imbalance, times the doubt by a regression, from which all directions are used (decision 52)."""
LEAST = np.float32(1e-6)  # smallest chance of which a logarithm is taken


@dataclass(frozen=True)
class ClassBalance:
    """The class-balanced mean, the imbalance, and the directions in which images are compared."""

    # (d,) float32, from the mean embedding of the collection to the class-balanced one
    offset: Floats
    imbalance: float  # 0 for classes of about one size, at most 1
    certainty: float  # how far shots can tell class sizes at all, in [0, 1]
    # (d, r) of the whitening: the last r of its directions, that tell images apart most
    matrix: Floats
    # Share of the log chances that a regression of the shots has, whatever the imbalance
    joined: float = 0.0

    @property
    def is_moved(self) -> bool:
        """Whether the two means differ."""
        return bool(self.offset.any())

    @property
    def compared(self) -> float:
        """Share of the whitened directions that images are compared in."""
        width, directions = self.matrix.shape
        return directions / width

    def is_doubtful(self, agreement: float) -> bool:
        """Whether the directions in which images differ most are hardly those of classes.

        Args:
            agreement: of the stage with a regression of the shots, see `calibration.agreed`.
        """
        return self.imbalance * (1 - agreed(agreement)) > DOUBTFUL

    @cached_property
    def shift(self) -> Floats:
        """(r,) float32 the offset in whitened coordinates, before lengths are made 1."""
        return (self.offset @ self.matrix).astype(np.float32)

    def scales(self, along: Floats, scales: Floats) -> Floats:
        """One over the lengths (n,) of whitened embeddings from the class-balanced mean.

        Args:
            along: (n,) products of the whitened embeddings, before their lengths are made 1, with
                the shift.
            scales: (n,) one over the lengths from the collection's mean; 0 for images without an
                embedding.
        """
        squares = np.divide(1, scales * scales, out=np.zeros_like(scales), where=scales > 0)
        squares += self.shift @ self.shift - 2 * along
        lengths = np.sqrt(np.maximum(squares, np.float32(1e-12)))
        return np.where(scales > 0, 1 / lengths, 0).astype(np.float32)

    def around(self, vectors: Floats, scales: Floats) -> Floats:
        """Unit vectors (n, r) from the class-balanced mean, from vectors (n, d) and `scales`."""
        if not (self.is_moved or self.compared < 1):
            return vectors
        lengths = np.divide(1, scales, out=np.zeros_like(scales), where=scales > 0)[:, None]
        return unit_rows(vectors[:, -self.matrix.shape[1] :] * lengths - self.shift)

    def blend(self, chances: Floats, regression: Floats) -> Floats:
        """Chances (n, c) of the stage, joined with those of a regression of the shots.

        A product of powers of both: where they disagree the outcome is less sure.
        """
        own, other = self.powers
        logits = own * np.log(np.maximum(chances, LEAST)) + other * np.log(
            np.maximum(regression, LEAST)
        )
        return softmax(logits.astype(np.float32))

    def with_sizes(self, sizes: Floats | None) -> "ClassBalance":
        """Raise the imbalance to that of estimated class sizes (c,); None where unknown.

        By the effective number of classes, the exponential of the entropy of their shares.
        """
        if sizes is None or sizes.sum() <= 0:
            return self
        shares = np.maximum(sizes, LEAST).astype(np.float64) / max(float(sizes.sum()), 1e-12)
        effective = float(np.exp(-(shares * np.log(shares)).sum())) / len(shares)
        imbalance = self.certainty * _ramp(1 - effective, *EFFECTIVE)
        return replace(self, imbalance=max(self.imbalance, imbalance))

    @property
    def powers(self) -> tuple[float, float]:
        """Powers of the chances of the stage and of those of the regression."""
        own, other = 1 - YIELDING * self.imbalance, REGRESSION * self.imbalance
        return own * (1 - self.joined), other * (1 - self.joined) + self.joined

    @property
    def has_regression(self) -> bool:
        """Whether chances depend on a regression of the shots."""
        return self.powers[1] > 0

    def whitening(self, of_collection: Whitening) -> Whitening:
        """The whitening around the class-balanced mean, into the directions that are compared."""
        return Whitening((of_collection.mean + self.offset).astype(np.float32), self.matrix)


def class_balance_of(
    whitening: Whitening,
    shots: Floats,
    classes: Integers,
    *,
    familiarity: float,
    taught: float,
    in_all_directions: bool = False,
) -> ClassBalance:
    """Estimate the class-balanced mean from labelled images.

    Args:
        whitening: of the collection, whose embeddings have length 1.
        shots: (n, d) embeddings.
        classes: (n,) int64, their classes.
        familiarity: of the shots with the collection, in (0, 1]: those that were taken elsewhere
            tell two places apart, not the sizes of classes.
        taught: expected share of the unlabelled images whose class has shots: the others are
            elsewhere, whatever the sizes.
        in_all_directions: compare images in all directions, however few the shots.
    """
    offset, imbalance = np.zeros_like(whitening.mean), 0.0
    known, place, counts = np.unique(classes, return_inverse=True, return_counts=True)
    certainty = _ramp(familiarity, *SAME_SOURCE) * _ramp(taught, *TAUGHT)
    if len(known) > 1:
        sums = sums_by_class(shots, place.reshape(-1), len(known))
        difference = (sums / counts[:, None]).mean(axis=0) - whitening.mean
        variance = max(1e-12, 1 - float(whitening.mean @ whitening.mean))
        square = float(difference @ difference) / variance
        chance = float((1 / counts).sum()) / len(known) ** 2
        share = certainty * max(0.0, 1 - WITHIN * chance / max(square, 1e-12))
        offset = (share * difference).astype(np.float32)
        beyond = certainty * max(0.0, square - MOST_WITHIN * chance - BALANCED)
        imbalance = beyond / (beyond + HALF)
    width = whitening.matrix.shape[1]
    compared = width if in_all_directions else directions_for(counts, width)
    matrix = np.ascontiguousarray(whitening.matrix[:, -compared:])
    return ClassBalance(
        offset, imbalance, certainty, matrix, regression_share(counts, compared / width)
    )


def directions_for(counts: Integers, width: int) -> int:
    """Number of whitened directions to compare images in, by the shots (c,) of each class."""
    if len(counts) < 2:  # noqa: PLR2004 (one class has nothing to differ from)
        return width
    found = round((_usual(counts) + EXTRA_SHOTS) * (len(counts) - 1))
    return found if found <= MOST_DIRECTIONS * width else width


def regression_share(counts: Integers, compared: float) -> float:
    """The share of log chances that a regression of the shots has, by the shots (c,) of each class.

    Args:
        compared: share of the directions that images are compared in.
    """
    left = max(0.0, 1 - compared / MOST_DIRECTIONS)
    weight = JOINED * left**2 * max(0.0, 1 - UNJOINED / _usual(counts)) if len(counts) else 0.0
    return weight / (1 + weight)


def _usual(counts: Integers) -> float:
    """Shots of a class, geometric mean."""
    return float(np.exp(np.log(counts).mean()))


def _ramp(value: float, low: float, high: float) -> float:
    """0 up to the low, 1 from the high."""
    return min(1.0, max(0.0, (value - low) / (high - low)))
