"""The figures of a report as plain data; `wording` makes a document of them.

A class id may be `UNKNOWN`: "none of the classes", as ground truth or as a prediction.
"""

import math
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from engine.collection.audit_figures import AuditFigures
from engine.everyday.scores import share_interval
from engine.report.branch_tree import BranchTree
from engine.report.confusion import Confusion

CALIBRATION_BINS = 10  # of the chart; the calibration error has its own


class TruthSource(StrEnum):
    """Origin of the ground truth."""

    HELD_OUT = "held_out"  # labels of people, each held out in turn
    FILE = "file"
    NONE = "none"


@dataclass(frozen=True)
class Proportion:
    """A counted share."""

    hits: int
    count: int

    @property
    def share(self) -> float:
        """In [0, 1]; NaN if the count is 0."""
        return self.hits / self.count if self.count else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """95 % confidence interval (Wilson)."""
        return share_interval(self.hits, self.count)


@dataclass(frozen=True)
class ReportFacts:
    """Project and model of a report, and origin of its ground truth."""

    project: str  # name
    made_at: datetime  # with its time zone
    images: int
    classes: int
    model: str  # name of the backbone
    version: str  # of the model
    setting: str  # a `Setting`; "" without predictions
    uses_collection: bool
    source: TruthSource = TruthSource.NONE
    truth_name: str = ""  # of the file
    truth_rows: int = 0  # of the file
    not_found: int = 0  # rows of the file that match no image
    labels: int = 0  # labels of people that have an embedding
    why_nothing: str = ""  # why there is no ground truth, as a message


@dataclass(frozen=True)
class WorkProgress:
    """Number of images by state.

    Labelled, sure, unsure, unknown, waiting and unreadable images add up to all images.
    """

    images: int
    labelled: int  # by people, "none of the classes" included
    sure: int  # not labelled, predicted with the minimum confidence
    unsure: int  # not labelled, predicted below it
    unknown: int  # not labelled, out-of-distribution
    waiting: int  # not labelled, without an embedding yet
    unreadable: int  # not labelled, the file could not be read
    to_review: int  # not labelled, the file could be read
    by_person: tuple[tuple[str, int], ...]  # labels, most first
    by_day: tuple[tuple[date, int], ...]  # days with labels, oldest first

    @property
    def predicted(self) -> int:
        """Unlabelled images with a prediction."""
        return self.sure + self.unsure + self.unknown


@dataclass(frozen=True)
class Bin:
    """Predictions with scores in an interval."""

    low: float
    high: float
    score: float  # mean
    right: Proportion


@dataclass(frozen=True)
class CalibrationFigures:
    """Calibration of the scores."""

    error: float  # expected calibration error
    bins: tuple[Bin, ...]  # without empty ones


@dataclass(frozen=True)
class CoveragePoint:
    """Coverage and precision with one minimum confidence for all classes."""

    bar: float
    named: int  # images that get a class, coarse or fine
    right: Proportion  # of these, as far as the ground truth can decide


@dataclass(frozen=True)
class Coverage:
    """Coverage and precision by minimum confidence."""

    images: int
    points: tuple[CoveragePoint, ...]
    in_use: CoveragePoint  # with the thresholds of the project; its `bar` is the most frequent one
    bars: tuple[float, float]  # lowest and highest threshold in use
    at_leaf: int  # images that get a leaf


@dataclass(frozen=True)
class Accuracy:
    """Share of correct predictions."""

    images: int  # with ground truth
    top1: Proportion  # the best leaf
    top5: Proportion
    levels: tuple[Proportion, ...]  # at each level of the graph, 0 the coarsest
    unknown: int  # predicted as unknown


@dataclass(frozen=True)
class ClassFigures:
    """Figures of a class and all its descendants."""

    class_id: int
    level: int
    labels: int  # of people
    found: int  # unlabelled images predicted as the class
    recall: Proportion
    precision: Proportion
    confused_with: int | None  # the most frequent wrong prediction for its images
    confused: int  # number of them

    @property
    def f1(self) -> float:
        """NaN if there are no images."""
        total = self.recall.count + self.precision.count
        return 2 * self.recall.hits / total if total else math.nan


@dataclass(frozen=True)
class Mistakes:
    """Severity of mistakes: distance between true and predicted class in the graph."""

    wrong: int  # images whose true and predicted class are both classes
    by_distance: tuple[tuple[int, int], ...]  # edges of the shortest path, and images
    mean_height: float  # of the lowest common ancestor; NaN without mistakes
    worst: tuple[tuple[int, int, int], ...]  # true class, predicted class, images; most first


@dataclass(frozen=True)
class CountRow:
    """Images of a folder, camera, class ..."""

    name: str
    images: int
    labelled: int
    class_id: int | None = None


@dataclass(frozen=True)
class CollectionCounts:
    """Images by class and metadata; empty where no image has the metadata."""

    by_class: tuple[CountRow, ...] = ()  # labelled or predicted, most first
    by_folder: tuple[CountRow, ...] = ()  # in natural order
    by_month: tuple[CountRow, ...] = ()  # `2024-05`, oldest first
    by_camera: tuple[CountRow, ...] = ()  # most first
    by_place: tuple[CountRow, ...] = ()  # rounded degrees, most first


@dataclass(frozen=True)
class ComparedSide:
    """Figures of one of two models or settings."""

    name: str
    right: Proportion  # best leaf, on the common images
    levels: tuple[Proportion, ...]
    calibration_error: float
    named: Proportion  # with a safe class
    safe_right: Proportion


@dataclass(frozen=True)
class ModelComparison:
    """Two models or settings on the same images."""

    images: int
    first: ComparedSide
    second: ComparedSide
    both: int  # images that both predict correctly
    only_first: int
    only_second: int
    neither: int
    p_value: float  # McNemar, exact, two-sided
    gain: tuple[float, float]  # 95 % interval of the second's accuracy minus the first's


@dataclass(frozen=True)
class Report:
    """All figures; those that need ground truth are None without it."""

    about: ReportFacts
    tree: BranchTree
    progress: WorkProgress
    counts: CollectionCounts
    accuracy: Accuracy | None = None
    calibration: CalibrationFigures | None = None
    coverage: Coverage | None = None
    confusion: Confusion | None = None
    classes: tuple[ClassFigures, ...] = ()
    mistakes: Mistakes | None = None
    comparison: ModelComparison | None = None
    audits: tuple[AuditFigures, ...] = ()  # oldest first

    @property
    def answered_audits(self) -> list[AuditFigures]:
        """Audits with at least one labelled image, oldest first."""
        return [each for each in self.audits if each.answered]
