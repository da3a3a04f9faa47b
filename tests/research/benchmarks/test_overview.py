"""The table of figures: `protoleaf benchmark all`, with fake benchmarks."""

import re
from pathlib import Path
from typing import Any

import pytest

from research.benchmarks import overview
from research.benchmarks.overview import (
    ROWS,
    OverviewFigure,
    OverviewResult,
    OverviewRow,
    measure,
    read_results,
)
from tests.support.command_line import done, protoleaf, refused

ROOT = Path(__file__).parents[3]
MEASURED = OverviewFigure(2.0, "s", "a peer", 4.0, 1.0)


def _run(arguments: str) -> dict[str, Any] | None:
    """Figures of two benchmarks; a third one fails."""
    printed: dict[str, dict[str, Any]] = {
        "drop": {
            "rows": [
                {
                    "name": "it is there already",
                    "figure": 1.5,
                    "unit": "s",
                    "against": "a fit",
                    "reference": 1.0,
                    "limit": 1.7,
                }
            ]
        },
        "backup": {"alone_median_ms": 2.5},
    }
    return printed.get(arguments)


def test_each_command_runs_once_and_a_failed_one_is_named() -> None:
    """Rows of one command are read from one run, and stored once it has ended."""
    asked: list[str] = []

    def run(arguments: str) -> dict[str, Any] | None:
        asked.append(arguments)
        return _run(arguments)

    kept: list[OverviewResult] = []
    wanted = [row for row in ROWS if row.arguments in {"drop", "backup", "startup"}]
    assert measure(wanted, run=run, on_result=kept.extend) == ["startup"]
    assert sorted(asked) == ["backup", "drop", "startup"]
    assert [(each.title, each.measured.value) for each in kept] == [
        ("3 photos dropped, predicted", 1.5),
        ("one label on disk", 2.5),
    ]
    assert kept[0].measured.limit == 1.7
    assert "cores" in kept[0].machine


def test_the_command_keeps_what_it_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A row without a result is absent; a new result replaces the old one."""
    monkeypatch.setattr(overview, "measure", _fake_measure)
    file = tmp_path / "benchmarks.json"
    words = ("benchmark", "all", "--results", file)
    table = done(capsys, *words, "--only", "one label on disk", "--markdown").out
    assert table.splitlines()[2:] == [
        "| one label on disk | 2 s | 4 s, a peer | 0.50 (≤ 1) | `backup` | a machine | 2026-01-02 |"
    ]
    assert read_results(file).keys() == {"one label on disk"}
    assert "0.50 (≤ 1) of a peer" in done(capsys, *words, "--only-show").out
    assert "no such row" in refused(capsys, *words, "--only", "no row", status=2)


def test_a_failed_benchmark_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message has the command, and the exit status is 1."""
    monkeypatch.setattr(overview, "measure", lambda _rows, on_result: ["drop"])  # noqa: ARG005
    answer = protoleaf(capsys, "benchmark", "all", "--results", tmp_path / "none.json")
    assert answer.status == 1
    assert "protoleaf benchmark drop" in answer.err


def test_the_page_has_the_table_of_the_results() -> None:
    """`protoleaf benchmark all --only-show --page` writes it; at most 20 rows."""
    page = (ROOT / overview.PAGE).read_text(encoding="utf-8")
    results = read_results(ROOT / overview.RESULTS)
    assert overview.with_table(page, results) == page
    assert len(ROWS) <= 20
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", each.date) for each in results.values())
    assert all(result.title in {row.title for row in ROWS} for result in results.values())


def _fake_measure(rows: list[OverviewRow], on_result: Any) -> list[str]:
    on_result([OverviewResult(row.title, MEASURED, "a machine", "2026-01-02") for row in rows])
    return []
