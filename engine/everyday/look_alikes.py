"""Groups of look-alikes as data: what is known of images, and what comes together."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.arrays import Flags, Floats, Integers
from engine.graph.codes import NO_CLASS

SCREEN = 40
"""Images of a group, at most. Chosen: what a window shows at once at a size that can be judged."""
FEW_SHOTS = 3
"""A class with fewer shots is held back: how well its prototype represents it is unknown."""
SURE = 0.8  # probability of the best class from which images come together by it alone


@dataclass(frozen=True)
class Opinions:
    """What a model makes of the n images of a basis.

    Attributes:
        best: (n,) int64, class id of the most probable leaf, or `NO_CLASS`.
        probability: (n,) float32, of that leaf.
        shots: labelled images of each class.
        branch: (n,) int64, the coarse class that a person gave already and whose finer ones are
            asked, or `NO_CLASS`.
        passed: (n,) int64, how often the image's group was passed over.
    """

    best: Integers
    probability: Floats
    shots: Mapping[int, int]
    branch: Integers
    passed: Integers

    @staticmethod
    def none(count: int) -> "Opinions":
        """Before there is a model."""
        nothing = np.full(count, NO_CLASS, dtype=np.int64)
        return Opinions(
            nothing, np.zeros(count, dtype=np.float32), {}, nothing, np.zeros(count, dtype=np.int64)
        )

    def at(self, rows: Integers) -> "Opinions":
        """Those of some images (k,)."""
        return Opinions(
            self.best[rows],
            self.probability[rows],
            self.shots,
            self.branch[rows],
            self.passed[rows],
        )

    @cached_property
    def is_sure(self) -> Flags:
        """(n,) bool, whether an image comes with others of its class, not with look-alikes only."""
        return (self.best != NO_CLASS) & ((self.probability >= SURE) | (self.branch != NO_CLASS))

    @cached_property
    def held_back(self) -> Integers:
        """Class ids that are proposed and have few shots."""
        proposed = np.unique(self.best[self.best != NO_CLASS])
        few = [each for each in proposed.tolist() if self.shots.get(each, 0) < FEW_SHOTS]
        return np.array(few, dtype=np.int64)


@dataclass(frozen=True)
class LookAlikes:
    """One group.

    Attributes:
        rows: (k,) int64 of the basis, odd ones first.
        odd: how many of them are odd.
        class_id: the class that most of them are probably of, or `NO_CLASS`.
        branch: the coarse class that all have already, or `NO_CLASS`.
        expected_errors: images of another class, as far as is known from the most probable class of
            each.
        settles: images that an answer is expected to decide, these included.
        is_sure: whether the images are together because of the class, and not only of their looks.
        is_held_back: whether the class has so few shots that only a few of its images come at a
            time.
    """

    rows: Integers
    odd: int
    class_id: int
    branch: int
    expected_errors: float
    settles: int
    is_sure: bool
    is_held_back: bool
