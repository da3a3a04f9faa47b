"""The paper's table of accuracies with ours beside it: as text for a terminal, as Markdown and as CSV."""

import csv
import io
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from research import paper
from research.paper import PublishedAccuracy
from research.reports.comparison import ComparedCell, Comparison, Row, compare
from research.reports.folder import write_lines, writing_into
from research.reports.text_table import MISSING, TextTable
from research.results import TestResult

BEST: Final = "<"
"""Marks the best of a column in plain text; Markdown sets it bold."""

TEXT_WIDTH: Final = 110
"""Of sentences in plain text; tables are as wide as they need."""

CSV_COLUMNS: Final = (
    "row",
    "title",
    "ways",
    "shots",
    "mean_percent",
    "interval_percent",
    "best",
    "tasks",
    "paper_mean_percent",
    "paper_interval_percent",
    "compared_with",
    "difference_percent",
    "difference_interval_percent",
    "wins",
)


def as_text(results: Sequence[TestResult], variant: str) -> str:
    """The table for a terminal or a pipe.

    Args:
        results: of any variants and columns.
        variant: `pure` or `mix`.

    Returns:
        Lines without control characters; a missing cell is "-".
    """
    comparison = compare(results, variant)
    parts = [
        _wrapped(f"{_caption(comparison)} Best of a column: {BEST}"),
        _paper_table(comparison, is_markdown=False).as_text(),
    ]
    if comparison.rows_beyond:
        parts += [_wrapped(_BEYOND), _table_beyond(comparison).as_text()]
    return "\n\n".join(parts) + "\n"


def as_markdown(results: Sequence[TestResult], variant: str) -> str:
    """The table for the documents; the best of a column is bold.

    Args:
        results: of any variants and columns.
        variant: `pure` or `mix`.
    """
    comparison = compare(results, variant)
    parts = [
        f"{_caption(comparison)} Bold: best of a column.",
        _paper_table(comparison, is_markdown=True).as_markdown(),
    ]
    if comparison.rows_beyond:
        parts += [_BEYOND, _table_beyond(comparison).as_markdown()]
    return "\n\n".join(parts) + "\n"


def as_csv(results: Sequence[TestResult], variant: str) -> str:
    """One line for each row and column of the table, in percent, unrounded; empty where nothing is known.

    Args:
        results: of any variants and columns.
        variant: `pure` or `mix`.
    """
    comparison = compare(results, variant)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for row in (*comparison.paper_rows, *comparison.rows_beyond):
        writer.writerows(_csv_line(row, column.ways, column.shots, cell) for column, cell in row.cells.items())
    return text.getvalue()


def write_table(results: Sequence[TestResult], variant: str, out: Path) -> tuple[Path, ...]:
    """Put the table into a folder as `table-<variant>.csv` and `table-<variant>.md`.

    Args:
        results: of any variants and columns.
        variant: `pure` or `mix`.
        out: the folder; made when missing.

    Returns:
        The files.

    Raises:
        InputError: the paper has no such variant, or a row has two results in one column.
        StorageError: the folder refuses.
    """
    written = {
        out / f"table-{variant}.csv": as_csv(results, variant),
        out / f"table-{variant}.md": as_markdown(results, variant),
    }
    with writing_into(out):
        for path, text in written.items():
            write_lines(path, text)
    return tuple(written)


_BEYOND: Final = (
    "Beyond the paper. Difference: accuracy minus that of the row it varies, task by task; "
    "it wins where the 95 % interval of the difference lies above 0."
)


def _caption(comparison: Comparison) -> str:
    ours = f"{comparison.data} ({comparison.facts})" if comparison.data else "No results yet"
    theirs = f"{paper.DATA_SETS[comparison.variant]} ({paper.TASKS} tasks)"
    return f"{ours} beside the paper's {theirs}. Mean accuracy in % ± 95 % interval."


def _wrapped(text: str) -> str:
    return textwrap.fill(text, TEXT_WIDTH)


def _paper_table(comparison: Comparison, *, is_markdown: bool) -> TextTable:
    header = ["Model"]
    for column in paper.COLUMNS:
        header += [column.name, "paper"]
    return TextTable(tuple(header), tuple(_paper_cells(row, is_markdown) for row in comparison.paper_rows))


def _paper_cells(row: Row, is_markdown: bool) -> tuple[str, ...]:
    cells = [row.title]
    for cell in row.cells.values():
        cells.append(_marked(_ours(cell.result), cell.is_best, is_markdown))
        cells.append(_marked(_theirs(cell.published), cell.is_best_published, is_markdown))
    return tuple(cells)


def _table_beyond(comparison: Comparison) -> TextTable:
    header = ["Model"]
    for column in paper.COLUMNS:
        header += [column.name, "difference"]
    rows = []
    for row in comparison.rows_beyond:
        cells = [row.title]
        for cell in row.cells.values():
            cells += [_ours(cell.result), _difference(cell)]
        rows.append(tuple(cells))
    return TextTable(tuple(header), tuple(rows))


def _ours(result: TestResult | None) -> str:
    return MISSING if result is None else f"{100 * result.mean:.2f}±{100 * result.interval:.2f}"


def _theirs(published: PublishedAccuracy | None) -> str:
    return MISSING if published is None else f"{published.mean_percent:.2f}±{published.interval_percent:.2f}"


def _difference(cell: ComparedCell) -> str:
    if cell.is_unpaired:
        return "other tasks"
    if cell.difference is None:
        return MISSING
    text = f"{100 * cell.difference.mean:+.2f}±{100 * cell.difference.interval:.2f}"
    return f"{text} wins" if cell.difference.wins else text


def _marked(text: str, is_best: bool, is_markdown: bool) -> str:
    if is_markdown:
        return f"**{text}**" if is_best else text
    return text + (BEST if is_best else " ")


def _csv_line(row: Row, ways: int, shots: int, cell: ComparedCell) -> tuple[object, ...]:
    ours: tuple[object, ...] = (None,) * 4
    if cell.result is not None:
        tasks = len(cell.result.accuracies)
        ours = (100 * cell.result.mean, 100 * cell.result.interval, cell.is_best, tasks)
    theirs = (None, None) if cell.published is None else (cell.published.mean_percent, cell.published.interval_percent)
    difference: tuple[object, ...] = (None,) * 3
    if cell.difference is not None:
        difference = (100 * cell.difference.mean, 100 * cell.difference.interval, cell.difference.wins)
    return (row.row, row.title, ways, shots, *ours, *theirs, row.compared_with, *difference)
