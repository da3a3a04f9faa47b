"""The per-class table: of each class with all below it what was labelled, found, right, and most confused."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from engine.graph.category_graph import CategoryGraph
from engine.report.confusion import Confusion
from engine.report.figures import ClassFigures, Proportion


@dataclass
class _Tally:
    """Images of a class or below it."""

    true: int = 0
    predicted: int = 0
    right: int = 0
    mistaken: Counter[int] = field(default_factory=Counter)  # by the class that they were taken for


def class_figures(
    graph: CategoryGraph,
    confusion: Confusion | None,
    labels: Mapping[int, int],
    found: Mapping[int, int],
) -> tuple[ClassFigures, ...]:
    """Figures of every class that has a label, a prediction or a truth, in the order of the graph's levels and names.

    Args:
        graph: an image of a class counts once for each class above it.
        confusion: images by true and predicted class.
        labels: labels of people by exactly their class.
        found: images without a label by exactly the class that is predicted.
    """
    tallies = _tallies(graph, confusion)
    labelled, seen = _rolled_up(graph, labels), _rolled_up(graph, found)
    ids = sorted(
        {*tallies, *labelled, *seen}, key=lambda each: (graph.level(each), graph.name(each), each)
    )
    return tuple(
        _figures(graph, each, tallies.get(each, _Tally()), labelled[each], seen[each])
        for each in ids
    )


def _tallies(graph: CategoryGraph, confusion: Confusion | None) -> dict[int, _Tally]:
    tallies: defaultdict[int, _Tally] = defaultdict(_Tally)
    if confusion is None:
        return tallies
    branches = _Branches(graph)
    for true, predicted, count in confusion.pairs():
        of_true, of_predicted = branches.of(true), branches.of(predicted)
        is_undecided = (
            predicted != true and true in of_predicted
        )  # a coarse truth decides nothing below it
        for each in of_true:
            tally = tallies[each]
            if is_undecided and each not in of_predicted:
                continue
            tally.true += count
            if each in of_predicted:
                tally.right += count
            else:
                tally.mistaken[predicted] += count
        for each in of_predicted:
            if not is_undecided or each in of_true:
                tallies[each].predicted += count
    return tallies


class _Branches:
    """A class and all above it, each found once."""

    def __init__(self, graph: CategoryGraph) -> None:
        self._graph = graph
        self._known: dict[int, frozenset[int]] = {}

    def of(self, class_id: int) -> frozenset[int]:
        if class_id not in self._known:
            is_there = class_id in self._graph
            self._known[class_id] = (
                self._graph.ancestors(class_id) | {class_id} if is_there else frozenset()
            )
        return self._known[class_id]


def _rolled_up(graph: CategoryGraph, counts: Mapping[int, int]) -> Counter[int]:
    branches, totals = _Branches(graph), Counter[int]()
    for class_id, count in counts.items():
        for each in branches.of(class_id):
            totals[each] += count
    return totals


def _figures(
    graph: CategoryGraph, class_id: int, tally: _Tally, labels: int, found: int
) -> ClassFigures:
    mistaken = _most(tally.mistaken.items())
    return ClassFigures(
        class_id, graph.level(class_id), labels, found, Proportion(tally.right, tally.true),
        Proportion(tally.right, tally.predicted), *mistaken,
    )  # fmt: skip


def _most(counts: Iterable[tuple[int, int]]) -> tuple[int | None, int]:
    """The class with the largest count; of several the oldest."""
    return max(counts, key=lambda each: (each[1], -each[0]), default=(None, 0))
