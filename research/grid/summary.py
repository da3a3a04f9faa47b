"""All tables of the results; first a summary beside the paper's figures."""

from collections.abc import Iterator, Mapping, Sequence

from research import paper
from research.cells import COLUMNS
from research.grid.figures import Column, MeanFigure, RowFigures, rows_in
from research.grid.result import GridResult
from research.grid.table import (
    CLASS_COLUMN,
    PEERS,
    PLAIN,
    PUBLISHED,
    TESTS,
    TITLES,
    by_class,
    costs_of,
    shared_test_classes,
    tables_of,
)
from research.reports.text_table import MISSING, TextTable

ROWS = (
    ("prototypical-net", PLAIN),
    ("prototypical-net-star", PLAIN),
    ("gnn", "own"),
    ("gnn-star", "own"),
    ("closer-look", "own"),
    ("closer-look-star", "own"),
    ("prototypical-net-heads", "shrunk"),
    ("prototypical-net-star-heads", "shrunk"),
    ("ppn", "paper"),
    ("ppn", "posterior"),
    ("ppn-guessed", "posterior"),
    ("ppn", "plus"),
    ("ppn", "plus-tuned"),
    ("ppn-guessed", "plus-tuned"),
    ("prototypical-net", "means-views"),
    ("prototypical-net-star", "means-views"),
    ("ppn-guessed", "posterior-views"),
)
TRAININGS = ("ppn", "ppn-guessed")
CHOSEN: Mapping[str, tuple[str, ...]] = {
    "PPN": ("paper", "paper-tuned", "nearest", "posterior", "heads"),
    "PPN+": ("plus", "plus-tuned"),
}
"""Tests without and with given parents; the one that is best on validation tasks is shown.

So are its differences to both Prototypical Nets.
"""
Rows = Mapping[tuple[str, str], RowFigures]


def all_tables(
    results: Sequence[GridResult], names: Mapping[str, str] | None = None
) -> Iterator[tuple[str, TextTable]]:
    """Title and table of all results.

    Args:
        results: of any variants and columns.
        names: of classes, by id, for tables of accuracy by class.
    """
    variants = sorted({result.variant for result in results}, reverse=True)
    for variant in variants:
        yield f"{variant}: accuracy in %, the paper's in brackets", summary_of(results, variant)
    for variant in variants:
        yield from tables_of(results, variant)
    for variant in variants if names is not None else ():
        title = (
            f"{variant}, {CLASS_COLUMN[0]}-way {CLASS_COLUMN[1]}-shot: accuracy in % on "
            "each test class"
        )
        yield title, by_class(results, variant, names or {})
    yield "seconds of processor time", costs_of(results)
    yield "test classes of the splits", shared_test_classes(results)


def summary_of(results: Sequence[GridResult], variant: str) -> TextTable:
    """Mean accuracy in % with interval, the paper's in brackets, and PPN's gain over baselines.

    Args:
        results: of any variants and columns.
        variant: "pure" or "mix".
    """
    columns = {column: _rows(results, variant, column) for column in COLUMNS}
    found = {column: rows for column, rows in columns.items() if rows}
    lines = [
        (_name(key), *(_cell(rows.get(key), variant, column) for column, rows in found.items()))
        for key in ROWS
        if any(key in rows for rows in found.values())
    ]
    for title, tests in CHOSEN.items():
        best = {column: _best(rows, tests) for column, rows in found.items()}
        name = f"{title}, training and test chosen"
        lines.append((name, *(_cell(best[column], variant, column) for column in found)))
        for peer in PEERS:
            cells = (
                _difference(best[column], rows.get((peer, PLAIN))) for column, rows in found.items()
            )
            lines.append((f"{name}, minus {TITLES[peer]}", *cells))
        words = (MISSING if row is None else f"{row.method} {row.test}" for row in best.values())
        lines.append((f"{name}: which", *words))
    return TextTable(
        ("trained: tested", *(paper.Column(*column).name for column in found)), tuple(lines)
    )


def _rows(results: Sequence[GridResult], variant: str, column: Column) -> Rows:
    return {(row.method, row.test): row for row in rows_in(results, variant, column)}


def _name(key: tuple[str, str]) -> str:
    method, test = key
    return f"{TITLES[method]}: {TESTS[test]}"


def _cell(row: RowFigures | None, variant: str, column: Column) -> str:
    if row is None:
        return MISSING
    theirs, name = "", PUBLISHED.get(row.name)
    if name is not None:
        published = paper.ACCURACIES[variant][name][paper.Column(*column)]
        theirs = f" ({published.mean_percent:.1f} ± {published.interval_percent:.1f})"
    return _percent(row.figure, sign="") + theirs


def _best(rows: Rows, tests: Sequence[str]) -> RowFigures | None:
    """The row that is best on validation tasks."""
    able = [rows[method, test] for method in TRAININGS for test in tests if (method, test) in rows]
    return max(able, key=lambda row: row.validation, default=None)


def _difference(row: RowFigures | None, peer: RowFigures | None) -> str:
    if row is None or peer is None or not row.tasks.keys() & peer.tasks.keys():
        return MISSING
    return _percent(row.minus(peer), sign="+")


def _percent(figure: MeanFigure, *, sign: str) -> str:
    return f"{100 * figure.mean:{sign}.1f} ± {100 * figure.half_width:.1f}"
