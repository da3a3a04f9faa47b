"""Measure every kind of suggestion on one collection."""

from collections.abc import Callable
from dataclasses import dataclass, field

from engine.collection.graph_suggestions.class_means import ClassMeans
from engine.collection.graph_suggestions.parents import ParentRanking, check_placements
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from research.graph_suggestions.drawn import drawn_rows, images_of
from research.graph_suggestions.pairs import planted_mixed, planted_twins
from research.graph_suggestions.placements import (
    AskedEdge,
    Planted,
    asked_edges,
    planted_strays,
    roots_suggested,
    strangers,
)
from research.graph_suggestions.underlabelled import Helped, helped_classes
from research.transfer.embedded import EmbeddedCollection

MOST_PLANTED = 40
"""Strays and strangers of a draw."""
MOST_HELPED = 5
"""Underlabelled classes of a draw, and as many others."""


@dataclass
class Measured:
    """Results of all draws together.

    Attributes:
        edges: removed edges.
        strangers: scores of suggestions for unrelated classes.
        roots: scores of suggestions for classes of the top level.
        planted: faults by kind.
        helped: classes that got more shots.
        trust: calibration of scores, by draw.
    """

    edges: list[AskedEdge] = field(default_factory=list)
    strangers: list[float] = field(default_factory=list)
    roots: list[float] = field(default_factory=list)
    planted: dict[str, Planted] = field(default_factory=dict)
    helped: list[Helped] = field(default_factory=list)
    trust: list[float] = field(default_factory=list)


def measure_suggestions(
    embedded: EmbeddedCollection,
    shots: int,
    draws: int,
    *,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> Measured:
    """Remove edges, plant faults, and evaluate the suggestions.

    Args:
        embedded: the collection.
        shots: of each leaf.
        draws: of shots and faults.
        on_progress: called with draws.
        cancel: stops between two kinds of a draw.

    Raises:
        InputError: all images are equal.
        Cancelled: `cancel` was set.
    """
    found, meter = Measured(), ProgressMeter(draws, on_progress, unit="draws")
    for seed in range(draws):
        _measure_draw(embedded, shots, seed, found, cancel or CancelToken())
        meter.advance()
    return found


def _measure_draw(
    embedded: EmbeddedCollection, shots: int, seed: int, found: Measured, cancel: CancelToken
) -> None:
    graph = embedded.collection.graph
    images = images_of(embedded, drawn_rows(embedded, shots, seed))
    means = ClassMeans(graph, images)
    ranking = ParentRanking(means)
    check = check_placements(means, ranking, cancel.raise_if_cancelled)
    found.trust.append(check.trust)
    found.edges += asked_edges(means, ranking, check)
    found.roots += roots_suggested(means, ranking, check)
    found.strangers += strangers(images, graph, check, MOST_PLANTED, seed)
    cancel.raise_if_cancelled()
    twice = images_of(embedded, drawn_rows(embedded, 2 * shots, seed))
    kinds: dict[str, Callable[[], Planted]] = {
        "stray": lambda: planted_strays(images, graph, MOST_PLANTED, seed),
        "twins": lambda: planted_twins(twice, graph),
        "mixed with a sibling": lambda: planted_mixed(
            images, twice, graph, seed, are_siblings=True
        ),
        "mixed with another class": lambda: planted_mixed(
            images, twice, graph, seed, are_siblings=False
        ),
    }
    for name, measure in kinds.items():
        cancel.raise_if_cancelled()
        found.planted[name] = found.planted.get(name, Planted()) + measure()
    cancel.raise_if_cancelled()
    found.helped += helped_classes(embedded, seed, MOST_HELPED)
