"""Two models or settings on the same images: paired figures, McNemar's test, and an interval of the difference."""

from math import exp, lgamma, log

import numpy as np

from engine.collection.state import NO_CLASS
from engine.everyday.scores import gain_interval
from engine.report.accuracy import accuracy_of, calibration_of, counted
from engine.report.figures import ComparedSide, ModelComparison, Proportion
from engine.report.judged import RIGHT, UNDECIDED, Judged


def compared(first: Judged, second: Judged, names: tuple[str, str]) -> ModelComparison:
    """Compare the best leaves on the images that both have a truth for and that can be judged."""
    _, places, others = np.intersect1d(
        first.image_ids, second.image_ids, assume_unique=True, return_indices=True
    )
    is_judged = (
        first.is_known[places]
        & (first.top1[places] != UNDECIDED)
        & (second.top1[others] != UNDECIDED)
    )
    one, other = first.at(places[is_judged]), second.at(others[is_judged])
    a, b = one.top1 == RIGHT, other.top1 == RIGHT
    lost, gained = int((a & ~b).sum()), int((~a & b).sum())
    return ModelComparison(
        images=len(a),
        first=_side(names[0], one),
        second=_side(names[1], other),
        both=int((a & b).sum()),
        only_first=lost,
        only_second=gained,
        neither=int((~a & ~b).sum()),
        p_value=mcnemar(lost, gained),
        gain=gain_interval(len(a), gained, lost),
        gained_ids=tuple(one.image_ids[~a & b].tolist()),
        lost_ids=tuple(one.image_ids[a & ~b].tolist()),
    )


def _side(name: str, judged: Judged) -> ComparedSide:
    accuracy, named = accuracy_of(judged), judged.safe != NO_CLASS
    return ComparedSide(
        name, accuracy.top1, accuracy.levels, calibration_of(judged).error,
        Proportion(int(named.sum()), len(named)), counted(judged.safe_right, named),
    )  # fmt: skip


def mcnemar(only_first: int, only_second: int) -> float:
    """Probability of a difference at least as large if both were equally good: the exact test, two-sided.

    Source: McNemar, Psychometrika, 1947; the images that only one has right are as tosses of a fair coin.
    """
    tosses, fewer = only_first + only_second, min(only_first, only_second)
    if not tosses:
        return 1.0
    whole = lgamma(tosses + 1) - tosses * log(2)
    tail = sum(
        exp(whole - lgamma(heads + 1) - lgamma(tosses - heads + 1)) for heads in range(fewer + 1)
    )
    return min(1.0, 2 * tail)
