"""Figures of the grid: choices made on validation classes over all splits, intervals over tasks, seeds and splits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.errors import InputError
from research.grid.result import ColumnResult, GridResult

RESAMPLES: Final = 2000
BOOTSTRAP_SEED: Final = 2019
Column = tuple[int, int]
Shares = NDArray[np.float64]


@dataclass(frozen=True)
class MeanFigure:
    """A mean over splits, seeds and tasks, in [0, 1], with its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Of the interval."""
        return (self.high - self.low) / 2


@dataclass(frozen=True)
class RowFigures:
    """A test of a method in one column, chosen among its candidates.

    Attributes:
        method: what was trained.
        test: how it was tested.
        choice: the candidate that did best on validation tasks, on the mean over all splits and seeds.
        accuracies: (T,) of each (split, seed).
        tasks: checksum of the tasks of each (split, seed).
    """

    method: str
    test: str
    choice: str
    accuracies: Mapping[tuple[int, int], Shares]
    tasks: Mapping[tuple[int, int], str]

    @property
    def name(self) -> str:
        """Such as `ppn/posterior`."""
        return f"{self.method}/{self.test}"

    @property
    def figure(self) -> MeanFigure:
        """Mean accuracy."""
        return bootstrapped(self.accuracies)

    def minus(self, other: "RowFigures") -> MeanFigure:
        """How much more accurate this is than another row on the same tasks, in [-1, 1].

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
    """Mean and interval of figures (T,) of each (split, seed), by a hierarchical bootstrap.

    Splits are drawn with replacement, seeds within each drawn split, tasks within each drawn seed; a level with one
    member adds no spread, so that a single split understates the interval.
    """
    splits: dict[int, list[Shares]] = {}
    for (split, _), of_tasks in sorted(values.items()):
        splits.setdefault(split, []).append(of_tasks)
    members = list(splits.values())
    mean = float(np.mean([np.mean([each.mean() for each in seeds]) for seeds in members]))
    generator = np.random.default_rng(BOOTSTRAP_SEED)
    means = np.empty(RESAMPLES)
    for place in range(RESAMPLES):
        drawn = []
        for split in generator.integers(len(members), size=len(members)).tolist():
            seeds = members[split]
            chosen = [seeds[seed] for seed in generator.integers(len(seeds), size=len(seeds)).tolist()]
            drawn.append(np.mean([each[generator.integers(len(each), size=len(each))].mean() for each in chosen]))
        means[place] = np.mean(drawn)
    low, high = np.quantile(means, (0.025, 0.975))
    return MeanFigure(mean, float(low), float(high))


def rows_in(results: Sequence[GridResult], variant: str, column: Column) -> tuple[RowFigures, ...]:
    """Every test of every method in one column of one variant, each by the candidate that validation chose."""
    found: dict[tuple[str, str], dict[tuple[int, int], ColumnResult]] = {}
    for result in results:
        if result.variant == variant and column in result.columns:
            for test in result.columns[column].rows:
                found.setdefault((result.method, test), {})[result.split, result.seed] = result.columns[column]
    return tuple(_row(method, test, columns) for (method, test), columns in found.items())


def _row(method: str, test: str, columns: Mapping[tuple[int, int], ColumnResult]) -> RowFigures:
    tried = [{each.choice: each for each in column.rows[test]} for column in columns.values()]
    known = [choice for choice in tried[0] if all(choice in each for each in tried)]
    best = max(known, key=lambda choice: float(np.mean([each[choice].validation for each in tried])))
    accuracies = {
        key: of_column[best].hits / column.queries
        for (key, column), of_column in zip(columns.items(), tried, strict=True)
    }
    return RowFigures(method, test, best, accuracies, {key: column.tasks for key, column in columns.items()})
