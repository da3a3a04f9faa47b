"""The figures of a report: plain data without sentences; `document` makes the words, and renderers the pages.

A class id may be `UNKNOWN`: "none of the classes", in a truth or as a prediction.
"""

import math
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Final

from engine.collection.audit_figures import AuditFigures
from engine.everyday.scores import share_interval
from engine.report.branch_tree import BranchTree
from engine.report.confusion import Confusion

CALIBRATION_BINS: Final = (
    10  # bins that are drawn; the calibration error has its own, as `evaluate` has
)


class TruthSource(StrEnum):
    """What predictions are compared with."""

    HELD_OUT = "held_out"  # labels of people, each held out in turn
    FILE = "file"
    NONE = "none"  # there is nothing to compare with


@dataclass(frozen=True)
class Proportion:
    """A share that was counted."""

    hits: int
    count: int

    @property
    def share(self) -> float:
        """NaN where nothing was counted."""
        return self.hits / self.count if self.count else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """95 % confidence interval (Wilson)."""
        return share_interval(self.hits, self.count)


@dataclass(frozen=True)
class ReportFacts:
    """What the report is about, and how its figures were made."""

    project: str  # name
    made_at: datetime  # with its time zone
    images: int
    classes: int
    model: str  # name of the backbone
    version: str  # of the model
    setting: str  # a `Setting`; "" without predictions
    uses_collection: bool
    source: TruthSource
    truth_name: str = ""  # of the file
    truth_rows: int = 0  # of the file
    not_found: int = 0  # rows of the file without an image here
    labels: int = 0  # labels of people that have an embedding
    twins: int = 0  # held-out labels that were left out since a near-duplicate has a label, too
    why_nothing: str = ""  # why there is nothing to compare with, as a message


@dataclass(frozen=True)
class Day:
    """Labels that people gave on a day."""

    day: date
    labels: int


@dataclass(frozen=True)
class WorkProgress:
    """How far the work is; images that are labelled, sure, unsure, unknown, waiting and unreadable are all images."""

    images: int
    labelled: int  # by people, "none of the classes" included
    sure: int  # not labelled, and predicted with the confidence needed
    unsure: int  # not labelled, and predicted below it
    unknown: int  # not labelled, and like none of the classes
    waiting: int  # not labelled, without an embedding yet
    unreadable: int  # not labelled, and the file could not be read
    to_review: int  # not labelled, and could be read
    by_person: tuple[tuple[str, int], ...]  # labels, most first
    by_day: tuple[Day, ...]  # days with labels, oldest first

    @property
    def predicted(self) -> int:
        """Images without a label that have a prediction."""
        return self.sure + self.unsure + self.unknown


@dataclass(frozen=True)
class Bin:
    """Predictions of about the same score."""

    low: float
    high: float
    score: float  # mean
    right: Proportion


@dataclass(frozen=True)
class CalibrationFigures:
    """Whether scores are probabilities."""

    error: float  # expected calibration error
    bins: tuple[Bin, ...]  # those with images


@dataclass(frozen=True)
class CoveragePoint:
    """What a confidence would do if every class needed it."""

    bar: float
    named: int  # images that get a class, coarse or fine
    right: Proportion  # of these, as far as the truth tells


@dataclass(frozen=True)
class Coverage:
    """Coverage and precision by the confidence needed."""

    images: int
    points: tuple[CoveragePoint, ...]
    in_use: CoveragePoint  # with the bars of the project; its bar is the commonest
    bars: tuple[float, float]  # the lowest and the highest bar in use
    at_leaf: int  # images that get a leaf


@dataclass(frozen=True)
class Accuracy:
    """How often predictions are right."""

    images: int  # with a truth
    top1: Proportion  # the best leaf
    top5: Proportion
    levels: tuple[Proportion, ...]  # at each level of the graph, 0 the coarsest
    unknown: int  # called unknown


@dataclass(frozen=True)
class ClassFigures:
    """A class with all below it."""

    class_id: int
    level: int
    labels: int  # of people
    found: int  # images predicted so, without a label
    recall: Proportion  # of images that are of the class, those that are predicted so
    precision: Proportion  # of images predicted so, those that are of the class
    confused_with: (
        int | None
    )  # the class that its images are taken for most often; None where there is none
    confused: int = 0  # how many of them

    @property
    def f1(self) -> float:
        """NaN where nothing was counted."""
        total = self.recall.count + self.precision.count
        return 2 * self.recall.hits / total if total else math.nan


@dataclass(frozen=True)
class Mistakes:
    """How far wrong predictions are from the truth in the graph."""

    wrong: int  # with a class in truth and prediction
    by_distance: tuple[
        tuple[int, int], ...
    ]  # edges on the shortest way over a common ancestor, and images
    mean_height: float  # of the lowest common ancestor; NaN without mistakes
    worst: tuple[tuple[int, int, int], ...]  # true class, predicted class, images: most first


@dataclass(frozen=True)
class CountRow:
    """Images of one kind, such as of a folder."""

    name: str
    images: int
    labelled: int
    class_id: int | None = None


@dataclass(frozen=True)
class CollectionCounts:
    """Images by class and by what is known of them; each empty where nothing is known."""

    by_class: tuple[CountRow, ...] = ()  # labelled or predicted, most first
    by_folder: tuple[CountRow, ...] = ()  # in natural order
    by_month: tuple[CountRow, ...] = ()  # `2024-05`, oldest first
    by_camera: tuple[CountRow, ...] = ()  # most first
    by_place: tuple[CountRow, ...] = ()  # degrees, most first


@dataclass(frozen=True)
class ComparedSide:
    """One of two models or settings."""

    name: str
    right: Proportion  # best leaf, on the shared images
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
    both: int  # images that both have right
    only_first: int
    only_second: int
    neither: int
    p_value: float  # McNemar, exact, two-sided
    gain: tuple[float, float]  # 95 % interval of the second's share less the first's
    gained_ids: tuple[int, ...]  # images that the second alone has right
    lost_ids: tuple[int, ...]


@dataclass(frozen=True)
class Report:
    """All figures; parts that need a truth are None without one."""

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
