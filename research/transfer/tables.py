"""Tables of results on one backbone: a row for every method and shown option."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from research.reports.text_table import MISSING, TextTable
from research.transfer.calibration import error_of_all_draws
from research.transfer.collection import PARTS
from research.transfer.draws import Situation
from research.transfer.estimates import Estimate, estimate, paired_difference
from research.transfer.methods import EVERYDAY, METHODS
from research.transfer.parts import figure_of
from research.transfer.results import TOP1, TransferResult, by_method

HONESTY = {
    "calibration_error": "calibration error",
    "safe_accuracy": "safe class right",
    "coverage": "coverage",
}
"""Figures of the everyday model only, with their titles."""

TOGETHER = "calibration error, all draws together"


@dataclass(frozen=True)
class MethodRow:
    """A row of a table.

    Attributes:
        method: identifier.
        title: of the row.
        option: whose figures are shown; the best of each cell when None.
    """

    method: str
    title: str
    option: str | None = None


def rows_of(results: Sequence[TransferResult]) -> tuple[MethodRow, ...]:
    """A row for a method without options; else rows of its best option and of its default."""
    found: list[MethodRow] = []
    for method in methods_of(results):
        title, default = METHODS[method].title, METHODS[method].default
        some = {
            option
            for result in results
            if result.cell.method == method
            for option in result.options
        }
        if len(some) == 1:
            found.append(MethodRow(method, title))
        else:
            found += [
                MethodRow(method, f"{title}, best option"),
                MethodRow(method, f"{title}, {default}", default),
            ]
    return tuple(found)


def accuracies(
    results: Sequence[TransferResult], part: str | None = None, accuracy: str = TOP1
) -> TextTable:
    """Mean accuracy with interval, a column for each number of shots.

    Args:
        results: of one backbone.
        part: part of the images; all when None.
        accuracy: which, one of `ACCURACIES`.
    """
    known, situations, name = by_method(results), situations_of(results), figure_of(accuracy, part)
    rows = [
        (
            row.title,
            *(
                cell_text(known.get((situation, row.method)), name, row.option)
                for situation in situations
            ),
        )
        for row in rows_of(results)
    ]
    return TextTable(("method", *(situation.name for situation in situations)), tuple(rows))


def differences(
    results: Sequence[TransferResult], part: str | None = None, accuracy: str = TOP1
) -> TextTable:
    """Lead of the everyday model over other methods, in points; `*` if significant."""
    known, situations, name = by_method(results), situations_of(results), figure_of(accuracy, part)
    rows = [
        (row.title, *(_difference(known, situation, row, name) for situation in situations))
        for row in rows_of(results)
        if row.method != EVERYDAY
    ]
    return TextTable(("minus", *(situation.name for situation in situations)), tuple(rows))


def honesty(results: Sequence[TransferResult], part: str | None = None) -> TextTable:
    """Calibration error of draws and of all together, accuracy and coverage of the safe class."""
    known, situations = by_method(results), situations_of(results)
    rows = []
    for method in methods_of(results):
        if METHODS[method].is_ours:
            own, columns = (
                METHODS[method].title,
                [known.get((situation, method)) for situation in situations],
            )
            for name, title in HONESTY.items():
                rows.append(
                    (
                        f"{own}: {title}",
                        *(cell_text(column, figure_of(name, part)) for column in columns),
                    )
                )
            rows.append((f"{own}: {TOGETHER}", *(_together(column, part) for column in columns)))
    return TextTable(("figure", *(situation.name for situation in situations)), tuple(rows))


def parts_of(results: Sequence[TransferResult]) -> tuple[str | None, ...]:
    """None for all images, and the parts with figures in some result."""
    measured = {
        name
        for result in results
        for draw in result.draws
        for figures in draw.values()
        for name in figures
    }
    return (None, *(part for part in PARTS if figure_of(TOP1, part) in measured))


def methods_of(results: Sequence[TransferResult]) -> list[str]:
    """Identifiers in the program's order."""
    there = {result.cell.method for result in results}
    return [method for method in METHODS if method in there]


def situations_of(results: Sequence[TransferResult]) -> list[Situation]:
    """Situations of the columns."""
    return sorted({result.cell.situation for result in results})


def cell_text(result: TransferResult | None, name: str = TOP1, option: str | None = None) -> str:
    """A figure in percent with its interval, or a dash."""
    return MISSING if result is None else estimate(result.values(name, option)).as_percent()


def _together(result: TransferResult | None, part: str | None) -> str:
    return (
        MISSING
        if result is None
        else Estimate(error_of_all_draws(result, part), math.nan).as_percent()
    )


def _difference(
    known: Mapping[tuple[Situation, str], TransferResult],
    situation: Situation,
    row: MethodRow,
    name: str,
) -> str:
    ours, other = known.get((situation, EVERYDAY)), known.get((situation, row.method))
    if ours is None or other is None:
        return MISSING
    found = paired_difference(ours.values(name), other.values(name, row.option))
    return found.as_percent(with_sign=True) + " *" * found.is_above_zero
