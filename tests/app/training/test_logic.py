"""Plans, curves and figures of training, without a window."""

import pytest

from app.training.logic import (
    ACCURACY_SPAN,
    DEFAULTS,
    SIDES,
    USUAL_SIDE,
    Curve,
    Curves,
    Depth,
    Figures,
    Labels,
    Plan,
    StartingPoint,
    tuning_s,
)
from engine.training.curve import TrainingDuration, TrainingPoint


def test_a_plan_names_only_what_its_depth_has() -> None:
    """Propagation has no starting network."""
    assert Plan(Depth.PROPAGATION, 300, StartingPoint.CONV4, 84).settings() == {"iterations": 300}
    assert Plan(Depth.BACKBONE, 20, StartingPoint.CONV4, 84).settings() == {
        "iterations": 20,
        "start": "conv4",
        "side": 84,
    }


def test_the_usual_side_can_be_chosen() -> None:
    """Conv4 offers its default input size; a backbone in use keeps its own."""
    assert USUAL_SIDE in SIDES
    assert DEFAULTS[Depth.BACKBONE].settings() == {"iterations": 200, "start": "current"}


def test_more_work_takes_longer() -> None:
    """Time is proportional to the iterations, plus a constant."""
    assert tuning_s(Plan(Depth.PROPAGATION, 2000)) > tuning_s(DEFAULTS[Depth.PROPAGATION])
    assert TrainingDuration(iteration_s=0.5, others_s=20.0).seconds(200) == 120.0


@pytest.mark.parametrize(
    ("counts", "found"),
    [([], Labels(0, 0)), ([0, 3, 1], Labels(4, 1)), ([2, 0, 2], Labels(4, 2, will_help=True))],
)
def test_labels_are_counted(counts: list[int], found: Labels) -> None:
    """Images with a class, and classes with at least two images."""
    assert Labels.of_counts(counts) == found
    assert found.are_enough == (found.classes >= 2)


def test_a_stopped_training_has_its_plan() -> None:
    """The plan is restored from the settings of the worker's request."""
    for plan in (Plan(Depth.BACKBONE, 40), Plan(Depth.BACKBONE, 20, StartingPoint.CONV4, 84)):
        assert Plan.of_settings(plan.settings()) == plan


def test_a_long_curve_melts_neighbours_and_keeps_its_shape() -> None:
    """The number of points is bounded; ends and mean are preserved."""
    curve = Curve(points_kept=8)
    for iteration in range(1000):
        curve.add(iteration, 2.0 * iteration)
    assert 4 <= len(curve.values) <= 8
    assert curve.iterations == sorted(curve.iterations)
    assert [
        value / place for place, value in zip(curve.iterations, curve.values, strict=True)
    ] == pytest.approx([2.0] * len(curve.values))
    assert curve.iterations[0] < 250
    assert curve.iterations[-1] > 750


def test_a_short_curve_is_exact() -> None:
    """Points are merged only beyond the bound."""
    curve = Curve(points_kept=8)
    for iteration, value in ((0, 0.5), (10, 0.25), (20, 0.75)):
        curve.add(iteration, value)
    assert (curve.iterations, curve.values) == ([0, 10, 20], [0.5, 0.25, 0.75])


def test_curves_take_only_what_a_point_has() -> None:
    """A point without validation adds only to the loss."""
    curves = Curves()
    curves.add(TrainingPoint(0, None, 1.5, 0.4))
    curves.add(TrainingPoint(1, 1.2))
    assert (curves.loss.values, curves.validation_loss.values, curves.accuracy.values) == (
        [1.2],
        [1.5],
        [0.4],
    )


@pytest.mark.parametrize(
    "values", [[], [0.5], [0.0], [1.0], [0.61, 0.62], [0.1, 0.9], [0.98, 0.995]]
)
def test_the_accuracy_range_holds_the_curve(values: list[float]) -> None:
    """All of it within 0..1, and at least of a minimum height, so that noise looks small."""
    curves = Curves()
    for place, value in enumerate(values):
        curves.add(TrainingPoint(place, accuracy=value))
    low, high = curves.accuracy_range()
    assert 0.0 <= low <= min(values, default=0.0)
    assert max(values, default=1.0) <= high <= 1.0
    assert high - low >= ACCURACY_SPAN


def test_the_loss_range_holds_both_curves() -> None:
    """The range is valid also if all losses are equal or zero."""
    curves = Curves()
    curves.add(TrainingPoint(0, 0.0, 0.0))
    low, high = curves.loss_range()
    assert low < 0.0 < high
    curves.add(TrainingPoint(1, 3.0, 7.0))
    low, high = curves.loss_range()
    assert low < 0.0
    assert 7.0 < high < 8.0


@pytest.mark.parametrize(
    ("before", "after", "is_better"),
    [(0.5, 0.6, True), (0.6, 0.6, False), (0.6, 0.5, False), (None, None, False)],
)
def test_better_means_more_right_answers(
    before: float | None, after: float | None, is_better: bool
) -> None:
    """Neither an equal nor an unknown accuracy is better."""
    assert Figures(before, after, 42).is_better is is_better


def test_a_result_is_read() -> None:
    """Figures that are None stay unknown."""
    figures = {
        "before_accuracy": None,
        "after_accuracy": 0.5,
        "held_out_images": 42.0,
        "iterations": 40.0,
    }
    assert Figures.of_named(figures) == Figures(None, 0.5, 42, 40, 0)
