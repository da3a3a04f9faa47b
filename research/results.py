"""Result of a test of one model in one of the paper's columns."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from engine.errors import InputError

Z_95 = 1.96
"""Two-sided 95 % quantile of the normal distribution, as few-shot papers use it for 600 tasks."""

Setting = float | str | int | bool | None


@dataclass(frozen=True)
class TestResult:
    """Accuracies of one row of the table in one of its columns.

    Attributes:
        row: identifier of the model, such as `ppn+` or `closer-look-star`.
        variant: `pure` or `mix`.
        data: name of the data set.
        ways: classes of a task.
        shots: labelled images of a class in a task.
        accuracies: accuracy on each task, in [0, 1]; the tasks are the same for all rows of a
            column.
        settings: further settings, such as `side` (px) and `iterations`.
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
                f"a result of '{self.row}' is too short",
                expected="two tasks or more",
                found=str(len(self.accuracies)),
            )
        wrong = [accuracy for accuracy in self.accuracies if not 0 <= accuracy <= 1]
        if wrong:
            raise InputError(
                f"an accuracy of '{self.row}' is no share", expected="0 to 1", found=str(wrong[0])
            )

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
