"""How far a model may be trusted that has not seen every class: photos of unseen classes look as sure as any.

Nothing in an image's scores tells it. But if the classes without a label have as many images as the others, it is known
how many of the unlabelled images are theirs, and each group that a person answers shows whether it is so. In the same
way answers about a class show how far the model's probabilities hold for it (decision 102).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from engine.everyday.blocks import Floats

PRIOR_ANSWERS: Final = 4.0  # what the count of classes weighs against answers. Chosen: as many groups as those.
PRIOR_ERRORS: Final = 1.0  # what a model's own probabilities weigh against answers about a class, in errors
FADING_ODDS: Final = 0.99  # power of a class's error odds with each further answer: the model changes meanwhile
FADING: Final = 0.9  # weight of an answer in that of the next one: what is unseen becomes less


@dataclass(frozen=True)
class ClassesSeen:
    """Counts of a project.

    Attributes:
        seen: classes with a label.
        unseen: deepest classes of the graph without one.
        labelled, unlabelled: images.
    """

    seen: int
    unseen: int
    labelled: int
    unlabelled: int

    @property
    def share(self) -> float:
        """Share in [0, 1] of the unlabelled images that are of unseen classes, if these have as many images each."""
        classes, images = self.seen + self.unseen, self.labelled + self.unlabelled
        if not classes or not self.unlabelled:
            return 0.0
        return min(1.0, self.unseen / classes * images / self.unlabelled)


def unseen_share(classes: ClassesSeen, misses: Sequence[float]) -> float:
    """Share of the unlabelled images that are of classes without a label.

    Args:
        classes: counts; no more than they allow.
        misses: of the groups answered so far, in order, the share of images that were of another class than the one
            proposed, beyond what was expected from their probabilities.
    """
    weights = FADING ** np.arange(len(misses))[::-1]
    seen = PRIOR_ANSWERS * classes.share + float((weights * np.array(misses)).sum())
    return min(classes.share, seen / (PRIOR_ANSWERS + float(weights.sum())))


def miss_of(images: int, expected: float, wrong: int) -> float:
    """What an answer says of unseen classes: errors in [0, 1] of a group, beyond those its probabilities expect."""
    return min(1.0, max(0.0, wrong - expected) / max(images, 1))


def corrected_odds(odds: float, expected: float, found: float) -> float:
    """Odds of errors as a multiple of the model's, after one more answer (the mean of a gamma distribution).

    Args:
        odds: before the answer.
        expected: errors by these odds.
        found: true errors.
    """
    return odds * (PRIOR_ERRORS + found) / (PRIOR_ERRORS + expected)


def with_error_odds(probability: Floats, odds: Floats) -> Floats:
    """Probabilities (n,) float32 of being right, whose odds of being wrong are so many times (n,) as large."""
    right = np.clip(probability, 0, 1)
    return (right / np.maximum(right + odds * (1 - right), np.float32(1e-9))).astype(np.float32)


def trust_in(similarity: Floats, unseen: float) -> Floats:
    """Probability (n,) that an image's class has a label; their mean is 1 - `unseen`.

    Args:
        similarity: (n,) to the labelled images, as in `Scores`; those least similar are most likely of unseen classes.
        unseen: see `unseen_share`.
    """
    count = len(similarity)
    if count == 0 or np.isnan(similarity).all():
        return np.full(count, 1 - unseen, dtype=np.float32)
    rank = np.empty(count, dtype=np.float32)
    rank[np.argsort(np.nan_to_num(similarity), kind="stable")] = (np.arange(count) + 0.5) / count
    doubt = 2 * unseen * (1 - rank) if unseen <= 1 / 2 else 1 - 2 * (1 - unseen) * rank
    return (1 - doubt).astype(np.float32)
