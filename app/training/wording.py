"""Texts about training, translated and localized."""

from app.texts import marked, plural, tr
from app.training.logic import (
    Depth,
    Figures,
    Labels,
    Plan,
    StartingPoint,
    StoppedTraining,
    Trained,
    VersionRow,
    tuning_s,
)
from app.wording import (
    SEPARATOR,
    hours,
    images,
    minutes,
    moment_text,
    number,
    percent_to_a_tenth,
    titled,
)
from engine.collection.training.settings import TrainingStage
from engine.texts import paragraph
from engine.training.curve import TrainingDuration

_MINUTE_S = 60
_SHORT_S = 150  # durations up to which half minutes are shown
_HOUR_S = 3600


TITLES = {
    None: marked("Model versions"),
    Depth.PROPAGATION: marked("Tune propagation"),
    Depth.BACKBONE: marked("Train the backbone"),
}
PURPOSES = {
    Depth.PROPAGATION: marked("Adapts how much each class inherits from its parents."),
    Depth.BACKBONE: marked(
        "Adapts the model to your images, so that it can tell your classes apart."
    ),
}
STARTS = {
    StartingPoint.CURRENT: marked("Backbone in use"),
    StartingPoint.CONV4: marked("Conv4, from scratch"),
}
LEAVING = {
    Depth.PROPAGATION: marked("Propagation is being tuned. Closing the project stops it."),
    Depth.BACKBONE: marked(
        "The backbone is being trained. Closing the project stops it; you can resume it later."
    ),
}
_STAGES = {
    TrainingStage.PREPARING: marked("Preparing the network…"),
    TrainingStage.EMBEDDING: marked("Embedding the labelled images…"),
    TrainingStage.SAVING: marked("Saving the new backbone…"),
    TrainingStage.MEASURING: marked("Measuring on held-out images…"),
}


def duration(
    plan: Plan, expected: TrainingDuration | None = None, *, is_measuring: bool = False
) -> str:
    """Approximate duration of a training; "" while unknown."""
    if plan.depth is Depth.PROPAGATION:
        return _takes(tuning_s(plan))
    if expected is None:
        return tr("Estimating training time…") if is_measuring else ""
    return _takes(expected.seconds(plan.iterations))


def _takes(seconds: float) -> str:
    if seconds < _MINUTE_S:
        return tr("Less than a minute.")
    return tr("About {1}.", _about(seconds))


def advice(labels: Labels, plan: Plan, expected: TrainingDuration | None) -> str:
    """Advice that training the backbone is worthwhile; "" if it is not."""
    if not labels.will_help:
        return ""
    count = labels.images
    if expected is None:
        return plural(
            count, "1 label: training would likely help.", "{n} labels: training would likely help."
        )
    minutes = _about(max(expected.seconds(plan.iterations), _MINUTE_S))
    return plural(
        count,
        "1 label: training for about {1} would likely help.",
        "{n} labels: training for about {1} would likely help.",
        minutes,
    )


def proposal(labels: Labels) -> str:
    return plural(
        labels.images,
        "1 label: training the backbone would likely help.",
        "{n} labels: training the backbone would likely help.",
    )


def stage_text(note: str) -> str:
    """Text of a stage without a count."""
    return tr(_STAGES[TrainingStage(note)]) if note in set(TrainingStage) else note


def stopped_text(stopped: StoppedTraining) -> str:
    return plural(
        stopped.plan.iterations,
        "Training stopped after {1} of 1 iteration. Nothing is lost.",
        "Training stopped after {1} of {n} iterations. It can be resumed.",
        number(stopped.done),
    )


def _about(seconds: float) -> str:
    if seconds < _HOUR_S:
        steps = 2 if seconds < _SHORT_S else 1  # below 150 s, half minutes
        count = round(steps * seconds / _MINUTE_S) / steps
        return minutes(count)
    halves = 1 if seconds > 5 * _HOUR_S else 2
    return hours(round(halves * seconds / _HOUR_S) / halves)


def labels_text(labels: Labels, *, trains: bool = True) -> str:
    if not trains:
        return tr(
            "This edition cannot train. Install protoleaf-training instead; projects are kept."
        )
    if not labels.are_enough:
        return tr("Label at least 2 images in each of 2 classes first.")
    return plural(
        labels.classes,
        "Learns from {1} you labelled in 1 class.",
        "Learns from {1} in {n} classes.",
        images(labels.images),
    )


def verdict(figures: Figures) -> str:
    if figures.before is None or figures.after is None:
        return tr("The new version is ready")
    return (
        tr("The new version is better")
        if figures.is_better
        else tr("The new version is not better")
    )


def comparison(figures: Figures) -> str:
    """`Current: 57.1% · New: 61.9%`, or why there are no figures."""
    if figures.before is None or figures.after is None:
        return tr("Too few labels to measure it on held-out images.")
    before, after = percent_to_a_tenth(figures.before), percent_to_a_tenth(figures.after)
    return SEPARATOR.join((tr("Current: {1}", before), tr("New: {1}", after, about="version")))


def measured_on(figures: Figures) -> str:
    """What the figures were measured on, with a caution for few images."""
    if not figures.held_out_images:
        return ""
    basis = plural(
        figures.held_out_images, "Accuracy on 1 held-out image.", "Accuracy on {n} held-out images."
    )
    caution = tr("With so few images, this may be chance.") if figures.may_be_chance else ""
    return paragraph(basis, caution)


def outcome_line(trained: Trained) -> str:
    """The outcome in one line, for a toast."""
    if trained.figures.before is None:
        return verdict(trained.figures)
    return titled(verdict(trained.figures), comparison(trained.figures))


def version_facts(row: VersionRow) -> str:
    when = moment_text(row.created_at)
    return (
        when if row.accuracy is None else SEPARATOR.join((when, percent_to_a_tenth(row.accuracy)))
    )
