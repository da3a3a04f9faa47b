"""Verdicts are ratios: independent of the machine's speed, and missed at twice the time."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import typer

from engine.cli.output import print_json
from research import reference
from research.benchmarks.labelling import key_rows
from research.benchmarks.review import figures_of
from research.benchmarks.startup import rows_of
from research.cli.verdicts import say_verdicts
from research.reference import BLOCK_ROWS, JudgedFigure, NumpyPass, judged, shown, within_budget

REPORT = {
    "shown": [[1, 7], [2, 8]],
    "answers": [[[3, 4], 7]],
    "single_ms": [20.0, 22.0],
    "group_ms": [18.0],
    "bare_ms": [20.0, 20.0, 20.0],
    "pauses_ms": [15.0, 16.0, 17.0],
    "groups_s": 0.1,
    "orders_s": [0.3, 0.4],
    "passes_s": [0.2, 0.2],
}
"""Report of a review in the window."""
AFTER = {1: 7, 2: 8, 3: 7, 4: 7}
"""Labels on disk."""


@pytest.mark.parametrize("pace", [0.5, 1, 2.6, 10])
@pytest.mark.parametrize(("work", "is_kept"), [(1.0, True), (2.0, False)])
def test_a_slow_computer_is_no_slow_program(pace: float, work: float, *, is_kept: bool) -> None:
    """Scaling all times changes no verdict; more work does."""
    figures, references = (
        [pace * each for each in column] for column in ((4.0, 5.0, 9.0), (1.0, 1.0, 1.2))
    )
    row = judged("a label", [work * each for each in figures], references, 8, against="a pass")
    assert row.is_kept is is_kept
    assert row.ratio == pytest.approx(5 * work)
    assert ("MISSED" in row.line) is not is_kept


def test_what_was_timed_in_turn_is_compared_by_percentile() -> None:
    """Percentiles are compared with the same percentiles."""
    row = judged(
        "keys",
        range(1, 102),
        [2.0 * each for each in range(1, 102)],
        1,
        against="a pass",
        percentile=95,
    )
    assert (row.figure, row.reference, row.ratio) == (96, 192, 0.5)


def test_a_figure_without_reference_is_only_shown() -> None:
    """It has no verdict and no limit."""
    row = shown("longest", [1.0, 30.0], "ms", percentile=100)
    assert (row.figure, row.ratio, row.is_kept) == (30, None, True)
    assert row.line.split() == ["longest", "30.00", "ms"]


def test_small_figures_are_in_milliseconds() -> None:
    """0.9 ms over a pass of 0.15 s is a ratio of 0.006, not 0.00."""
    words = judged("taking a label", [0.0009], [0.15], 0.02, against="a pass").line.split()
    assert " ".join(words) == "taking a label 0.90 ms 0.006 x 0.15 s of a pass (limit 0.02)"


def test_json_has_the_whole_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    """Figure, reference, ratio, limit and verdict of each, and the names of missed ones."""
    rows = (
        JudgedFigure("a", 3.0, "s", "a pass", 2.0, 2.0),
        JudgedFigure("b", 3.0, "s", "a pass", 1.0, 2.0),
    )
    print_json(True)
    with pytest.raises(typer.Exit):
        say_verdicts("two", rows, {"images": 5})
    fields = json.loads(capsys.readouterr().out)
    assert (fields["images"], fields["missed"]) == (5, ["b"])
    assert fields["rows"][0] == {
        "name": "a",
        "figure": 3.0,
        "unit": "s",
        "against": "a pass",
        "reference": 2.0,
        "limit": 2.0,
        "ratio": 1.5,
        "is_kept": True,
    }
    print_json(False)
    say_verdicts("one", rows[:1], {})
    assert capsys.readouterr().out.splitlines()[0] == "one"


def test_a_slow_computer_makes_fewer_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """At least one; all of them where there is time."""
    assert list(within_budget(3)) == [0, 1, 2]
    monkeypatch.setattr(reference, "BUDGET_S", -1.0)
    assert list(within_budget(3)) == [0]


def test_a_pass_goes_over_all_images(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block once, and for a small collection as many as for a large one."""
    monkeypatch.setattr(reference, "FEWEST_IMAGES", 3 * BLOCK_ROWS)
    monkeypatch.setattr(reference, "DRAWN", 2 * BLOCK_ROWS)
    assert [len(NumpyPass(images).starts) for images in (1, 3 * BLOCK_ROWS, 4 * BLOCK_ROWS)] == [
        3,
        3,
        4,
    ]
    assert NumpyPass(1).time_s() > 0


@pytest.mark.parametrize(
    ("changed", "missed", "rows_missed"),
    [
        ({}, (), []),
        ({"single_ms": [80.0, 80.0]}, (), ["key to next card, median", "key to next card, 95%"]),
        ({"group_ms": [80.0]}, (), ["key to next group, median", "key to next group, 95%"]),
        ({"single_ms": [80.0, 80.0], "bare_ms": [80.0, 80.0, 80.0]}, (), []),
        ({"pauses_ms": [900.0]}, (), ["pause of the window, 95%"]),
        ({"orders_s": [9.0]}, (), ["group order"]),
        ({"shown": [[1, 7], [2, 9]]}, ("labels",), []),
        ({"groups_s": 60.0}, ("decisions a minute",), []),
    ],
)
def test_what_review_misses(
    changed: Mapping[str, Any], missed: tuple[str, ...], rows_missed: list[str]
) -> None:
    """Keys are compared with their references; labels must be as shown on any computer."""
    figures = figures_of(4, {**REPORT, **changed}, {}, AFTER)
    assert figures.missed == missed
    assert [row.name for row in figures.rows if not row.is_kept] == rows_missed


@pytest.mark.parametrize(
    ("painted_ms", "missed"), [([25.0] * 20, 0), ([25.0] * 18 + [900.0] * 2, 1), ([90.0] * 20, 2)]
)
def test_what_keys_miss(painted_ms: Sequence[float], missed: int) -> None:
    """Median and tail are judged, the maximum is only shown."""
    assert sum(not row.is_kept for row in key_rows("key", painted_ms, [20.0] * 20)) == missed


@pytest.mark.parametrize(("seconds", "is_kept"), [(0.5, True), (1.1, False)])
def test_a_window_is_compared_with_a_bare_one(seconds: float, *, is_kept: bool) -> None:
    """First paint, memory and predictions relative to a bare window in the same round."""
    bare = {"visible_s": 0.12, "memory_mib": 90.0}
    ours = {
        "visible_s": seconds,
        "predicted_s": seconds + 0.1,
        "loaded_s": 2.0,
        "memory_mib": 300.0,
        "card_ms": [2.0],
    }
    run = {**ours, "step_ms": [5.0], "scroll_pause_ms": 20.0}
    rows = tuple(rows_of([bare], [run], [run], [0.15]))
    assert all(row.is_kept for row in rows) is is_kept
    assert next(row for row in rows if row.name == "memory").ratio == pytest.approx(300 / 90)
