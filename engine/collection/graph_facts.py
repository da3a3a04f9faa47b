"""What a drawing of the graph shows beside the classes: attention weights, faces, and how much is decided."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from engine.collection.state import NO_CLASS, CollectionState
from engine.everyday.classifier import FittedClassifier, Inheritance
from engine.graph.category_graph import CategoryGraph, ClassId

FACES: Final = 6
"""Images that a class is shown by, at most: what a card has room for."""


@dataclass(frozen=True)
class GraphFacts:
    """What is known of the classes and edges of a graph."""

    # attention weight of each edge (parent, child) that something is propagated over (Eq. 5).
    weights: Mapping[tuple[ClassId, ClassId], float] = field(default_factory=dict)
    # weight of its own shots in the prototype of each class that has one (lambda, Eq. 6).
    own_shares: Mapping[ClassId, float] = field(default_factory=dict)
    # shots of each class, or of those below it in turn; none for a class that has none
    faces: Mapping[ClassId, tuple[int, ...]] = field(default_factory=dict)
    # share of the images labelled or predicted at each class or below that are decided: labelled by a person, or with
    # the likeliest leaf as their safe class
    decided: Mapping[ClassId, float] = field(default_factory=dict)


def graph_facts(fitted: FittedClassifier | None, graph: CategoryGraph, state: CollectionState) -> GraphFacts:
    """Collect them."""
    inherits = Inheritance() if fitted is None else fitted.inheritance
    return GraphFacts(inherits.edge_weights, inherits.own_shares, faces(graph, state), decided_shares(graph, state))


def faces(graph: CategoryGraph, state: CollectionState, most: int = FACES) -> dict[ClassId, tuple[int, ...]]:
    """Shots of each class: its own, then one of each child in turn, then another of each."""
    found = _own_faces(graph, state, most)
    above = {parent for class_id in found for parent in graph.ancestors(class_id)}
    for class_id in sorted(above, key=graph.level, reverse=True):
        own = found.get(class_id, ())
        below = [found[child] for child in graph.children(class_id) if child in found]
        found[class_id] = tuple(dict.fromkeys((*own, *_in_turn(below, most))))[:most]
    return found


def _own_faces(graph: CategoryGraph, state: CollectionState, most: int) -> dict[ClassId, tuple[int, ...]]:
    """The first shots of each class itself."""
    labelled = np.flatnonzero(state.label_class >= 0)
    order = labelled[np.argsort(state.label_class[labelled], kind="stable")]
    classes, first = np.unique(state.label_class[order], return_index=True)
    groups = np.split(state.image_ids[order], first[1:])
    pairs = zip(classes.tolist(), groups, strict=True) if len(classes) else ()
    return {class_id: tuple(ids[:most].tolist()) for class_id, ids in pairs if class_id in graph}


def _in_turn(groups: Iterable[tuple[int, ...]], most: int) -> list[int]:
    """The first of each group, then the second of each, and so on."""
    several = list(groups)[: 4 * most]
    turns = (group[turn] for turn in range(most) for group in several if turn < len(group))
    return [image for image, _ in zip(turns, range(2 * most), strict=False)]


def decided_shares(graph: CategoryGraph, state: CollectionState) -> dict[ClassId, float]:
    """Share of the images at each class or below that are decided; no entry for a class without images."""
    is_labelled = state.label_class >= 0
    shown = np.where(is_labelled, state.label_class, np.where(state.is_unknown, NO_CLASS, state.best_class))
    is_decided = is_labelled | (state.safe_class == state.best_class)
    seen, decided = Counter[int](), Counter[int]()
    classes, place = np.unique(shown, return_inverse=True)
    totals = np.bincount(place, minlength=len(classes))
    sure = np.bincount(place, weights=is_decided, minlength=len(classes)).astype(np.int64)
    for class_id, total, count in zip(classes.tolist(), totals.tolist(), sure.tolist(), strict=True):
        if class_id < 0 or class_id not in graph:
            continue
        for above in (class_id, *graph.ancestors(class_id)):
            seen[above] += total
            decided[above] += count
    return {class_id: decided[class_id] / total for class_id, total in seen.items()}
