"""Tables of the grid's figures and the paper's, as text or Markdown."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from research import paper
from research.grid.figures import Column, MeanFigure, RowFigures, rows_in
from research.grid.result import GridResult
from research.reports.text_table import MISSING, TextTable

TITLES: Mapping[str, str] = {
    "prototypical-net": "Prototypical Net",
    "prototypical-net-star": "Prototypical Net*",
    "gnn": "GNN",
    "gnn-star": "GNN*",
    "closer-look": "Closer Look",
    "closer-look-star": "Closer Look*",
    "prototypical-net-heads": "Prototypical Net, heads",
    "prototypical-net-star-heads": "Prototypical Net*, heads",
    "ppn": "PPN, the paper's training",
    "ppn-cosine": "PPN, trained with the raw cosine",
    "ppn-guessed": "PPN, heads and guessed parents",
}
TESTS: Mapping[str, str] = {
    "own": "its own test",
    "means": "means",
    "fitted": "linear classifier fitted to the task",
    "calibrated": "Distribution Calibration",
    "shrunk": "shrunk to the mean of all",
    "posterior": "posterior",
    "posterior-clusters": "posterior, clusters of images for classes",
    "means-views": "means of ten views",
    "posterior-views": "posterior, ten views",
    "heads": "parents by the heads",
    "paper": "the paper's test, 3 nearest",
    "paper-tuned": "3 nearest, lambda chosen",
    "paper-on-test": "3 nearest, lambda chosen on the test",
    "nearest": "10 nearest, lambda chosen",
    "plus": "PPN+, the paper's lambda",
    "plus-all": "PPN+, all weak images",
    "plus-tuned": "PPN+, lambda chosen",
    "plus-on-test": "PPN+, lambda chosen on the test",
    "plus-mean": "PPN+, mean of buffered and fresh parents",
    "plus-whitened": "PPN+, whitened",
    "plus-2-steps": "PPN+, two steps",
}
PLAIN = "means"
VARIED: Mapping[str, str] = {
    "fitted": "means",
    "calibrated": "means",
    "shrunk": "means",
    "posterior": "shrunk",
    "heads": "shrunk",
    "posterior-clusters": "posterior",
    "means-views": "means",
    "posterior-views": "means-views",
    "paper": "means",
    "paper-tuned": "paper",
    "paper-on-test": "paper-tuned",
    "nearest": "paper-tuned",
    "plus": "means",
    "plus-all": "plus",
    "plus-tuned": "plus",
    "plus-on-test": "plus-tuned",
    "plus-mean": "plus-tuned",
    "plus-whitened": "plus-tuned",
    "plus-2-steps": "plus-tuned",
}
"""Tests that vary another in one thing, on the same network; lambda is tuned for both or none."""
VARIED_TRAINING: Mapping[str, str] = {"ppn-cosine": "ppn"}
"""Trainings that vary another in one thing: their tests are compared with the same test of it."""
PEERS = ("prototypical-net", "prototypical-net-star")
PUBLISHED: Mapping[str, str] = {
    "prototypical-net/means": "prototypical-net",
    "prototypical-net-star/means": "prototypical-net-star",
    "gnn/own": "gnn",
    "gnn-star/own": "gnn-star",
    "closer-look/own": "closer-look",
    "closer-look-star/own": "closer-look-star",
    "ppn/paper": "ppn",
    "ppn/plus": "ppn+",
}
COMPARED = ("minus Prototypical Net", "minus Prototypical Net*", "minus what it varies")
BEYOND_ACCURACY = ("parent seen", "unseen", "distance")
HEADER = ("trained", "tested", "accuracy, %", "paper", *COMPARED, *BEYOND_ACCURACY, "chosen")


def tables_of(results: Sequence[GridResult], variant: str) -> Iterator[tuple[str, TextTable]]:
    """Title and table of each column of a variant that has results."""
    columns = sorted(
        {column for result in results if result.variant == variant for column in result.columns}
    )
    for ways, shots in columns:
        rows = sorted(rows_in(results, variant, (ways, shots)), key=_place)
        cells = {key for row in rows for key in row.accuracies}
        seeds_of = Counter(split for split, _ in cells)
        fewest, most = min(seeds_of.values()), max(seeds_of.values())
        seeds = f"{most}" if fewest == most else f"{fewest} to {most}"
        title = (
            f"{variant}, {ways}-way {shots}-shot: {len(seeds_of)} splits, {seeds} seeds; "
            "every choice on validation"
        )
        yield (
            f"{title} classes, once over all splits",
            TextTable(HEADER, tuple(_lines(rows, variant, (ways, shots)))),
        )


def shared_test_classes(results: Sequence[GridResult]) -> TextTable:
    """Number of test classes that each two splits share."""
    found = {(result.variant, result.split): set(result.test_classes) for result in results}
    pairs = [
        (first, second) for first, second in combinations(sorted(found), 2) if first[0] == second[0]
    ]
    rows = [
        (
            f"{variant} {one} and {other}",
            str(len(found[variant, one])),
            str(len(found[variant, one] & found[variant, other])),
        )
        for (variant, one), (_, other) in pairs
    ]
    return TextTable(("splits", "test classes", "shared"), tuple(rows))


BY_CLASS = (
    ("prototypical-net", PLAIN),
    ("prototypical-net-star", PLAIN),
    ("ppn-guessed", "posterior"),
    ("ppn-guessed", "plus-tuned"),
)
"""Rows that are shown by class."""
CLASS_COLUMN = (5, 1)


def by_class(results: Sequence[GridResult], variant: str, names: Mapping[str, str]) -> TextTable:
    """Accuracy of some rows on each test class of a variant, sorted by the last row.

    Args:
        results: of any variants and columns.
        variant: "pure" or "mix".
        names: of classes, by id.
    """
    found = {
        (row.method, row.test): row.by_class for row in rows_in(results, variant, CLASS_COLUMN)
    }
    shown = [key for key in BY_CLASS if key in found]
    classes = sorted(
        {name for key in shown for name in found[key]},
        key=lambda name: found[shown[-1]].get(name, 0.0),
    )
    rows = [
        (
            names.get(name, name),
            *(f"{100 * found[key][name]:.1f}" if name in found[key] else MISSING for key in shown),
        )
        for name in classes
    ]
    return TextTable(
        ("test class", *(f"{TITLES[method]}: {TESTS[test]}" for method, test in shown)), tuple(rows)
    )


def costs_of(results: Sequence[GridResult]) -> TextTable:
    """Seconds of processor time of a training."""
    found: dict[tuple[str, int], list[GridResult]] = {}
    for result in results:
        found.setdefault((result.method, result.shots), []).append(result)
    order = sorted(found, key=lambda key: (key[1], list(TITLES).index(key[0])))
    rows = []
    for method, shots in order:
        each = found[method, shots]
        known = [one.cpu_s for one in each if one.cpu_s is not None]
        cost = f"{np.mean(known):,.0f}" if known else MISSING
        iterations = each[0].settings["iterations"]
        rows.append((TITLES[method], str(shots), str(len(each)), f"{iterations:,}", cost))
    return TextTable(("trained", "shots", "trainings", "iterations", "CPU s each"), tuple(rows))


def _place(row: RowFigures) -> tuple[int, int]:
    return list(TITLES).index(row.method), list(TESTS).index(row.test)


def _lines(rows: Sequence[RowFigures], variant: str, column: Column) -> Iterator[tuple[str, ...]]:
    by_name = {(row.method, row.test): row for row in rows}
    peers = [by_name.get((peer, PLAIN)) for peer in PEERS]
    printed = paper.ACCURACIES[variant]
    for row in rows:
        if row.method in VARIED_TRAINING:
            varied = by_name.get((VARIED_TRAINING[row.method], row.test))
        else:
            varied = by_name.get((row.method, VARIED.get(row.test, "")))
        differences = [_difference(row, peer) for peer in (*peers, varied)]
        of_kinds = [MISSING if share is None else f"{100 * share:.1f}" for share in row.by_parent]
        of_kinds.append(f"{row.distance:.2f}" if row.distance else MISSING)
        name = PUBLISHED.get(row.name)
        theirs = (
            MISSING if name is None else f"{printed[name][paper.Column(*column)].mean_percent:.2f}"
        )
        ours = f"{100 * row.figure.mean:.2f} ± {100 * row.figure.half_width:.2f}"
        yield TITLES[row.method], TESTS[row.test], ours, theirs, *differences, *of_kinds, row.choice


def _difference(row: RowFigures, peer: RowFigures | None) -> str:
    if peer is None or peer is row or not row.tasks.keys() & peer.tasks.keys():
        return ""
    found: MeanFigure = row.minus(peer)
    return f"{100 * found.mean:+.2f} ± {100 * found.half_width:.2f}"
