"""Accuracy, calibration, coverage and precision by confidence, and comparison of two models."""

from math import exp, lgamma, log

import numpy as np

from engine.arrays import Flags, Integers
from engine.collection.state import NO_CLASS
from engine.evaluation.judged import RIGHT, UNDECIDED, WRONG, Judged, Verdicts
from engine.evaluation.policy_curve import BARS
from engine.everyday.back_off import DEFAULT_BAR, BackOff
from engine.everyday.scores import calibration_error, gain_interval
from engine.report.figures import (
    CALIBRATION_BINS,
    Accuracy,
    Bin,
    CalibrationFigures,
    ComparedSide,
    Coverage,
    CoveragePoint,
    ModelComparison,
    Proportion,
)

_NO_LEVEL = -1


def _proportion(verdicts: Verdicts, among: Flags) -> Proportion:
    """Correct ones among those that can be decided."""
    chosen = verdicts[among]
    return Proportion(int((chosen == RIGHT).sum()), int((chosen != UNDECIDED).sum()))


def accuracy_of(judged: Judged) -> Accuracy:
    """Accuracy of the best leaf and at each level, over images whose ground truth is a class."""
    known = judged.is_known
    levels = tuple(_proportion(level, known) for level in judged.levels.T)
    top1, top5 = _proportion(judged.top1, known), _proportion(judged.in_top, known)
    return Accuracy(len(judged.image_ids), top1, top5, levels, int(judged.is_unknown.sum()))


def calibration_of(judged: Judged) -> CalibrationFigures:
    """Score and accuracy of the best leaf, over images whose ground truth decides it."""
    is_judged = judged.is_known & (judged.top1 != UNDECIDED)
    score, is_right = judged.score[is_judged].astype(np.float64), judged.top1[is_judged] == RIGHT
    place = np.minimum((score * CALIBRATION_BINS).astype(np.int64), CALIBRATION_BINS - 1)
    bins = []
    for number in np.unique(place).tolist():
        here = place == number
        low, high = number / CALIBRATION_BINS, (number + 1) / CALIBRATION_BINS
        right = Proportion(int(is_right[here].sum()), int(here.sum()))
        bins.append(Bin(low, high, float(score[here].mean()), right))
    return CalibrationFigures(calibration_error(judged.score[is_judged], is_right), tuple(bins))


def coverage_of(judged: Judged, rules: BackOff) -> Coverage:
    """Coverage and precision with the thresholds in use, and by one threshold for all classes."""
    named = judged.safe != NO_CLASS
    bars = np.concatenate((rules.candidate_bars, rules.coarse_bars))
    usable = bars[np.isfinite(bars)]
    if not usable.size:
        usable = np.array([DEFAULT_BAR], dtype=np.float32)
    values, counts = np.unique(usable, return_counts=True)
    lowest, most_frequent, highest = (
        round(float(value), 4) for value in (values[0], values[counts.argmax()], values[-1])
    )
    in_use = CoveragePoint(most_frequent, int(named.sum()), _proportion(judged.safe_right, named))
    at_leaf = int((judged.safe == judged.best).sum())
    points = tuple(_point(judged, bar) for bar in BARS)
    return Coverage(len(named), points, in_use, (lowest, highest), at_leaf)


def _point(judged: Judged, bar: float) -> CoveragePoint:
    """Name the images as `BackOff.decide` does with this threshold for every class."""
    level = _deepest_level(judged, bar)
    is_leaf = judged.leaf_may_be_named & (judged.score >= np.float32(bar)) & ~judged.is_unknown
    is_coarse = (level != _NO_LEVEL) & ~is_leaf & ~judged.is_unknown
    verdict = np.full(len(level), WRONG, dtype=np.int8)
    rows = np.flatnonzero(is_coarse)
    verdict[rows] = judged.coarse[rows, level[rows]]
    verdict[is_leaf] = judged.top1[is_leaf]
    named = is_leaf | is_coarse
    return CoveragePoint(bar, int(named.sum()), _proportion(verdict, named))


def _deepest_level(judged: Judged, bar: float) -> Integers:
    """The deepest level (n,) whose most probable class above the leaves passes the threshold."""
    passes = judged.coarse_mass >= np.float32(bar)
    count = passes.shape[1]
    if not count:
        return np.full(len(passes), _NO_LEVEL, dtype=np.int64)
    deepest = count - 1 - passes[:, ::-1].argmax(axis=1)
    return np.where(passes.any(axis=1), deepest, _NO_LEVEL)


def compare(first: Judged, second: Judged, names: tuple[str, str]) -> ModelComparison:
    """Compare the best leaves on the images that both have a decidable ground truth for."""
    _, places, others = np.intersect1d(
        first.image_ids, second.image_ids, assume_unique=True, return_indices=True
    )
    is_judged = (
        first.is_known[places]
        & (first.top1[places] != UNDECIDED)
        & (second.top1[others] != UNDECIDED)
    )
    first, second = first.at(places[is_judged]), second.at(others[is_judged])
    a, b = first.top1 == RIGHT, second.top1 == RIGHT
    lost, gained = int((a & ~b).sum()), int((~a & b).sum())
    return ModelComparison(
        images=len(a),
        first=_side(names[0], first),
        second=_side(names[1], second),
        both=int((a & b).sum()),
        only_first=lost,
        only_second=gained,
        neither=int((~a & ~b).sum()),
        p_value=mcnemar(lost, gained),
        gain=gain_interval(len(a), gained, lost),
    )


def _side(name: str, judged: Judged) -> ComparedSide:
    accuracy, named = accuracy_of(judged), judged.safe != NO_CLASS
    return ComparedSide(
        name,
        accuracy.top1,
        accuracy.levels,
        calibration_of(judged).error,
        Proportion(int(named.sum()), len(named)),
        _proportion(judged.safe_right, named),
    )


def mcnemar(only_first: int, only_second: int) -> float:
    """Two-sided p-value of McNemar's exact test.

    Source: McNemar, Psychometrika, 1947. Under the null hypothesis, which of the two is correct is
    a toss of a fair coin for each image that only one of them predicts correctly.
    """
    tosses, fewer = only_first + only_second, min(only_first, only_second)
    if not tosses:
        return 1.0
    whole = lgamma(tosses + 1) - tosses * log(2)
    tail = sum(
        exp(whole - lgamma(heads + 1) - lgamma(tosses - heads + 1)) for heads in range(fewer + 1)
    )
    return min(1.0, 2 * tail)
