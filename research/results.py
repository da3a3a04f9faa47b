"""What a test of one row of the table found, and how such results lie on disk.

    RUNS/<variant>/<ways>w<shots>s/results/<row>.json

A row is one model, `ppn+` or `closer-look-star`; `ppn+:2-steps` is a row beyond the paper that varies `ppn+`.
"""

import json
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from engine.errors import FormatError, InputError
from engine.full_disk import storage_error
from engine.new_file import ORDINARY_FILE, private_folder, write_file

Z_95: Final = 1.96
"""Two-sided 95 % quantile of the normal distribution, as few-shot papers use it for 600 tasks."""

Setting = float | str | int | bool | None


@dataclass(frozen=True)
class TestResult:
    """Accuracies of one row of the table in one of its columns.

    Attributes:
        row: identifier of the model, such as `ppn+` or `ppn+:2-steps`.
        variant: `pure` or `mix`.
        data: name of the data set.
        ways: classes of a task.
        shots: images of a class that a task gives.
        accuracies: share of right answers of every task, in [0, 1]; task by task the same for all rows of a column.
        settings: what else is worth knowing, such as `side` (px) and `iterations`.
    """

    __test__: ClassVar[bool] = False  # pytest takes a class of this name for a test

    row: str
    variant: str
    data: str
    ways: int
    shots: int
    accuracies: tuple[float, ...]
    settings: Mapping[str, Setting]

    def __post_init__(self) -> None:
        if len(self.accuracies) < 2:  # noqa: PLR2004 (one task has no spread)
            raise InputError(
                f"a result of '{self.row}' is too short", expected="two tasks or more", found=str(len(self.accuracies))
            )
        wrong = [accuracy for accuracy in self.accuracies if not 0 <= accuracy <= 1]
        if wrong:
            raise InputError(f"an accuracy of '{self.row}' is no share", expected="0 to 1", found=str(wrong[0]))

    @property
    def mean(self) -> float:
        """Mean accuracy over the tasks, in [0, 1]."""
        return statistics.fmean(self.accuracies)

    @property
    def interval(self) -> float:
        """Half width of the 95 % interval of the mean."""
        return half_width(self.accuracies)


def half_width(values: Sequence[float]) -> float:
    """Half width of the 95 % interval of a mean: 1.96 standard errors.

    Args:
        values: two or more.

    Returns:
        In the unit of the values.
    """
    return Z_95 * statistics.stdev(values) / math.sqrt(len(values))


def paired_difference(first: TestResult, second: TestResult) -> tuple[float, float]:
    """How much more accurate the first is on the same tasks in the same order.

    Returns:
        Mean of the differences, in [-1, 1], and half width of its 95 % interval.

    Raises:
        InputError: the results are of different tasks.
    """
    if not are_paired(first, second):
        raise InputError(
            "the results cannot be compared task by task",
            expected=_tasks(first),
            found=_tasks(second),
            remedy="test both again on the same tasks",
        )
    differences = [one - other for one, other in zip(first.accuracies, second.accuracies, strict=True)]
    return statistics.fmean(differences), half_width(differences)


def are_paired(first: TestResult, second: TestResult) -> bool:
    """Whether two results are of the same number of tasks of one kind on the same data."""
    return _tasks(first) == _tasks(second)


def _tasks(result: TestResult) -> str:
    return f"{len(result.accuracies)} tasks of {result.ways}-way {result.shots}-shot on {result.data}"


def path_of(result: TestResult, runs: Path) -> Path:
    """Where a result lies below the folder of runs."""
    name = result.row.replace(":", "--").replace("+", "-plus")
    return runs / result.variant / f"{result.ways}w{result.shots}s" / "results" / f"{name}.json"


def write(result: TestResult, runs: Path) -> Path:
    """Put a result on disk, whole or not at all; an older one of the same row and column is replaced.

    Returns:
        The file.

    Raises:
        StorageError: the folder refuses.
    """
    path = path_of(result, runs)
    try:
        private_folder(path.parent)
        write_file(path, json.dumps(_to_json(result), indent=1) + "\n", mode=ORDINARY_FILE)
    except OSError as error:
        remedy = "make room or choose another folder"
        raise storage_error(path, error, "the result cannot be written", remedy) from error
    return path


def read_all(runs: Path, variant: str) -> tuple[TestResult, ...]:
    """All results of a variant.

    Args:
        runs: the folder of runs; nothing in it is no error.
        variant: `pure` or `mix`.

    Returns:
        By ways, shots and row.

    Raises:
        FormatError: a file is torn, or its place does not fit what it holds.
    """
    found = [_read(path, runs) for path in runs.glob(f"{variant}/*/results/*.json")]
    return tuple(sorted(found, key=lambda result: (result.ways, result.shots, result.row)))


def _read(path: Path, runs: Path) -> TestResult:
    try:
        result = _from_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, InputError) as error:
        raise FormatError(
            f"{path} holds no result", expected="a file of an experiment's test", found=str(error), remedy="test again"
        ) from error
    if path_of(result, runs) != path:
        raise FormatError(
            f"{path} lies in the wrong place", expected=str(path_of(result, runs)), remedy="move it there or delete it"
        )
    return result


def _to_json(result: TestResult) -> dict[str, object]:
    return {**vars(result), "settings": dict(result.settings)}


def _from_json(facts: Mapping[str, Any]) -> TestResult:
    return TestResult(
        row=str(facts["row"]),
        variant=str(facts["variant"]),
        data=str(facts["data"]),
        ways=int(facts["ways"]),
        shots=int(facts["shots"]),
        accuracies=tuple(map(float, facts["accuracies"])),
        settings=dict(facts["settings"]),
    )
