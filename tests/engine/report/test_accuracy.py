"""Figures computed by hand.

The coverage curve equals that of the back-off.
"""

import numpy as np
import pytest

from engine.collection.state import NO_CLASS, UNKNOWN
from engine.evaluation.judged import Judged, judge_held_out, judge_truth
from engine.evaluation.policy_curve import BARS
from engine.everyday.back_off import Policy, back_off
from engine.everyday.scores import HeldOutShots
from engine.graph.category_graph import CategoryGraph
from engine.report.accuracy import accuracy_of, calibration_of, compare, coverage_of, mcnemar
from engine.report.figures import Proportion
from tests.support.classified import made_up
from tests.support.reports import ANIMAL, AUK, BIRD, COAST, DOG, GULL, ROCK, zoo

LEAVES = (DOG, GULL, AUK, ROCK)
ROWS = (
    # Dog, Gull, Auk, Rock; truth
    ((0.05, 0.62, 0.28, 0.05), GULL),  # right; Bird is safe (0.9)
    ((0.85, 0.05, 0.05, 0.05), DOG),  # right and safe
    ((0.10, 0.45, 0.40, 0.05), AUK),  # wrong, Bird right and safe
    ((0.85, 0.05, 0.05, 0.05), ROCK),  # wrong, and safe
    (
        (0.34, 0.24, 0.24, 0.18),
        GULL,
    ),  # wrong, Bird right at level 1; Animal (0.82) is right and safe
    ((0.05, 0.60, 0.30, 0.05), BIRD),  # a coarse truth: whether Gull is right is unknown
    ((0.02, 0.94, 0.02, 0.02), NO_CLASS),  # none of the classes, predicted unknown
)


def judged_rows(graph: CategoryGraph, rows: list[int] | None = None) -> Judged:
    """Judge all or some rows."""
    paths = [f"{number}.jpg" for number in range(len(ROWS))]
    classified = made_up(graph, LEAVES, [chances for chances, _ in ROWS], paths=paths, far=[6])
    chosen = np.array(range(len(ROWS)) if rows is None else rows)
    return judge_truth(
        graph, classified, chosen, np.array([ROWS[row][1] for row in chosen.tolist()])
    )


def test_accuracy_at_every_level() -> None:
    """A coarse truth counts down to its level; an image of no class does not count.

    A leaf counts at deeper levels.
    """
    accuracy = accuracy_of(judged_rows(zoo()))
    assert accuracy.images == 7
    assert accuracy.top1 == Proportion(2, 5)
    assert accuracy.top5 == Proportion(5, 5)  # there are four leaves only
    # level 0: Animal, Rock, Coast (0.62 of the first row); level 1: Bird, Dog, Rock; level 2: all
    assert accuracy.levels == (Proportion(5, 6), Proportion(5, 6), Proportion(2, 5))
    assert accuracy.unknown == 1


def test_calibration_by_bins() -> None:
    """Mean score and accuracy of five judged rows."""
    calibration = calibration_of(judged_rows(zoo()))
    found = [
        (round(each.low, 1), each.right.hits, each.right.count, round(each.score, 2))
        for each in calibration.bins
    ]
    assert found == [(0.3, 0, 1, 0.34), (0.4, 0, 1, 0.45), (0.6, 1, 1, 0.62), (0.8, 1, 2, 0.85)]
    # bins of 15: |0.34 - 0| + |0.45 - 0| + |0.62 - 1| + |2 * 0.85 - 1|, over five
    assert calibration.error == pytest.approx((0.34 + 0.45 + 0.38 + 0.7) / 5, abs=1e-6)


def test_coverage_in_use() -> None:
    """With the project's thresholds six images get a class, one of them a wrong one."""
    graph = zoo()
    classified = made_up(graph, LEAVES, [chances for chances, _ in ROWS], paths=["a"] * 7, far=[6])
    coverage = coverage_of(judged_rows(graph), classified.fitted.back_off)
    assert coverage.in_use.named == 6
    assert coverage.in_use.right == Proportion(5, 6)
    assert (coverage.bars, coverage.in_use.bar, coverage.at_leaf) == ((0.8, 0.8), 0.8, 2)


def test_curve_is_that_of_the_back_off() -> None:
    """At every threshold, coverage and accuracy equal those of `BackOff.decide`."""
    graph, generator = zoo(), np.random.default_rng(0)
    chances = generator.dirichlet(np.full(4, 0.4), 300)
    answers = generator.choice([*LEAVES, BIRD, UNKNOWN], 300)
    classified = made_up(graph, LEAVES, chances.tolist(), paths=["x"] * 300)
    judged = judge_truth(graph, classified, np.arange(300), answers)
    curve = coverage_of(judged, classified.fitted.back_off).points
    assert [point.bar for point in curve] == list(BARS)
    probabilities = classified.probabilities(np.arange(300))
    best, score = probabilities.argmax(axis=1), probabilities.max(axis=1)
    for point in curve[::7]:
        rules = back_off(
            graph, np.array(LEAVES), {root: Policy(bar=point.bar) for root in (ANIMAL, ROCK, COAST)}
        )
        safe, _ = rules.decide(best, score, probabilities @ rules.roll_up)
        named = safe != NO_CLASS
        right = sum(
            s in graph.ancestors(a) | {a}
            for s, a in zip(safe[named].tolist(), answers[named].tolist(), strict=True)
            if a != UNKNOWN
        )
        assert (point.named, point.right.hits) == (int(named.sum()), right)


def test_held_out_labels_are_judged() -> None:
    """Each label counts once."""
    graph = zoo()
    classified = made_up(graph, LEAVES, [ROWS[0][0]] * 3, paths=["a", "b", "c"])
    chances = np.array([ROWS[0][0]] * 3, dtype=np.float32)
    held_out = HeldOutShots(np.array([1, 2, 3]), np.array([GULL, GULL, AUK]), chances)
    judged = judge_held_out(graph, classified.fitted, held_out)
    assert judged.image_ids.tolist() == [1, 2, 3]
    assert accuracy_of(judged).top1 == Proportion(2, 3)


def test_nothing_to_judge() -> None:
    """Without images all figures are NaN or empty."""
    judged = judged_rows(zoo(), [])
    assert accuracy_of(judged).top1 == Proportion(0, 0)
    assert np.isnan(calibration_of(judged).error)


def test_mcnemar_by_hand() -> None:
    """One against five: 2 (1 + 6) / 64. Equal: 1. Thousands: almost 0."""
    assert mcnemar(1, 5) == pytest.approx(14 / 64)
    assert mcnemar(0, 0) == mcnemar(3, 3) == 1.0
    assert mcnemar(0, 4) == pytest.approx(2 / 16)
    assert 0 <= mcnemar(2_000, 4_000) < 1e-100


def test_two_models_on_the_images_of_both() -> None:
    """Only shared images count; which model alone is right, by image."""
    graph = zoo()
    first = judged_rows(graph, [0, 1, 2, 3])
    second = judged_rows(graph, [0, 1, 2, 4])
    flipped = Judged(**{**vars(second), "top1": 1 - second.top1})
    comparison = compare(first, flipped, ("a", "b"))
    assert (comparison.images, comparison.both, comparison.neither) == (3, 0, 0)
    assert (comparison.only_first, comparison.only_second) == (2, 1)
    assert comparison.p_value == 1.0
    assert comparison.gain[0] < -1 / 3 < comparison.gain[1]
