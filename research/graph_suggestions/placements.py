"""Removed edges to predict, unrelated classes, and misplaced classes."""

from dataclasses import dataclass
from math import comb

import numpy as np

from engine.collection.graph_suggestions.class_means import ClassMeans, LabelledVectors
from engine.collection.graph_suggestions.find import LEAST_SCORE
from engine.collection.graph_suggestions.parents import (
    OF_FIRST,
    ParentRanking,
    PlacementCheck,
    Stray,
    branches_of,
    check_placements,
    find_strays,
)
from engine.errors import GraphError
from engine.graph.category_graph import CategoryGraph
from research.graph_suggestions.drawn import only

FURTHEST = 3
"""Distances in the graph that are reported separately."""
FAR = 99
"""Stands for a larger or infinite distance."""


@dataclass(frozen=True)
class AskedEdge:
    """A removed edge.

    Attributes:
        is_leaf: whether its lower end is a leaf.
        has_answer: whether the parent has images without the child's.
        first: steps from the parent to the first suggestion; `FAR` without one.
        nearest: steps from the parent to the nearest of the first three.
        chance_first, chance_three: (FURTHEST + 1,) probability of random guesses within 0, 1, ...
            steps.
        score: of the first suggestion, by the program.
    """

    is_leaf: bool
    has_answer: bool
    first: int
    nearest: int
    chance_first: tuple[float, ...]
    chance_three: tuple[float, ...]
    score: float


def asked_edges(
    means: ClassMeans, ranking: ParentRanking, check: PlacementCheck
) -> list[AskedEdge]:
    """Remove each edge in turn, and request suggestions of the parent."""
    found = []
    for parent, child in means.graph.edges():
        if child not in means:
            continue
        ranked = ranking.rank(child, (parent,))
        steps = _steps_from(means.graph, parent)
        away = [steps.get(one.class_id, FAR) for one in ranked[:OF_FIRST]] or [FAR]
        pool = [steps.get(each, FAR) for each in _possible(means, parent, child)]
        within = [sum(step <= most for step in pool) for most in range(FURTHEST + 1)]
        found.append(
            AskedEdge(
                not means.graph.children(child),
                0 in pool,
                away[0],
                min(away),
                tuple(_by_chance(len(pool), each, 1) for each in within),
                tuple(_by_chance(len(pool), each, OF_FIRST) for each in within),
                ranked[0].score * check.trust if ranked else 0.0,
            )
        )
    return found


def strangers(
    images: LabelledVectors, graph: CategoryGraph, check: PlacementCheck, most: int, seed: int
) -> list[float]:
    """Score of the first suggestion for leaves whose branch is missing: none would be right.

    Args:
        images: the labelled images.
        graph: of the classes.
        check: calibration of scores.
        most: number of leaves.
        seed: of the draw.
    """
    means = ClassMeans(graph, images)
    branches = dict(zip(means.labelled.tolist(), branches_of(means), strict=True))
    chosen = np.random.default_rng(seed).permutation(means.labelled)[:most].tolist()
    scores = []
    for class_id in chosen:
        kept = [
            each
            for each, branch in branches.items()
            if each == class_id or branch.isdisjoint(branches[class_id])
        ]
        if len(kept) == 1:
            continue
        without = ClassMeans(graph, only(images, np.isin(images.class_ids, kept)))
        ranked = ParentRanking(without).rank(class_id, graph.parents(class_id))
        # The ancestors of the class have images of other branches only, and would be right.
        line = graph.ancestors(class_id)
        scores.append(
            next((check.trust * one.score for one in ranked if one.class_id not in line), 0.0)
        )
    return scores


def roots_suggested(
    means: ClassMeans, ranking: ParentRanking, check: PlacementCheck
) -> list[float]:
    """Score of the first suggestion for each class of the top level, where none would be right."""
    ranked = [ranking.rank(each) for each in means.graph.roots() if each in means]
    return [check.trust * each[0].score if each else 0.0 for each in ranked]


@dataclass(frozen=True)
class Planted:
    """Planted faults, and suggestions for classes without any.

    Attributes:
        planted: faults.
        found: of these, suggested.
        right: of these, with the right remedy.
        untouched: classes (or edges) without a fault.
        flagged: of these, suggested.
    """

    planted: int = 0
    found: int = 0
    right: float = 0.0
    untouched: int = 0
    flagged: int = 0

    def __add__(self, other: "Planted") -> "Planted":
        return Planted(
            *(
                mine + others
                for mine, others in zip(vars(self).values(), vars(other).values(), strict=True)
            )
        )


def planted_strays(images: LabelledVectors, graph: CategoryGraph, most: int, seed: int) -> Planted:
    """Move leaves below a random parent, one at a time, and check whether they are suggested."""
    whole = ClassMeans(graph, images)
    as_it_is = len(_strays(whole))
    generator = np.random.default_rng(seed)
    planted = found = right = 0
    for class_id in generator.permutation([each for each in graph.leaves() if each in whole])[
        :most
    ].tolist():
        moved, true_parent = _moved(whole, class_id, generator)
        if moved is None:
            continue
        planted += 1
        line = graph.ancestors(true_parent) | graph.descendants(true_parent) | {true_parent}
        suggested = [
            each for each in _strays(ClassMeans(moved, images)) if each.class_id == class_id
        ]
        found += bool(suggested)
        right += bool(suggested) and suggested[0].to_parent in line
    return Planted(planted, found, right, graph.edge_count, as_it_is)


def _strays(means: ClassMeans) -> tuple[Stray, ...]:
    ranking = ParentRanking(means)
    return find_strays(means, ranking, trust=check_placements(means, ranking).trust)


def _moved(
    means: ClassMeans, class_id: int, generator: np.random.Generator
) -> tuple[CategoryGraph | None, int]:
    """The graph with a class below a random other parent with images; None if there is none."""
    graph = means.graph
    parent = graph.parents(class_id)[0] if graph.parents(class_id) else None
    if parent is None:
        return None, 0
    line = graph.ancestors(class_id) | {class_id}
    places = [
        each
        for each in graph.classes()
        if graph.children(each) and each in means and each not in line
    ]
    for place in generator.permutation(places)[:FURTHEST].tolist():
        moved = graph.copy()
        try:
            moved.move(class_id, parent, place)
        except GraphError:
            continue
        return moved, parent
    return None, parent


def _possible(means: ClassMeans, parent: int, child: int) -> list[int]:
    """Candidate parents: with images of their own, and no ancestor or descendant of the child."""
    graph = means.graph
    others = [each for each in graph.parents(child) if each != parent]
    taken = (graph.descendants(child) | {child}).union(
        *(graph.ancestors(each) | {each} for each in others)
    )
    count = means.image_count(child)
    above = graph.ancestors(child)
    return [
        each
        for each in graph.classes()
        if graph.children(each)
        and each in means
        and each not in taken
        and (each not in above or means.image_count(each) > count)
    ]


def _steps_from(graph: CategoryGraph, start: int) -> dict[int, int]:
    """Steps along edges, up or down, to the classes at most `FURTHEST` away."""
    steps = {start: 0}
    waiting = [start]
    for class_id in waiting:
        if steps[class_id] == FURTHEST:
            continue
        for near in (*graph.parents(class_id), *graph.children(class_id)):
            if near not in steps:
                steps[near] = steps[class_id] + 1
                waiting.append(near)
    return steps


def _by_chance(count: int, right: int, guesses: int) -> float:
    """Probability that one of several distinct random guesses is right."""
    guesses = min(guesses, count)
    return 1 - comb(count - right, guesses) / comb(count, guesses) if count else 0.0


def is_shown(score: float) -> bool:
    """Whether the program would show the suggestion."""
    return score >= LEAST_SCORE
