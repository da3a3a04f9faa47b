"""Predictions compared with ground truth, for each image at every level of the graph.

The ground truth may be a coarse class. Whether a prediction below it is right cannot be decided;
figures leave out such images.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Flags, Floats, Integers, no_flags, no_integers
from engine.collection.classify import Classified
from engine.collection.state import NO_CLASS, UNKNOWN
from engine.everyday.back_off import BackOff
from engine.everyday.blocks import BLOCK_ROWS
from engine.everyday.classifier import FittedClassifier, ProjectClassifier
from engine.everyday.scores import HeldOutShots
from engine.graph.category_graph import CategoryGraph

TOP = 5
RIGHT = 1
WRONG = 0
UNDECIDED = -1
"""The ground truth is a coarse class, and the prediction a class below it."""
Verdicts = NDArray[np.int8]  # `RIGHT`, `WRONG` or `UNDECIDED`


@dataclass(frozen=True)
class Judged:
    """Verdicts on n images with ground truth; L levels of the graph."""

    image_ids: Integers  # (n,)
    answers: Integers  # (n,) the true class, `UNKNOWN` for none of the classes
    best: Integers  # (n,) the most probable leaf
    score: Floats  # (n,) its probability
    in_top: Verdicts  # (n,) whether the truth is among the five most probable leaves
    is_unknown: Flags  # (n,)
    safe: Integers  # (n,) the safe class, or `NO_CLASS`
    levels: Verdicts  # (n, L) class with the largest sum; leaves of upper levels count as they are
    coarse_mass: Floats  # (n, L) largest sum among the classes above leaves; 0 if there is none
    coarse: Verdicts  # (n, L) verdicts on these classes
    leaf_may_be_named: Flags  # (n,) whether policies allow the best leaf as safe class
    top1: Verdicts  # (n,) the best leaf
    safe_right: Verdicts  # (n,) the safe class; undefined without one

    @property
    def predicted(self) -> Integers:
        """(n,) the best leaf, or `UNKNOWN`."""
        return np.where(self.is_unknown, UNKNOWN, self.best)

    @property
    def is_known(self) -> Flags:
        """(n,) whether the ground truth is a class."""
        return self.answers != UNKNOWN

    def at(self, places: Integers) -> "Judged":
        """Select images."""
        return Judged(*(array[places] for array in vars(self).values()))


def judge_held_out(
    graph: CategoryGraph, fitted: ProjectClassifier, held_out: HeldOutShots
) -> Judged:
    """Compare held-out labels with the predictions of the model that was fitted without them.

    Labels whose class was removed from the graph are left out.
    """
    labels = held_out.class_ids
    places = np.flatnonzero([label in graph for label in labels.tolist()])
    judge = Judge(graph, fitted)
    return _joined(
        judge.block(
            held_out.image_ids[part],
            labels[part],
            held_out.probabilities[part],
            np.zeros(len(part), dtype=bool),
        )
        for part in _blocks(places)
    )


def judge_truth(
    graph: CategoryGraph, classified: Classified, rows: Integers, answers: Integers
) -> Judged:
    """Compare predictions at rows (n,) with true classes (n,), `NO_CLASS` for none of them."""
    judge = Judge(graph, classified.fitted)
    is_unknown = classified.fitted.is_unknown(classified.scores)
    answers = np.where(answers == NO_CLASS, UNKNOWN, answers)
    return _joined(
        judge.block(
            classified.image_ids[rows[part]],
            answers[part],
            classified.probabilities(rows[part]),
            is_unknown[rows[part]],
        )
        for part in _blocks(np.arange(len(rows)))
    )


def _blocks(places: Integers) -> Iterator[Integers]:
    for start in range(0, len(places), BLOCK_ROWS):
        yield places[start : start + BLOCK_ROWS]


@dataclass(frozen=True)
class _Level:
    """Classes of one level, with the columns of the candidates below them."""

    classes: Integers  # (k,)
    starts: Integers  # (k,) where the columns of each begin
    columns: Integers

    def best(self, chances: Floats) -> tuple[Integers, Floats]:
        """The class (b,) with the largest sum for each image, and the sum (b,)."""
        sums = np.add.reduceat(chances[:, self.columns], self.starts, axis=1)
        best = sums.argmax(axis=1)
        return self.classes[best], np.take_along_axis(sums, best[:, None], axis=1)[:, 0]


def _level(members: list[tuple[int, int]]) -> _Level | None:
    """A level of classes and columns; None without any."""
    if not members:
        return None
    classes, columns = np.array(sorted(members), dtype=np.int64).T
    starts = np.flatnonzero(np.r_[True, classes[1:] != classes[:-1]])
    return _Level(classes[starts], starts, columns)


class Judge:
    """Judges blocks of images by the levels of the graph over the candidates of a model."""

    def __init__(self, graph: CategoryGraph, fitted: FittedClassifier) -> None:
        self._graph = graph
        self._candidates = fitted.candidate_ids
        self._rules: BackOff = fitted.back_off
        self._levels, self._coarse = self._make_levels()
        self._ancestors = cache(self._uncached_ancestors)

    def _make_levels(self) -> tuple[list[_Level | None], list[_Level | None]]:
        """All classes of each level, and of these the ones above leaves that may be named."""
        graph, may_be_named = self._graph, set(self._rules.coarse_ids.tolist())
        candidates = [
            (column, each) for column, each in enumerate(self._candidates.tolist()) if each in graph
        ]
        depth = 1 + max((graph.level(each) for _, each in candidates), default=-1)
        levels, coarse, ends = ([list[tuple[int, int]]() for _ in range(depth)] for _ in range(3))
        for column, candidate in candidates:
            ends[graph.level(candidate)].append((candidate, column))
            for class_id in graph.ancestors(candidate):
                levels[graph.level(class_id)].append((class_id, column))
                if class_id in may_be_named:
                    coarse[graph.level(class_id)].append((class_id, column))
        for level in range(depth):
            levels[level] += [each for above in ends[: level + 1] for each in above]
        return list(map(_level, levels)), list(map(_level, coarse))

    def block(
        self, image_ids: Integers, answers: Integers, chances: Floats, is_unknown: Flags
    ) -> Judged:
        best = chances.argmax(axis=1)
        score = np.take_along_axis(chances, best[:, None], axis=1)[:, 0]
        safe, _ = self._rules.decide(best, score, chances @ self._rules.roll_up)
        safe = np.where(is_unknown, NO_CLASS, safe)
        levels, _ = self._by_level(self._levels, chances, answers)
        coarse, mass = self._by_level(self._coarse, chances, answers)
        leaf = self._candidates[best]
        top1 = self.verdicts(leaf, answers, or_above=False)
        in_top = np.where(top1 == UNDECIDED, top1, self.in_top(chances, answers))
        may_be_named = np.isfinite(self._rules.candidate_bars)[best]
        return Judged(
            image_ids,
            answers,
            leaf,
            score,
            in_top,
            is_unknown,
            safe,
            levels,
            mass,
            coarse,
            may_be_named,
            top1,
            self.verdicts(safe, answers),
        )

    def levels(self, chances: Floats, answers: Integers) -> Verdicts:
        """(b, L) verdicts on the class with the largest sum at each level."""
        return self._by_level(self._levels, chances, answers)[0]

    def _by_level(
        self, levels: Sequence[_Level | None], chances: Floats, answers: Integers
    ) -> tuple[Verdicts, Floats]:
        """Verdicts (b, L) on the best classes, and their sums (b, L); 0 without classes."""
        shape = (len(answers), len(levels))
        found, sums = np.full(shape, WRONG, dtype=np.int8), np.zeros(shape, dtype=np.float32)
        for place, level in enumerate(levels):
            if level is not None:
                chosen, sums[:, place] = level.best(chances)
                found[:, place] = self.verdicts(chosen, answers)
        return found, sums

    def in_top(self, chances: Floats, answers: Integers) -> Verdicts:
        """(b,) whether the true class is among the `TOP` most probable leaves."""
        count = min(TOP, chances.shape[1])
        best = np.argpartition(-chances, count - 1, axis=1)[:, :count]
        return (self._candidates[best] == answers[:, None]).any(axis=1).astype(np.int8)

    def verdicts(self, classes: Integers, answers: Integers, *, or_above: bool = True) -> Verdicts:
        """Judge classes (b,) by the true ones (b,); an ancestor of the true class is right."""
        pairs, at = np.unique(np.stack((classes, answers), axis=1), axis=0, return_inverse=True)
        found = [
            self._verdict(class_id, answer, or_above=or_above)
            for class_id, answer in pairs.tolist()
        ]
        return np.array(found, dtype=np.int8)[at.reshape(-1)]

    def _verdict(self, class_id: int, answer: int, *, or_above: bool) -> int:
        if class_id == answer or (or_above and class_id in self._ancestors(answer)):
            return RIGHT
        return UNDECIDED if answer in self._ancestors(class_id) else WRONG

    def _uncached_ancestors(self, class_id: int) -> frozenset[int]:
        return self._graph.ancestors(class_id) if class_id in self._graph else frozenset()


def _joined(blocks: Iterator[Judged]) -> Judged:
    parts = list(blocks)
    if not parts:
        return NOTHING_JUDGED
    return Judged(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in vars(parts[0]))
    )


def _none() -> Judged:
    ids, scores = no_integers(), np.zeros(0, dtype=np.float32)
    few, flags = np.zeros(0, dtype=np.int8), no_flags()
    levels, masses = few.reshape(0, 0), scores.reshape(0, 0)
    return Judged(ids, ids, ids, scores, few, flags, ids, levels, masses, levels, flags, few, few)


NOTHING_JUDGED = _none()
