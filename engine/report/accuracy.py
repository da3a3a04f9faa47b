"""Accuracy, calibration, and coverage with precision by the confidence needed."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.collection.state import NO_CLASS
from engine.evaluation.policy_curve import BARS
from engine.everyday.back_off import DEFAULT_BAR, BackOff
from engine.everyday.scores import calibration_error
from engine.report.figures import (
    CALIBRATION_BINS,
    Accuracy,
    Bin,
    CalibrationFigures,
    Coverage,
    CoveragePoint,
    Proportion,
)
from engine.report.judged import RIGHT, UNDECIDED, WRONG, Judged, Verdicts

_NO_LEVEL: Final = -1
Flags = NDArray[np.bool_]


def counted(verdicts: Verdicts, among: Flags | None = None) -> Proportion:
    """How many of those that can be judged are right."""
    wanted = verdicts if among is None else verdicts[among]
    return Proportion(int((wanted == RIGHT).sum()), int((wanted != UNDECIDED).sum()))


def accuracy_of(judged: Judged) -> Accuracy:
    """Accuracy of the best leaf and at every level, over images whose truth is a class."""
    known = judged.is_known
    levels = tuple(
        counted(judged.levels[:, level], known) for level in range(judged.levels.shape[1])
    )
    top1, top5 = counted(judged.top1, known), counted(judged.in_top, known)
    return Accuracy(len(judged.image_ids), top1, top5, levels, int(judged.is_unknown.sum()))


def calibration_of(judged: Judged) -> CalibrationFigures:
    """Score and accuracy of the best leaf, of images whose truth is a class and decides it."""
    is_judged = judged.is_known & (judged.top1 != UNDECIDED)
    score, is_right = judged.score[is_judged].astype(np.float64), judged.top1[is_judged] == RIGHT
    place = np.minimum((score * CALIBRATION_BINS).astype(np.int64), CALIBRATION_BINS - 1)
    bins = []
    for number in np.unique(place).tolist():
        here = place == number
        low, high = number / CALIBRATION_BINS, (number + 1) / CALIBRATION_BINS
        bins.append(
            Bin(
                low,
                high,
                float(score[here].mean()),
                Proportion(int(is_right[here].sum()), int(here.sum())),
            )
        )
    return CalibrationFigures(calibration_error(judged.score[is_judged], is_right), tuple(bins))


def coverage_of(judged: Judged, rules: BackOff) -> Coverage:
    """What each confidence would do if all classes needed it, and what those in use do."""
    named = judged.safe != NO_CLASS
    bars = np.concatenate((rules.candidate_bars, rules.coarse_bars))
    usable = (
        bars[np.isfinite(bars)]
        if np.isfinite(bars).any()
        else np.array([DEFAULT_BAR], dtype=np.float32)
    )
    values, counts = np.unique(usable, return_counts=True)
    commonest = round(float(values[counts.argmax()]), 4)
    in_use = CoveragePoint(commonest, int(named.sum()), counted(judged.safe_right, named))
    at_leaf = int((judged.safe == judged.best).sum())
    points = tuple(_point(judged, bar) for bar in BARS)
    lowest, highest = round(float(values[0]), 4), round(float(values[-1]), 4)
    return Coverage(len(named), points, in_use, (lowest, highest), at_leaf)


def _point(judged: Judged, bar: float) -> CoveragePoint:
    """As `BackOff.decide` names images where this bar is that of every class."""
    level = _deepest(judged, bar)
    is_leaf = judged.leaf_may_be_named & (judged.score >= np.float32(bar)) & ~judged.is_unknown
    is_coarse = (level != _NO_LEVEL) & ~is_leaf & ~judged.is_unknown
    verdict = np.full(len(level), WRONG, dtype=np.int8)
    rows = np.flatnonzero(is_coarse)
    verdict[rows] = judged.coarse[rows, level[rows]]
    verdict[is_leaf] = judged.top1[is_leaf]
    named = is_leaf | is_coarse
    return CoveragePoint(bar, int(named.sum()), counted(verdict, named))


def _deepest(judged: Judged, bar: float) -> NDArray[np.int64]:
    """The deepest level (n,) whose most probable class above the leaves passes the bar."""
    passes = judged.coarse_mass >= np.float32(bar)
    count = passes.shape[1]
    if not count:
        return np.full(len(passes), _NO_LEVEL, dtype=np.int64)
    deepest = count - 1 - passes[:, ::-1].argmax(axis=1)
    return np.where(passes.any(axis=1), deepest, _NO_LEVEL)
