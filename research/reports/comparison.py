"""Our results beside the paper's, before they are drawn as text, Markdown or CSV."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from engine.errors import InputError
from research import paper
from research.paper import Column, PublishedAccuracy
from research.results import Setting, TestResult, are_paired, paired_difference

UNITS: Final[Mapping[str, str]] = {"side": "side {} px", "iterations": "{} training iterations"}
"""Settings that the line above a table tells, each with its sentence."""


@dataclass(frozen=True)
class Difference:
    """A row beyond the paper against the row it varies, on the same tasks.

    Attributes:
        mean: mean of the paired differences of accuracy, in [-1, 1].
        interval: half width of its 95 % interval.
    """

    mean: float
    interval: float

    @property
    def wins(self) -> bool:
        """Whether the whole interval lies above 0."""
        return self.mean - self.interval > 0


@dataclass(frozen=True)
class ComparedCell:
    """One row in one column.

    Attributes:
        result: ours, or None where it is missing.
        published: the paper's, or None for rows beyond the paper.
        is_best: ours is the highest of our paper rows in this column.
        is_best_published: the paper's is the highest of the paper's.
        difference: for rows beyond the paper, where both rows were tested on the same tasks.
        is_unpaired: both rows were tested, but not on the same tasks.
    """

    result: TestResult | None
    published: PublishedAccuracy | None = None
    is_best: bool = False
    is_best_published: bool = False
    difference: Difference | None = None
    is_unpaired: bool = False


@dataclass(frozen=True)
class Row:
    """One model; `compared_with` is the row that one beyond the paper varies, else empty."""

    row: str
    compared_with: str
    cells: Mapping[Column, ComparedCell]

    @property
    def title(self) -> str:
        """Name for people."""
        return paper.title_of(self.row)


@dataclass(frozen=True)
class Comparison:
    """All that a table of one variant tells.

    Attributes:
        variant: `pure` or `mix`.
        data: names of the data sets of our results.
        facts: tasks, side and iterations in words.
        paper_rows: the paper's eight, in its order.
        rows_beyond: others, each after the row it varies.
    """

    variant: str
    data: str
    facts: str
    paper_rows: tuple[Row, ...]
    rows_beyond: tuple[Row, ...]


def compare(results: Sequence[TestResult], variant: str) -> Comparison:
    """Set our results of a variant beside the paper's.

    Args:
        results: any number; those of other variants, or of columns that the paper has not, are left out.
        variant: `pure` or `mix`.

    Returns:
        With a cell for each row and column, empty where no result is.

    Raises:
        InputError: the paper has no such variant, or a row has two results in one column.
    """
    if variant not in paper.ACCURACIES:
        raise InputError("the paper has no such data set", expected=" or ".join(paper.ACCURACIES), found=variant)
    found = _by_cell([result for result in results if result.variant == variant])
    beyond = {row for row, _ in found if row not in paper.TITLES}
    return Comparison(
        variant=variant,
        data=", ".join(sorted({result.data for result in found.values()})),
        facts=facts_of(tuple(found.values())),
        paper_rows=tuple(_paper_row(row, variant, found) for row in paper.TITLES),
        rows_beyond=tuple(_row_beyond(row, found) for row in sorted(beyond, key=_place)),
    )


def _by_cell(results: Sequence[TestResult]) -> dict[tuple[str, Column], TestResult]:
    found: dict[tuple[str, Column], TestResult] = {}
    for result in results:
        column = Column(result.ways, result.shots)
        if (result.row, column) in found:
            raise InputError(f"'{result.row}' has two results for {column.name}", remedy="keep one of them")
        if column in paper.COLUMNS:
            found[result.row, column] = result
    return found


def _place(row: str) -> tuple[int, str]:
    rows = list(paper.TITLES)
    base = row.partition(":")[0]
    return (rows.index(base) if base in rows else len(rows), row)


def _paper_row(row: str, variant: str, found: Mapping[tuple[str, Column], TestResult]) -> Row:
    printed = paper.ACCURACIES[variant]
    cells = {}
    for column in paper.COLUMNS:
        ours = found.get((row, column))
        rivals = [found[other, column].mean for other in paper.TITLES if (other, column) in found]
        theirs = printed[row][column]
        cells[column] = ComparedCell(
            ours,
            theirs,
            is_best=ours is not None and ours.mean == max(rivals),
            is_best_published=theirs.mean_percent == max(cells[column].mean_percent for cells in printed.values()),
        )
    return Row(row, "", cells)


def _row_beyond(row: str, found: Mapping[tuple[str, Column], TestResult]) -> Row:
    base, _, variation = row.partition(":")
    cells = {column: _varied(found.get((row, column)), found.get((base, column))) for column in paper.COLUMNS}
    return Row(row, base if variation else "", cells)


def _varied(result: TestResult | None, base: TestResult | None) -> ComparedCell:
    if result is None or base is None or base is result:
        return ComparedCell(result)
    if not are_paired(result, base):
        return ComparedCell(result, is_unpaired=True)
    return ComparedCell(result, difference=Difference(*paired_difference(result, base)))


def facts_of(results: Sequence[TestResult]) -> str:
    """Tasks, side and training iterations in one line; what is not the same for all is marked as different.

    Args:
        results: of one table.

    Returns:
        Such as "600 tasks, side 64 px, 3,000 training iterations"; empty without results.
    """
    facts = [_fact([len(result.accuracies) for result in results], "tasks", "{} tasks")]
    facts += [_fact([result.settings.get(name) for result in results], name, text) for name, text in UNITS.items()]
    return ", ".join(fact for fact in facts if fact)


def _fact(values: Sequence[Setting], name: str, text: str) -> str:
    known = set(values)
    if not known or known == {None}:
        return ""
    if len(known) > 1:
        return f"{name} differ" if name.endswith("s") else f"{name} differs"
    value = next(iter(known))
    return text.format(f"{value:,}" if isinstance(value, int) else value)
