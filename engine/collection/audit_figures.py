"""Estimate figures of the population of an audit from its answers (decision 105).

An image is weighted by the size of its stratum over the answers in it. Intervals are those of
Wilson with the continuity correction, which a sample of 20 needs, on the effective sample size,
without a correction for finite populations.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import nan, sqrt

from engine.everyday.scores import CONFIDENCE, corrected_odds
from engine.graph.category_graph import CategoryGraph
from engine.project import Audit, AuditItem, ClassId, ImageId, Label, Project
from engine.project.labels import IN_BULK

FEWEST_OF_CLASS = 5  # answers for a figure of one class. Chosen


@dataclass(frozen=True)
class EstimatedShare:
    """A share of the population, estimated from answers."""

    right: int = 0
    count: int = 0  # answers that decide it
    share: float = nan  # weighted by stratum
    interval: tuple[float, float] = (0.0, 1.0)  # 95 %


@dataclass(frozen=True)
class AuditFigures:
    """Figures of an audit."""

    audit_id: int
    drawn_at: datetime
    is_stratified: bool
    population: int
    asked: int
    answered: int
    in_bulk: int  # images that were labelled in bulk, without looking at each
    accuracy: EstimatedShare  # of the most probable class
    sure: EstimatedShare  # accuracy of safe classes
    error_odds: float  # of safe classes, as a multiple of the odds by their scores
    # of each safe class with enough answers, most answers first
    classes: tuple[tuple[ClassId, EstimatedShare], ...]

    @property
    def is_done(self) -> bool:
        """Whether all images that can be answered are."""
        return self.answered == self.asked


def audit_figures(project: Project) -> tuple[AuditFigures, ...]:
    """Figures of all audits of a project, oldest first."""
    audits = project.audits.all()
    labels = {
        item.image_id: project.labels.of(item.image_id) for audit in audits for item in audit.asked
    }
    given = {image_id: label for image_id, label in labels.items() if label is not None}
    return tuple(figures_of(audit, given, project.classes.graph) for audit in audits)


def figures_of(audit: Audit, labels: Mapping[ImageId, Label], graph: CategoryGraph) -> AuditFigures:
    """Compare labels with predictions."""
    asked = audit.asked
    answered = [item for item in asked if is_answer(labels.get(item.image_id))]
    verdicts = _Verdicts(answered, labels, graph)
    safe = [item for item in answered if item.safe_class_id is not None]
    by_class: dict[ClassId, list[AuditItem]] = defaultdict(list)
    for item in safe:
        if item.safe_class_id is not None and item.safe_class_id in graph:
            by_class[item.safe_class_id].append(item)
    estimates = {
        class_id: verdicts.estimate(items, _safe_class) for class_id, items in by_class.items()
    }
    enough = [pair for pair in estimates.items() if pair[1].count >= FEWEST_OF_CLASS]
    return AuditFigures(
        audit.audit_id,
        audit.drawn_at,
        audit.is_stratified,
        audit.population,
        asked=len(asked),
        answered=len(answered),
        in_bulk=sum(item.image_id in labels for item in asked) - len(answered),
        accuracy=verdicts.estimate(answered, _best_class),
        sure=verdicts.estimate(safe, _safe_class),
        error_odds=verdicts.error_odds(safe),
        classes=tuple(sorted(enough, key=lambda pair: (-pair[1].count, pair[0]))),
    )


def is_answer(label: Label | None) -> bool:
    """Whether a label is by a person who looked at the image, not one accepted in bulk."""
    return label is not None and label.source != IN_BULK


def estimated(verdicts: Sequence[tuple[float, bool]]) -> EstimatedShare:
    """Estimate a share from pairs of weight and correctness."""
    if not verdicts:
        return EstimatedShare()
    total = sum(weight for weight, _is_right in verdicts)
    share = sum(weight for weight, is_right in verdicts if is_right) / total
    effective = total**2 / sum(weight**2 for weight, _is_right in verdicts)
    right = sum(is_right for _weight, is_right in verdicts)
    return EstimatedShare(right, len(verdicts), share, cautious_interval(share, effective))


def cautious_interval(share: float, count: float) -> tuple[float, float]:
    """95 % confidence interval of a share of a sample, with the continuity correction.

    Source: Newcombe, Statistics in Medicine, 1998, method 4.

    Args:
        count: size of the sample, which may be an effective one.
    """
    square, wrong = CONFIDENCE**2, 1 - share
    middle, divisor = 2 * count * share + square, 2 * (count + square)
    below = square - 2 - 1 / count + 4 * share * (count * wrong + 1)
    above = square + 2 - 1 / count + 4 * share * (count * wrong - 1)
    low = (middle - 1 - CONFIDENCE * sqrt(max(0.0, below))) / divisor
    high = (middle + 1 + CONFIDENCE * sqrt(max(0.0, above))) / divisor
    return 0.0 if share <= 0 else max(0.0, low), 1.0 if share >= 1 else min(1.0, high)


def _best_class(item: AuditItem) -> ClassId | None:
    return item.class_id


def _safe_class(item: AuditItem) -> ClassId | None:
    return item.safe_class_id


class _Verdicts:
    """Correctness of predictions, and weights of answers."""

    def __init__(
        self, answered: Sequence[AuditItem], labels: Mapping[ImageId, Label], graph: CategoryGraph
    ) -> None:
        self._labels = labels
        self._graph = graph
        self._answers = Counter(item.stratum for item in answered)

    def estimate(
        self, items: Sequence[AuditItem], claim: Callable[[AuditItem], ClassId | None]
    ) -> EstimatedShare:
        found = [
            (item, self._is_right(claim(item), self._labels[item.image_id].class_id))
            for item in items
        ]
        weights = [
            (item.stratum_size / self._answers[item.stratum], right) for item, right in found
        ]
        return estimated([(weight, right) for weight, right in weights if right is not None])

    def error_odds(self, items: Sequence[AuditItem]) -> float:
        """Odds that a safe class is wrong, as a multiple of those by scores; 1 without answers."""
        found = [
            (item, self._is_right(item.safe_class_id, self._labels[item.image_id].class_id))
            for item in items
        ]
        judged = [(item.safe_score, is_right) for item, is_right in found if is_right is not None]
        expected = sum(1 - score for score, _is_right in judged)
        return corrected_odds(1.0, expected, sum(not is_right for _score, is_right in judged))

    def _is_right(self, claimed: ClassId | None, answer: ClassId | None) -> bool | None:
        """None if the answer does not decide: it is an ancestor, or the class was removed."""
        if claimed is None or claimed == answer:
            return claimed == answer
        if claimed not in self._graph:
            return None
        if answer is None:
            return False
        if claimed in self._graph.ancestors(answer):
            return True
        return None if answer in self._graph.ancestors(claimed) else False
