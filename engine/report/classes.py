"""Figures of each class with its descendants: labels, predictions, precision, recall, confusion."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

from engine.graph.category_graph import CategoryGraph
from engine.report.confusion import Confusion
from engine.report.figures import ClassFigures, Proportion

Branch = Callable[[int], frozenset[int]]


@dataclass
class _Tally:
    """Images of a class or below it."""

    true: int = 0
    predicted: int = 0
    right: int = 0
    mistaken: Counter[int] = field(default_factory=Counter)  # by the wrong prediction


def class_figures(
    graph: CategoryGraph,
    confusion: Confusion | None,
    labels: Mapping[int, int],
    found: Mapping[int, int],
) -> tuple[ClassFigures, ...]:
    """Figures of each class with a label, a prediction or ground truth, by level and name.

    Args:
        graph: an image of a class counts once for each ancestor.
        confusion: images by true and predicted class.
        labels: number of labels by class.
        found: number of unlabelled images by predicted class.
    """

    @cache
    def branch(class_id: int) -> frozenset[int]:
        """The class and its ancestors."""
        return graph.ancestors(class_id) | {class_id} if class_id in graph else frozenset()

    tallies = _tallies(branch, confusion)
    labelled, predicted = _rolled_up(branch, labels), _rolled_up(branch, found)
    ids = sorted(
        {*tallies, *labelled, *predicted},
        key=lambda each: (graph.level(each), graph.name(each), each),
    )
    figures = []
    for class_id in ids:
        tally = tallies[class_id]
        # the most frequent one, of several the oldest
        confused_with, confused = max(
            tally.mistaken.items(), key=lambda each: (each[1], -each[0]), default=(None, 0)
        )
        figures.append(
            ClassFigures(
                class_id,
                graph.level(class_id),
                labelled[class_id],
                predicted[class_id],
                Proportion(tally.right, tally.true),
                Proportion(tally.right, tally.predicted),
                confused_with,
                confused,
            )
        )
    return tuple(figures)


def _tallies(branch: Branch, confusion: Confusion | None) -> defaultdict[int, _Tally]:
    tallies: defaultdict[int, _Tally] = defaultdict(_Tally)
    for true, predicted, count in () if confusion is None else confusion.pairs():
        of_true, of_predicted = branch(true), branch(predicted)
        # a coarse ground truth does not decide which class below it is right
        is_undecided = predicted != true and true in of_predicted
        for each in of_true:
            tally = tallies[each]
            if each in of_predicted:
                tally.true += count
                tally.right += count
            elif not is_undecided:
                tally.true += count
                tally.mistaken[predicted] += count
        for each in of_predicted:
            if not is_undecided or each in of_true:
                tallies[each].predicted += count
    return tallies


def _rolled_up(branch: Branch, counts: Mapping[int, int]) -> Counter[int]:
    """Add the count of each class to its ancestors."""
    totals = Counter[int]()
    for class_id, count in counts.items():
        totals.update(dict.fromkeys(branch(class_id), count))
    return totals
