"""Sessions as tables, as plain data, as a table of all points, and as a figure."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from research.honesty.claims import ClaimTally
from research.honesty.replay import SESSIONS, TEACHING, ReplayedSession, SessionPoint
from research.honesty.shares import PooledShare
from research.reports import drawing
from research.reports.folder import write_lines, writing_into
from research.reports.text_table import MISSING, TextTable

STEM = "claimed-and-right-against-labels"
LEAST_RIGHT = 0.9
"""Least accuracy of confident predictions, after any label."""
MARKS = (1, 2, 5, 10, 25, 50, 100, 150, 200, 250, 300)
"""Labels of the points in the table; the file has all."""
HEADER = (
    "labels",
    "classes",
    "safe class",
    "claimed",
    "right",
    "leaf claimed",
    "claimed",
    "right",
)
COLUMNS = (
    "way",
    "labels",
    "classes",
    "rest",
    "safe",
    "safe_claimed",
    "safe_right",
    "leaf",
    "leaf_claimed",
    "leaf_right",
)


def session_tables(session: ReplayedSession, about: str) -> Iterator[tuple[str, TextTable]]:
    """Points of a session, and its lowest shares."""
    facts = f"{about}, {session.classes} classes, {session.images:,} images"
    title = f"{SESSIONS[session.way][0]}: claimed of the unlabelled rest, shares in %; {facts}"
    yield title, TextTable(HEADER, tuple(map(_row, _marked(session.curve))))
    rows = tuple(_lowest_row(name, session.curve, part) for name, part in PARTS_OF_TALLY.items())
    header = (
        "lowest share right",
        "in %",
        "after labels",
        "images",
        f"points below {LEAST_RIGHT:.0%}",
        "surely",
    )
    yield (
        f"{SESSIONS[session.way][0]}: all {len(session.curve)} points; {facts}",
        TextTable(header, rows),
    )


def _safe(rest: ClaimTally) -> PooledShare:
    return PooledShare(rest.safe_right, rest.safe, 1.0)


def _leaf(rest: ClaimTally) -> PooledShare:
    return PooledShare(rest.leaf_right, rest.leaf, 1.0)


PARTS_OF_TALLY: dict[str, Callable[[ClaimTally], PooledShare]] = {
    "safe class": _safe,
    "leaf": _leaf,
}


def _marked(curve: Sequence[SessionPoint]) -> list[SessionPoint]:
    """The first point at or after each mark."""
    found = (next((point for point in curve if point.labels >= mark), None) for mark in MARKS)
    return list(dict.fromkeys(point for point in found if point is not None))


def _row(point: SessionPoint) -> tuple[str, ...]:
    rest = point.rest
    claimed = (rest.safe_claimed, rest.safe), (rest.leaf_claimed, rest.leaf)
    (safe, leaf) = (f"{100 * part / count:.1f}" if count else MISSING for part, count in claimed)
    shares = (f"{100 * count / max(rest.images, 1):.1f}" for count in (rest.safe, rest.leaf))
    safe_share, leaf_share = shares
    return (
        str(point.labels),
        str(point.classes),
        safe_share,
        safe,
        _right(_safe(rest)),
        leaf_share,
        leaf,
        _right(_leaf(rest)),
    )


def _right(share: PooledShare) -> str:
    return f"{100 * share.value:.1f} of {share.count:,}" if share.count else MISSING


def _lowest_row(
    name: str, curve: Sequence[SessionPoint], part: Callable[[ClaimTally], PooledShare]
) -> tuple[str, ...]:
    """The lowest share; `surely` counts the points whose whole 95 % interval is below the limit."""
    found = [(point, share) for point in curve if (share := part(point.rest)).count]
    if not found:
        return name, MISSING, MISSING, "0", "0", "0"
    point, lowest = min(found, key=lambda each: each[1].value)
    below = sum(share.value < LEAST_RIGHT for _point, share in found)
    surely = sum(share.interval[1] < LEAST_RIGHT for _point, share in found)
    at, images = str(point.labels), f"{lowest.count:,}"
    return name, lowest.as_text(), at, images, f"{below} of {len(found)}", str(surely)


def session_fields(session: ReplayedSession) -> dict[str, Any]:
    """Everything as plain data."""
    return asdict(session)


def write_curve(sessions: Sequence[ReplayedSession], title: str, out: Path) -> None:
    """Write all points as CSV, and draw claimed and true accuracy as PNG and SVG.

    Raises:
        UsageError: a library is missing.
        StorageError: the folder cannot be written.
    """
    drawing.check_libraries()
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    table.writerows(_cells(session.way, point) for session in sessions for point in session.curve)
    with drawing.styled(), writing_into(out):
        write_lines(out / f"{STEM}.csv", text.getvalue())
        figure = drawing.new_figure(6.4, 4.4)
        panel = figure.subplots()
        for session in sessions:
            colour = drawing.VERMILION if session.way == TEACHING else drawing.BLUE
            points = [point for point in session.curve if point.rest.safe]
            labels = [point.labels for point in points]
            right = [100 * _safe(point.rest).value for point in points]
            claimed = [100 * point.rest.safe_claimed / point.rest.safe for point in points]
            way = SESSIONS[session.way][0]
            panel.plot(labels, right, color=colour, linewidth=2, label=f"{way}: right")
            panel.plot(
                labels, claimed, color=colour, linewidth=1, linestyle="--", label=f"{way}: claimed"
            )
        panel.axhline(100 * LEAST_RIGHT, color=drawing.FAINT, linewidth=0.8, linestyle=":")
        panel.set_title(title)
        panel.set_xlabel("labels")
        panel.set_ylabel("unlabelled images with a safe class (%)")
        panel.legend(loc="best")
        drawing.save(figure, out / STEM)


def _cells(way: str, point: SessionPoint) -> tuple[str, ...]:
    rest = point.rest
    safe = rest.safe, round(rest.safe_claimed, 4), rest.safe_right
    leaf = rest.leaf, round(rest.leaf_claimed, 4), rest.leaf_right
    return tuple(map(str, (way, point.labels, point.classes, rest.images, *safe, *leaf)))
