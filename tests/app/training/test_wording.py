"""Texts of the training panel."""

from datetime import UTC, datetime

import pytest
from PySide6.QtWidgets import QApplication

from app.training.logic import DEFAULTS, Depth, Figures, Labels, Plan, StoppedTraining, VersionRow
from app.training.wording import (
    advice,
    comparison,
    duration,
    labels_text,
    measured_on,
    proposal,
    stopped_text,
    verdict,
    version_facts,
)
from engine.training.curve import TrainingDuration


def test_figures_are_compared(qapp: QApplication) -> None:
    """One line has both figures; another says what they were measured on."""
    figures = Figures(0.5714, 0.6190, 42)
    assert comparison(figures) == "Current: 57.1%  ·  New: 61.9%"
    assert measured_on(Figures(0.6, 0.6, 42)) == "Accuracy on 42 held-out images."
    assert measured_on(Figures(1.0, 1.0, 1)) == "Accuracy on 1 held-out image."
    assert "on 42 held-out images" in measured_on(figures)
    assert verdict(figures) == "The new version is better"
    assert verdict(Figures(0.6, 0.6, 42)) == "The new version is not better"


def test_few_images_are_no_proof(qapp: QApplication) -> None:
    """A difference that is not significant is marked."""
    assert measured_on(Figures(0.5714, 0.6190, 42)).endswith("this may be chance.")
    assert "chance" not in measured_on(Figures(0.5714, 0.6190, 4200))


def test_what_was_not_measured_is_shown(qapp: QApplication) -> None:
    """The texts have no figures."""
    figures = Figures(None, None)
    assert "Too few labels" in comparison(figures)
    assert "%" not in comparison(figures)
    assert measured_on(figures) == ""


@pytest.mark.parametrize(
    ("plan", "expected", "words"),
    [
        (Plan(Depth.PROPAGATION, 100), None, "Less than a minute."),
        (DEFAULTS[Depth.PROPAGATION], None, "About 1\u00a0minute."),
        (DEFAULTS[Depth.BACKBONE], TrainingDuration(1.0, 40.0), "About 4\u00a0minutes."),
        (Plan(Depth.BACKBONE, 3_600), TrainingDuration(1.0, 40.0), "About 1\u00a0hour."),
        (Plan(Depth.BACKBONE, 20_000), TrainingDuration(1.0, 40.0), "About 6\u00a0hours."),
        (DEFAULTS[Depth.BACKBONE], None, ""),
    ],
)
def test_the_duration_is_rough(
    qapp: QApplication, plan: Plan, expected: TrainingDuration | None, words: str
) -> None:
    """No seconds, and nothing before it was measured."""
    assert duration(plan, expected) == words
    if not words:
        assert duration(plan, is_measuring=True) == "Estimating training time…"


def test_training_is_advised_where_it_is_likely_to_help(qapp: QApplication) -> None:
    """The advice has the number of labels and the measured time; otherwise it is ""."""
    labels, plan, expected = (
        Labels(406, 81, will_help=True),
        DEFAULTS[Depth.BACKBONE],
        TrainingDuration(1.0, 40.0),
    )
    assert (
        advice(labels, plan, expected)
        == "406 labels: training for about 4\u00a0minutes would likely help."
    )
    assert advice(labels, plan, None) == "406 labels: training would likely help."
    assert advice(Labels(20, 10), plan, expected) == ""
    assert proposal(labels) == "406 labels: training the backbone would likely help."


def test_a_stopped_training_says_how_far_it_was(qapp: QApplication) -> None:
    """The text also says that it can be resumed."""
    text = stopped_text(StoppedTraining(120, Plan(Depth.BACKBONE, 200)))
    assert text == "Training stopped after 120 of 200 iterations. It can be resumed."


def test_labels_are_counted_or_requested(qapp: QApplication) -> None:
    """The labels available, or the missing ones."""
    assert labels_text(Labels(24, 8)) == "Learns from 24 images in 8 classes."
    assert labels_text(Labels(3, 1)).startswith("Label at least 2 images in each of 2 classes")


def test_a_version_says_when_and_how_good(qapp: QApplication) -> None:
    """Without a figure only the time."""
    when = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    measured = version_facts(VersionRow(2, "Tuned propagation 1", when, 0.619, is_used=True))
    assert measured.endswith("  ·  61.9%")
    assert measured.startswith(version_facts(VersionRow(1, "leafnet", when, None, is_used=False)))


@pytest.mark.parametrize("seconds", [60, 74, 76, 89, 104, 149, 150, 209, 3569])
def test_minutes_are_rounded_by_a_quarter_at_most(qapp: QApplication, seconds: int) -> None:
    """The rounded duration differs by at most 25 %."""
    del qapp
    text = duration(DEFAULTS[Depth.BACKBONE], TrainingDuration(0.0, float(seconds)))
    minutes = float(text.removeprefix("About ").split()[0])
    assert 60 * minutes == pytest.approx(seconds, rel=0.25)
