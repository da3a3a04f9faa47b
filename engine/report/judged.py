"""Predictions beside their truth: for each image what is right at every level, in blocks of images.

A truth may be a coarse class. Whether a prediction below it is right nobody knows, so such images are left out where
they cannot be judged.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.collection.classify import Classified
from engine.collection.state import NO_CLASS, UNKNOWN
from engine.everyday.back_off import BackOff
from engine.everyday.blocks import BLOCK_ROWS
from engine.everyday.classifier import FittedClassifier, ProjectClassifier
from engine.everyday.scores import HeldOutShots
from engine.graph.category_graph import CategoryGraph

TOP: Final = 5
RIGHT: Final = 1
WRONG: Final = 0
UNDECIDED: Final = -1
"""The truth is a coarse class, and the prediction lies below it."""
Integers = NDArray[np.int64]
Floats = NDArray[np.float32]
Verdicts = NDArray[np.int8]  # `RIGHT`, `WRONG` or `UNDECIDED`


@dataclass(frozen=True)
class Judged:
    """n images with a truth; L levels of the graph."""

    image_ids: Integers  # (n,)
    answers: Integers  # (n,) the true class, `UNKNOWN` for none of the classes
    best: Integers  # (n,) the most probable leaf
    score: Floats  # (n,) its probability
    in_top: Verdicts  # (n,) whether the truth is among the five most probable leaves
    is_unknown: NDArray[np.bool_]  # (n,)
    safe: Integers  # (n,) the safe class, `NO_CLASS` without one
    levels: Verdicts  # (n, L) the class of the largest sum at each level; leaves that end above stand for themselves
    coarse_mass: Floats  # (n, L) largest sum among the classes above leaves at each level; 0 where there is none
    coarse: Verdicts  # (n, L) of these
    leaf_may_be_named: NDArray[np.bool_]  # (n,) whether policies let the best leaf be a safe class
    top1: Verdicts  # (n,) the best leaf
    safe_right: Verdicts  # (n,) the safe class, meaningless without one

    @property
    def predicted(self) -> Integers:
        """(n,) the best leaf, or `UNKNOWN`."""
        return np.where(self.is_unknown, UNKNOWN, self.best)

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """(n,) whether the truth is a class."""
        return self.answers != UNKNOWN

    def at(self, places: Integers) -> "Judged":
        """Some of the images."""
        return Judged(*(array[places] for array in vars(self).values()))


def judge_held_out(
    graph: CategoryGraph,
    fitted: ProjectClassifier,
    held_out: HeldOutShots,
    groups: Mapping[int, int] | None = None,
) -> tuple[Judged, int]:
    """Labels that were held out, each in turn, beside what the model then said.

    Args:
        graph: the classes; labels and candidates that are gone from it are left out.
        fitted: its candidates and bars.
        held_out: its answers.
        groups: by image id the number of its group of near-duplicates. A held-out label with a labelled image in its
            group is left out: the model has learned from its twin.

    Returns:
        The judged images, and how many were left out because of a twin.
    """
    labels = held_out.class_ids
    is_there = np.array([label in graph for label in labels.tolist()], dtype=bool)
    has_twin = _has_twin(held_out.image_ids, fitted.shots.image_ids, groups or {})
    places = np.flatnonzero(is_there & ~has_twin)
    judge = _Judge(graph, fitted)
    parts = [
        judge.block(
            held_out.image_ids[part],
            labels[part],
            held_out.probabilities[part],
            np.zeros(len(part), dtype=bool),
        )
        for part in _blocks(places)
    ]
    return _joined(parts), int((is_there & has_twin).sum())


def judge_truth(
    graph: CategoryGraph,
    classified: Classified,
    rows: Integers,
    answers: Integers,
    on_block: Callable[[int], None] = lambda _done: None,
) -> Judged:
    """Predictions at rows (n,) beside the true classes (n,), `NO_CLASS` for none of the classes."""
    judge, parts, done = _Judge(graph, classified.fitted), [], 0
    is_unknown = classified.fitted.is_unknown(classified.scores)
    answers = np.where(answers == NO_CLASS, UNKNOWN, answers)
    for places in _blocks(np.arange(len(rows))):
        part = rows[places]
        chances = classified.probabilities(part)
        parts.append(
            judge.block(classified.image_ids[part], answers[places], chances, is_unknown[part])
        )
        done += len(part)
        on_block(done)
    return _joined(parts)


def _blocks(places: Integers) -> Iterator[Integers]:
    for start in range(0, len(places), BLOCK_ROWS):
        yield places[start : start + BLOCK_ROWS]


def _has_twin(
    image_ids: Integers, labelled: Integers, groups: Mapping[int, int]
) -> NDArray[np.bool_]:
    members: dict[int, int] = {}
    for image_id in labelled.tolist():
        if (group := groups.get(image_id)) is not None:
            members[group] = members.get(group, 0) + 1
    return np.array(
        [members.get(groups.get(each, -1), 0) > 1 for each in image_ids.tolist()], dtype=bool
    )


@dataclass(frozen=True)
class _Level:
    """Classes of one level, with the columns of the candidates below them."""

    classes: Integers  # (k,)
    starts: Integers  # (k,) where the columns of each begin
    columns: Integers

    def best(self, chances: Floats) -> tuple[Integers, Floats]:
        """The class (b,) of the largest sum of each image, and the sum (b,)."""
        sums = np.add.reduceat(chances[:, self.columns], self.starts, axis=1)
        best = sums.argmax(axis=1)
        return self.classes[best], np.take_along_axis(sums, best[:, None], axis=1)[:, 0]


def _level(members: list[tuple[int, int]]) -> _Level | None:
    if not members:
        return None
    classes, columns = np.array(sorted(members), dtype=np.int64).T
    starts = np.flatnonzero(np.r_[True, classes[1:] != classes[:-1]])
    return _Level(classes[starts], starts, columns)


class _Judge:
    """Knows the graph's levels over the candidates of a model."""

    def __init__(self, graph: CategoryGraph, fitted: FittedClassifier) -> None:
        self._graph = graph
        self._candidates = fitted.candidate_ids
        self._rules: BackOff = fitted.back_off
        self._levels, self._coarse = self._lay_out()
        self._above: dict[int, frozenset[int]] = {}

    def _lay_out(self) -> tuple[list[_Level | None], list[_Level | None]]:
        at: dict[int, list[tuple[int, int]]] = {}
        coarse_at: dict[int, list[tuple[int, int]]] = {}
        may_be_named, graph = set(self._rules.coarse_ids.tolist()), self._graph
        ends: dict[int, list[tuple[int, int]]] = {}
        for column, candidate in enumerate(self._candidates.tolist()):
            if candidate not in graph:
                continue
            ends.setdefault(graph.level(candidate), []).append((candidate, column))
            at.setdefault(graph.level(candidate), []).append((candidate, column))
            for class_id in graph.ancestors(candidate):
                at.setdefault(graph.level(class_id), []).append((class_id, column))
                if class_id in may_be_named:
                    coarse_at.setdefault(graph.level(class_id), []).append((class_id, column))
        levels, ended = list[_Level | None](), list[tuple[int, int]]()
        for level in range(max(at, default=-1) + 1):
            levels.append(_level([*at.get(level, []), *ended]))
            ended += ends.get(level, [])
        return levels, [_level(coarse_at.get(level, [])) for level in range(len(levels))]

    def block(
        self, image_ids: Integers, answers: Integers, chances: Floats, is_unknown: NDArray[np.bool_]
    ) -> Judged:
        best = chances.argmax(axis=1)
        score = np.take_along_axis(chances, best[:, None], axis=1)[:, 0]
        safe, _ = self._rules.decide(best, score, chances @ self._rules.roll_up)
        safe = np.where(is_unknown, NO_CLASS, safe)
        shape = (len(answers), len(self._levels))
        levels, coarse = np.full(shape, WRONG, dtype=np.int8), np.full(shape, WRONG, dtype=np.int8)
        mass = np.zeros(shape, dtype=np.float32)
        for place, (every, above) in enumerate(zip(self._levels, self._coarse, strict=True)):
            if every is not None:
                levels[:, place] = self.verdicts(every.best(chances)[0], answers)
            if above is not None:
                chosen, mass[:, place] = above.best(chances)
                coarse[:, place] = self.verdicts(chosen, answers)
        leaf = self._candidates[best]
        top1 = self.verdicts(leaf, answers, or_above=False)
        in_top = np.where(top1 == UNDECIDED, UNDECIDED, self._in_top(chances, answers)).astype(
            np.int8
        )
        may_be_named = np.isfinite(self._rules.candidate_bars)[best]
        return Judged(
            image_ids, answers, leaf, score, in_top, is_unknown, safe, levels, mass, coarse, may_be_named, top1,
            self.verdicts(safe, answers),
        )  # fmt: skip

    def _in_top(self, chances: Floats, answers: Integers) -> NDArray[np.bool_]:
        count = min(TOP, chances.shape[1])
        best = np.argpartition(-chances, count - 1, axis=1)[:, :count]
        return (self._candidates[best] == answers[:, None]).any(axis=1)

    def verdicts(self, classes: Integers, answers: Integers, *, or_above: bool = True) -> Verdicts:
        """Whether classes (b,) are the true ones (b,) or lie above them."""
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

    def _ancestors(self, class_id: int) -> frozenset[int]:
        if class_id not in self._above:
            self._above[class_id] = (
                self._graph.ancestors(class_id) if class_id in self._graph else frozenset()
            )
        return self._above[class_id]


def _joined(parts: list[Judged]) -> Judged:
    if not parts:
        return NOTHING_JUDGED
    return Judged(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in vars(parts[0]))
    )


def _none() -> Judged:
    ids, few, flags = (
        np.zeros(0, dtype=np.int64),
        np.zeros(0, dtype=np.int8),
        np.zeros(0, dtype=bool),
    )
    scores, masses, table = (np.zeros(shape, dtype=np.float32) for shape in ((0,), (0, 0), (0, 0)))
    levels = table.astype(np.int8)
    return Judged(ids, ids, ids, scores, few, flags, ids, levels, masses, levels, flags, few, few)


NOTHING_JUDGED: Final = _none()
