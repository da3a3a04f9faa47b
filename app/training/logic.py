"""Logic of the training panel without Qt: plans, curves, results and model versions."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, final

import numpy as np

from engine.collection.training.settings import is_likely_to_help, labels_trained_on
from engine.errors import Cancelled

if TYPE_CHECKING:
    from engine.collection.live import LiveCollection
    from engine.collection.state import CollectionState
    from engine.config import CacheFolders
    from engine.project import Project
    from engine.project.records import ModelVersion
    from engine.training.curve import TrainingPoint


def version_rows(live: LiveCollection) -> tuple[VersionRow, ...]:
    """All model versions of a project, newest first."""
    used = live.project.models.current.version_id
    rows = [
        _row(version, is_used=version.version_id == used)
        for version in live.project.models.versions()
    ]
    return tuple(reversed(rows))


def evidence(live: LiveCollection) -> Evidence:
    """Accuracy of the current model on held-out labels, and number of labels used by trainings."""
    from engine.review.what_if import held_out_answers

    answers = (
        None if live.fitted is None else held_out_answers(live.fitted, live.project.classes.graph)
    )
    accuracy = (
        None if answers is None or not len(answers.is_right) else float(answers.is_right.mean())
    )
    return Evidence(labels_trained_on(live.project), accuracy)


def _row(version: ModelVersion, *, is_used: bool) -> VersionRow:
    figures = Figures.of_named(version.figures)
    return VersionRow(version.version_id, version.label, version.created_at, figures.after, is_used)


def store_trained(live: LiveCollection, trained: Trained, project_path: Path) -> Trained:
    """Add a trained model to the project as a version, and delete the folder of its files.

    Returns:
        `trained` with the version's id and name.

    Raises:
        Cancelled: another project is open now.
    """
    from engine.collection.training.trained import adopt, read_trained

    try:
        if live.project.path != project_path:
            raise Cancelled
        version_id = adopt(live.project, read_trained(trained.folder))
    finally:
        shutil.rmtree(trained.folder, ignore_errors=True)
    name = next(row.name for row in version_rows(live) if row.version_id == version_id)
    return replace(trained, version_id=version_id, name=name)


POINTS_KEPT = 512  # of one curve: twice as many as a screen can show
IMAGES_NEEDED = 2  # of a class
# An episode needs a support and a query image of each of at least two classes.
CLASSES_NEEDED = 2
CONFIDENCE = 1.96  # standard deviations of a 95% confidence interval
# Least range of the accuracy chart, so that noise of a percent does not look large.
ACCURACY_SPAN = 0.2
MARGIN = 0.06  # of a chart's height, above and below the curve


class Depth(StrEnum):
    """The part of the model that a training changes."""

    PROPAGATION = "propagation"
    BACKBONE = "backbone"


class StartingPoint(StrEnum):
    """Network from which the training of a backbone starts."""

    CURRENT = "current"
    CONV4 = "conv4"


@dataclass(frozen=True)
class Plan:
    """Settings of a training."""

    depth: Depth
    iterations: int
    start: StartingPoint = StartingPoint.CURRENT  # only for the backbone
    # Side of the images in pixels; None for that of the backbone.
    side: int | None = None

    def settings(self) -> dict[str, int | str]:
        chosen: dict[str, int | str] = {"iterations": self.iterations}
        if self.depth is Depth.BACKBONE:
            chosen["start"] = self.start.value
            if self.side is not None:
                chosen["side"] = self.side
        return chosen

    @classmethod
    def of_settings(cls, settings: Mapping[str, object]) -> Plan:
        """The plan of a backbone training from its stored settings."""
        start, side = (
            StartingPoint(str(settings.get("start", StartingPoint.CURRENT))),
            settings.get("side"),
        )
        iterations = int(str(settings.get("iterations", DEFAULTS[Depth.BACKBONE].iterations)))
        return cls(Depth.BACKBONE, iterations, start, None if side is None else int(str(side)))


DEFAULTS = {
    Depth.PROPAGATION: Plan(Depth.PROPAGATION, 500),
    Depth.BACKBONE: Plan(Depth.BACKBONE, 200),
}
# Image sides for Conv4 in pixels; the current backbone keeps its own.
SIDES = (64, 84, 128)
USUAL_SIDE = 84
FEWEST_ITERATIONS = 10
MOST_ITERATIONS = 200_000

_TUNING_S = 40.0
_TUNING_STEP_S = 0.04
"""Measured on two cores: fixed time (start, validations), and time per iteration."""


def tuning_s(plan: Plan) -> float:
    return _TUNING_S + plan.iterations * _TUNING_STEP_S


@dataclass(frozen=True)
class StoppedTraining:
    """A training that can be resumed."""

    done: int  # finished iterations
    plan: Plan


@dataclass(frozen=True)
class Labels:
    """Amount of training data."""

    images: int = 0  # labelled with a class
    classes: int = 0  # with at least `IMAGES_NEEDED` images
    # Whether training the backbone will probably improve predictions.
    will_help: bool = False

    @property
    def are_enough(self) -> bool:
        return self.classes >= CLASSES_NEEDED

    @classmethod
    def of_counts(
        cls,
        counts: Sequence[int],
        *,
        trained_on: int = 0,
        model_name: str = "",
        accuracy: float | None = None,
    ) -> Labels:
        """Summarize the labels of each class; the other arguments as in `is_likely_to_help`."""
        enough = sum(1 for count in counts if count >= IMAGES_NEEDED)
        will_help = is_likely_to_help(
            counts, trained_on=trained_on, model_name=model_name, accuracy=accuracy
        )
        return cls(sum(counts), enough, will_help)


@dataclass(frozen=True)
class Evidence:
    """Facts about the benefit of training the backbone."""

    # Labelled images that the current version, or a training without success, learned from.
    trained_on: int = 0
    # Accuracy of the current model on held-out labels, in [0, 1]; None if unknown.
    accuracy: float | None = None

    def labels(self, state: CollectionState) -> Labels:
        counts = np.bincount(state.label_class[state.label_class >= 0])
        return Labels.of_counts(
            counts.tolist(),
            trained_on=self.trained_on,
            model_name=state.model_name,
            accuracy=self.accuracy,
        )


@final
class Curve:
    """Values over iterations, downsampled: when full, neighbouring points are averaged."""

    def __init__(self, points_kept: int = POINTS_KEPT) -> None:
        self.iterations: list[float] = []
        self.values: list[float] = []
        self._points_kept = points_kept
        self._stride = 1
        self._gathered: list[tuple[float, float]] = []

    def add(self, iteration: float, value: float) -> None:
        self._gathered.append((iteration, value))
        if len(self._gathered) < self._stride:
            return
        self.iterations.append(sum(place for place, _ in self._gathered) / self._stride)
        self.values.append(sum(known for _, known in self._gathered) / self._stride)
        self._gathered.clear()
        if len(self.values) >= self._points_kept:
            self.iterations, self.values = _halved(self.iterations), _halved(self.values)
            self._stride *= 2


def _halved(values: Sequence[float]) -> list[float]:
    return [(first + second) / 2 for first, second in zip(values[::2], values[1::2], strict=False)]


@dataclass(frozen=True)
class Curves:
    """The curves of the chart."""

    loss: Curve = field(default_factory=Curve)
    validation_loss: Curve = field(default_factory=Curve)
    accuracy: Curve = field(default_factory=Curve)

    def add(self, point: TrainingPoint) -> None:
        curves = {
            self.loss: point.loss,
            self.validation_loss: point.validation_loss,
            self.accuracy: point.accuracy,
        }
        for curve, value in curves.items():
            if value is not None:
                curve.add(point.iteration, value)

    def loss_range(self) -> tuple[float, float]:
        return _with_margin(self.loss.values + self.validation_loss.values, least=0.0)

    def accuracy_range(self) -> tuple[float, float]:
        """Lowest and highest accuracy to show, within [0, 1] and at least `ACCURACY_SPAN` apart."""
        low, high = _with_margin(self.accuracy.values, least=ACCURACY_SPAN)
        shift = max(0.0, -low) - max(0.0, high - 1.0)
        return max(0.0, low + shift), min(1.0, high + shift)


def _with_margin(values: Sequence[float], *, least: float) -> tuple[float, float]:
    if not values:
        return 0.0, 1.0
    low, high = min(values), max(values)
    missing = max(0.0, least - (high - low)) / 2
    margin = MARGIN * max(high - low + 2 * missing, abs(high) * 0.01, 1e-6)
    return low - missing - margin, high + missing + margin


@dataclass(frozen=True)
class Figures:
    """Accuracy of the new and the current version on images that were not trained on."""

    before: float | None  # accuracy in [0, 1]; None if there were too few images
    after: float | None
    held_out_images: int = 0  # number of images that both were evaluated on
    iterations: int = 0
    kept_iteration: int = 0  # iteration of the best state

    @property
    def is_better(self) -> bool:
        return self.before is not None and self.after is not None and self.after > self.before

    @property
    def may_be_chance(self) -> bool:
        """Whether the difference is not significant at the 5% level.

        Agresti and Caffo's interval for a difference of proportions, valid for few images.
        """
        if self.before is None or self.after is None or self.before == self.after:
            return False
        count = self.held_out_images + 2
        shares = [(share * self.held_out_images + 1) / count for share in (self.before, self.after)]
        spread = sqrt(sum(share * (1 - share) for share in shares) / count)
        return abs(shares[1] - shares[0]) < CONFIDENCE * spread

    @classmethod
    def of_named(cls, figures: Mapping[str, float | None]) -> Figures:
        return cls(
            figures.get("before_accuracy"),
            figures.get("after_accuracy"),
            int(figures.get("held_out_images") or 0),
            int(figures.get("iterations") or 0),
            int(figures.get("kept_iteration") or 0),
        )


@dataclass(frozen=True)
class Trained:
    """A finished training and its files."""

    depth: Depth
    folder: Path
    name: str
    figures: Figures
    version_id: int | None = None  # None until it is stored in the project


@dataclass(frozen=True)
class VersionRow:
    """A model version in the list."""

    version_id: int
    name: str
    created_at: datetime  # time zone aware
    accuracy: float | None  # measured when it was made, in [0, 1]; None if not measured
    is_used: bool


def stopped_training(project: Project, caches: CacheFolders) -> StoppedTraining | None:
    """The unfinished training of the open project; None if there is none to resume."""
    from engine.collection.training.trained import unfinished

    found = unfinished(project, caches)
    return None if found is None else StoppedTraining(found.done, Plan.of_settings(found.chosen))
