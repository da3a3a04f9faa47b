"""Figures of a report over a synthetic graph."""

from collections.abc import Sequence
from datetime import UTC, date, datetime

import numpy as np

from engine.graph.category_graph import CategoryGraph
from engine.report.branch_tree import branch_tree
from engine.report.classes import class_figures
from engine.report.confusion import Confusion, confusion_of
from engine.report.figures import (
    Accuracy,
    Bin,
    CalibrationFigures,
    CollectionCounts,
    CountRow,
    Coverage,
    CoveragePoint,
    Proportion,
    Report,
    ReportFacts,
    TruthSource,
    WorkProgress,
)
from engine.report.mistakes import mistakes_of


def zoo() -> CategoryGraph:
    """Animal above Dog and Bird (above Gull and Auk), and Rock; Gull is below Coast, too."""
    graph = CategoryGraph()
    animal = graph.add_class("Animal")  # 1
    bird = graph.add_class("Bird", [animal])  # 2
    graph.add_class("Dog", [animal])  # 3
    gull = graph.add_class("Gull", [bird])  # 4
    graph.add_class("Auk", [bird])  # 5
    graph.add_class("Rock")  # 6
    coast = graph.add_class("Coast")  # 7
    graph.link(coast, gull)
    return graph


ANIMAL, BIRD, DOG, GULL, AUK, ROCK, COAST = range(1, 8)


def confusion_in(graph: CategoryGraph, pairs: Sequence[tuple[int, int]]) -> Confusion:
    """The matrix of these true and predicted classes, of images 101, 102, ..."""
    true, predicted = (
        np.array([pair[place] for pair in pairs], dtype=np.int64) for place in (0, 1)
    )
    tree = branch_tree(graph, {*true.tolist(), *predicted.tolist()})
    return confusion_of(tree, np.arange(101, 101 + len(pairs)), true, predicted)


def report_of(
    graph: CategoryGraph,
    confusion: Confusion,
    *,
    project: str = "zoo",
    rows: Sequence[CountRow] = (),
) -> Report:
    """A complete report around a matrix."""
    images = confusion.images
    labels = {true: count for true, _, count in confusion.pairs() if true in graph}
    share = Proportion(sum(count for a, b, count in confusion.pairs() if a == b), images)
    made_at = datetime(2026, 3, 1, 14, 3, tzinfo=UTC)
    about = ReportFacts(
        project,
        made_at,
        images,
        len(graph),
        "leafnet",
        "leafnet",
        "ppn+",
        False,
        TruthSource.HELD_OUT,
        labels=images,
    )
    days = (date(2026, 2, 27), 1), (date(2026, 3, 1), images - 1)
    points = tuple(CoveragePoint(bar, images // 2, share) for bar in (0.3, 0.5, 0.8, 0.99))
    return Report(
        about,
        confusion.tree,
        WorkProgress(images, images, 0, 0, 0, 0, 0, 0, (("ada", images),), days),
        CollectionCounts(
            tuple(rows), (CountRow("a", 3, 1), CountRow("b", 1, 0)), (CountRow("2026-02", 4, 2),)
        ),
        accuracy=Accuracy(images, share, share, (share, share), 0),
        calibration=CalibrationFigures(
            0.1, tuple(Bin(low, low + 0.1, low + 0.05, share) for low in (0.4, 0.9))
        ),
        coverage=Coverage(images, points, points[2], (0.8, 0.8), images // 3),
        confusion=confusion,
        classes=class_figures(graph, confusion, labels, labels),
        mistakes=mistakes_of(graph, confusion),
    )
