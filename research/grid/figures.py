"""Figures of the grid: tuned on validation classes; intervals over tasks, seeds and splits."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.errors import InputError
from research.grid.result import GridResult, TriedChoice

RESAMPLES = 2000
BOOTSTRAP_SEED = 2019
AUTHORS: Mapping[str, str] = {"paper-tuned": "paper-on-test", "plus-tuned": "plus-on-test"}
"""Rows also tuned on test tasks, as in the authors' code, with their names then."""
Column = tuple[int, int]
Shares = NDArray[np.float64]
T = TypeVar("T")


@dataclass(frozen=True)
class MeanFigure:
    """Mean over splits, seeds and tasks, in [0, 1], with its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half width of the interval."""
        return (self.high - self.low) / 2


@dataclass(frozen=True)
class RowFigures:
    """A test of a method in one column, by the candidate chosen on validation.

    Attributes:
        method: trained method.
        test: kind of test.
        choice: the candidate that did best on validation tasks, on the mean over all splits and
            seeds.
        validation: its mean accuracy there.
        accuracies: (T,) of each (split, seed).
        tasks: checksum of the tasks of each (split, seed).
        by_parent: mean accuracy on test classes with a parent seen in training, and on the others;
            None without any.
        distance: mean number of edges between the right and the given class of wrong predictions.
        by_class: mean accuracy on each test class, by its id, over all splits and seeds that have
            it.
    """

    method: str
    test: str
    choice: str
    accuracies: Mapping[tuple[int, int], Shares]
    tasks: Mapping[tuple[int, int], str]
    by_parent: tuple[float | None, float | None] = (None, None)
    distance: float = 0.0
    by_class: Mapping[str, float] = field(default_factory=dict)
    validation: float = 0.0

    @property
    def name(self) -> str:
        """Name of the row, such as `ppn/posterior`."""
        return f"{self.method}/{self.test}"

    @property
    def figure(self) -> MeanFigure:
        """Mean accuracy."""
        return bootstrapped(self.accuracies)

    def minus(self, other: "RowFigures") -> MeanFigure:
        """Difference in accuracy to another row on the same tasks, in [-1, 1].

        Raises:
            InputError: they were tested on different tasks, or on none that both have.
        """
        common = sorted(self.tasks.keys() & other.tasks.keys())
        different = [key for key in common if self.tasks[key] != other.tasks[key]]
        if different or not common:
            raise InputError(
                f"'{self.name}' and '{other.name}' cannot be compared task by task",
                expected="the same tasks of the same splits",
                found="different ones" if different else "no split and seed that both have",
                remedy="test both again on the same data sets",
            )
        return bootstrapped({key: self.accuracies[key] - other.accuracies[key] for key in common})


def bootstrapped(values: Mapping[tuple[int, int], Shares]) -> MeanFigure:
    """Mean and interval of values (T,) of each (split, seed), by a hierarchical bootstrap.

    Splits are drawn with replacement, seeds within each drawn split, tasks within each drawn seed;
    a level with one member adds no variance, so that the interval of a single split is too narrow.
    """
    splits: dict[int, list[Shares]] = {}
    for (split, _), of_tasks in sorted(values.items()):
        splits.setdefault(split, []).append(of_tasks)
    members = list(splits.values())
    mean = float(np.mean([np.mean([each.mean() for each in seeds]) for seeds in members]))
    most, tasks = max(map(len, members)), len(members[0][0])
    drawn_splits, drawn_seeds, drawn_tasks = _draws(len(members), most, tasks)
    counts = np.array([len(seeds) for seeds in members])
    firsts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    every = np.stack([each for seeds in members for each in seeds], axis=1)
    total, resamples = np.zeros(RESAMPLES), np.arange(RESAMPLES)
    for slot in range(len(members)):
        drawn = drawn_splits[:, slot]
        of_slot = np.zeros(RESAMPLES)
        for each in range(most):
            seed = (drawn_seeds[each, :, slot] * counts[drawn]).astype(np.int64)
            means = (drawn_tasks[slot * most + each] @ every)[resamples, firsts[drawn] + seed]
            of_slot += np.where(each < counts[drawn], means, 0.0)
        total += of_slot / counts[drawn]
    low, high = np.quantile(total / len(members), (0.025, 0.975))
    return MeanFigure(mean, float(low), float(high))


@lru_cache(maxsize=4)
def _draws(
    splits: int, seeds: int, tasks: int
) -> tuple[NDArray[np.int64], Shares, tuple[Shares, ...]]:
    """Resampling indices and weights, the same for all figures of the same shape.

    Returns:
        Split (R, splits) of each slot, share in [0, 1) of the seeds (seeds, R, splits) that is
        drawn for each, and for each slot of split and seed the relative frequency of each task
        (R, tasks).
    """
    generator = np.random.default_rng(BOOTSTRAP_SEED)
    of_splits = generator.integers(splits, size=(RESAMPLES, splits))
    of_seeds = generator.random((seeds, RESAMPLES, splits))
    even = np.full(tasks, 1 / tasks)
    of_tasks = tuple(
        generator.multinomial(tasks, even, size=RESAMPLES) / tasks for _ in range(splits * seeds)
    )
    return of_splits, of_seeds, of_tasks


def rows_in(results: Sequence[GridResult], variant: str, column: Column) -> tuple[RowFigures, ...]:
    """All tests of all methods in one column of a variant, by candidates chosen on validation."""
    found: dict[tuple[str, str], list[GridResult]] = {}
    for result in results:
        if result.variant == variant and column in result.columns:
            for test in result.columns[column].rows:
                found.setdefault((result.method, test), []).append(result)
    rows = [_row(method, test, each, column) for (method, test), each in found.items()]
    rows += [
        _row(method, test, each, column, on_test=True)
        for (method, test), each in found.items()
        if test in AUTHORS
    ]
    return tuple(rows)


def _row(
    method: str, test: str, results: Sequence[GridResult], column: Column, *, on_test: bool = False
) -> RowFigures:
    tried = [
        {each.choice: each for each in result.columns[column].rows[test]} for result in results
    ]
    known = [choice for choice in tried[0] if all(choice in each for each in tried)]

    def goodness(choice: str) -> float:
        return float(
            np.mean(
                [each[choice].hits.mean() if on_test else each[choice].validation for each in tried]
            )
        )

    best = max(known, key=goodness)
    test = AUTHORS[test] if on_test else test
    pairs = [(result, of_result[best]) for result, of_result in zip(results, tried, strict=True)]
    keys = [(result.split, result.seed) for result in results]
    accuracies = [chosen.hits / result.columns[column].queries for result, chosen in pairs]
    return RowFigures(
        method,
        test,
        best,
        dict(zip(keys, accuracies, strict=True)),
        dict(zip(keys, (result.columns[column].tasks for result in results), strict=True)),
        _by_parent(pairs, column),
        float(np.mean([chosen.distance for _, chosen in pairs])),
        _by_class(pairs, column),
        float(np.mean([chosen.validation for _, chosen in pairs])),
    )


_Pairs = Sequence[tuple[GridResult, TriedChoice]]


def _by_parent(pairs: _Pairs, column: Column) -> tuple[float | None, float | None]:
    """Accuracy on test classes with a parent seen in training, and on the others."""
    hits, asked = Counter[bool](), Counter[bool]()
    for result, chosen in pairs:
        hits.update(_summed(result.has_seen_parent, chosen.class_hits))
        asked.update(_summed(result.has_seen_parent, result.columns[column].class_queries))
    seen, unseen = (hits[kind] / asked[kind] if asked[kind] else None for kind in (True, False))
    return seen, unseen


def _by_class(pairs: _Pairs, column: Column) -> dict[str, float]:
    """Accuracy on each test class, over all splits and seeds."""
    hits, asked = Counter[str](), Counter[str]()
    for result, chosen in pairs:
        hits.update(_summed(result.test_classes, chosen.class_hits))
        asked.update(_summed(result.test_classes, result.columns[column].class_queries))
    return {name: hits[name] / asked[name] for name in asked if asked[name]}


def _summed(kinds: Sequence[T], counts: Sequence[int]) -> Counter[T]:
    found = Counter[T]()
    # Results without a split by class have no counts.
    for kind, count in zip(kinds, counts, strict=False):
        found[kind] += count
    return found
