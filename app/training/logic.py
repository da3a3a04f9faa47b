"""What the training panel knows, without Qt: a plan, points of the curves, figures at the end, rows of versions."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

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
    """All model versions of a project, the newest first."""
    used = live.project.models.current.version_id
    rows = [
        _row(version, is_used=version.version_id == used)
        for version in live.project.models.versions()
    ]
    return tuple(reversed(rows))


def evidence(live: LiveCollection) -> Evidence:
    """How the model in use does on images that it was not trained on, and the outcome of earlier trainings."""
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
    """Adopt a trained model, by its id and name there, into the project that it was trained for; deletes its folder.

    Raises:
        Cancelled: another project is open by now.
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


POINTS_KEPT: Final = 512  # of one curve: twice what a screen can show
IMAGES_NEEDED: Final = 2
CLASSES_NEEDED: Final = (
    2  # an episode takes a support and a query image of each of at least two classes
)
CONFIDENCE: Final = 1.96  # standard deviations around the mean that hold 19 of 20 cases
ACCURACY_SPAN: Final = (
    0.2  # least height of the accuracy chart: noise of a percent must not look like a mountain
)
MARGIN: Final = 0.06  # of a chart's height, above and below the curve


class Depth(StrEnum):
    """How deep a training reaches."""

    PROPAGATION = "propagation"
    BACKBONE = "backbone"


class StartingPoint(StrEnum):
    """Where the training of a backbone starts."""

    CURRENT = "current"
    CONV4 = "conv4"


@dataclass(frozen=True)
class Plan:
    """A training as a person chose it."""

    depth: Depth
    iterations: int
    start: StartingPoint = StartingPoint.CURRENT  # network to start from; only for the backbone
    side: int | None = (
        None  # of the images that it sees, in pixels; None for the side that the backbone embeds at
    )

    def settings(self) -> dict[str, int | str]:
        chosen: dict[str, int | str] = {"iterations": self.iterations}
        if self.depth is Depth.BACKBONE:
            chosen["start"] = self.start.value
            if self.side is not None:
                chosen["side"] = self.side
        return chosen

    @classmethod
    def of_settings(cls, settings: Mapping[str, object]) -> Plan:
        """The plan for a backbone that had these settings."""
        start, side = (
            StartingPoint(str(settings.get("start", StartingPoint.CURRENT))),
            settings.get("side"),
        )
        iterations = int(str(settings.get("iterations", DEFAULTS[Depth.BACKBONE].iterations)))
        return cls(Depth.BACKBONE, iterations, start, None if side is None else int(str(side)))


DEFAULTS: Final = {
    Depth.PROPAGATION: Plan(Depth.PROPAGATION, 500),
    Depth.BACKBONE: Plan(Depth.BACKBONE, 200),
}
SIDES: Final = (
    64,
    84,
    128,
)  # of the images that Conv4 sees, in pixels; a backbone in use goes on at its own
USUAL_SIDE: Final = 84
FEWEST_ITERATIONS: Final = 10
MOST_ITERATIONS: Final = 200_000

_TUNING_S: Final = 40.0
_TUNING_STEP_S: Final = 0.04
"""Measured on two processor cores: the start and a fixed number of looks at validation classes, and each iteration."""


def tuning_s(plan: Plan) -> float:
    return _TUNING_S + plan.iterations * _TUNING_STEP_S


@dataclass(frozen=True)
class StoppedTraining:
    """A training that can go on."""

    done: int  # finished iterations
    plan: Plan


@dataclass(frozen=True)
class Labels:
    """How much there is to learn from."""

    images: int = 0  # with a class from a person
    classes: int = 0  # with at least `IMAGES_NEEDED` of them
    will_help: bool = (
        False  # whether training the backbone on them is likely to make predictions better
    )

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
        """From the number of labels of each class; the rest as `is_likely_to_help` takes it."""
        enough = sum(1 for count in counts if count >= IMAGES_NEEDED)
        will_help = is_likely_to_help(
            counts, trained_on=trained_on, model_name=model_name, accuracy=accuracy
        )
        return cls(sum(counts), enough, will_help)


@dataclass(frozen=True)
class Evidence:
    """What is known of how much training the backbone would help."""

    # labelled images that the version in use was trained on, or that a training learned from in vain
    trained_on: int = 0
    accuracy: float | None = (
        None  # of the model in use on labelled images held out, 0..1; None where nobody knows
    )

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
    """Values over iterations; when it gets long, neighbours melt into their mean."""

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
    """What the chart draws."""

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
        """Lowest and highest share to show: inside 0..1, and at least `ACCURACY_SPAN` apart."""
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
    """How the new version compares with the one in use, on images that training never saw."""

    before: float | None  # accuracy in 0..1; None when there were too few images to measure
    after: float | None
    held_out_images: int = 0  # that both were measured on
    iterations: int = 0
    kept_iteration: int = 0  # whose state was kept

    @property
    def is_better(self) -> bool:
        return self.before is not None and self.after is not None and self.after > self.before

    @property
    def may_be_chance(self) -> bool:
        """Whether there is a difference, and so few images give one like it in more than 1 of 20 cases.

        Agresti and Caffo's interval of a difference of shares, wide enough for a handful of images.
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
    """A successful training: what the worker left in its folder."""

    depth: Depth
    folder: Path
    name: str
    figures: Figures
    version_id: int | None = None  # in the project; None until it is stored there


@dataclass(frozen=True)
class VersionRow:
    """One model version in the list."""

    version_id: int
    name: str
    created_at: datetime  # time zone aware
    accuracy: float | None  # that it was measured with when it was made, 0..1; None when it was not
    is_used: bool


def stopped_training(project: Project, caches: CacheFolders) -> StoppedTraining | None:
    """The stopped training of an open project; None where none can go on."""
    from engine.collection.training.trained import unfinished

    found = unfinished(project, caches)
    return None if found is None else StoppedTraining(found.done, Plan.of_settings(found.chosen))
