"""The GPU report on a computer without a GPU: it completes, with reasons for empty rows."""

import json
import sys
from pathlib import Path

import pytest

from research.gpu_report import part as parts
from research.gpu_report import run
from research.gpu_report.part import OUT_OF_TIME, SHARES, Measurement, measure, measurements_of
from research.gpu_report.rows import (
    JSON_FILE,
    MARKDOWN_FILE,
    NotMeasuredError,
    ReportRow,
    as_json,
    markdown,
    row_of,
    shown,
)
from research.gpu_report.run import make_report, rows_of
from research.gpu_report.sizes import TINY, has_gpu
from research.gpu_report.timing import median_s


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two of the parts, with minimal sizes."""
    folder = tmp_path_factory.mktemp("gpu") / "report"
    make_report(folder, minutes=2, few=True, parts=("training", "classification"))
    return folder


@pytest.mark.slow
def test_report_on_a_cpu(report: Path) -> None:
    """Every planned row is present: the CPU's with figures, the GPU's with the reason."""
    facts = json.loads((report / JSON_FILE).read_text())
    rows = [row_of(each) for each in facts["rows"]]
    planned = [
        each.name for part in ("training", "classification") for each in measurements_of(part, TINY)
    ]
    assert [row.name for row in rows] == planned
    assert facts["notes"]["parts"] == facts["notes"]["of"] == 2
    for row in rows:
        assert (row.value is None) == bool(row.reason)
        if "CPU" in row.name:
            assert isinstance(row.value, float)
            assert row.value > 0
        elif not has_gpu():
            assert row.reason.startswith("no GPU: ")
    table = (report / MARKDOWN_FILE).read_text().splitlines()
    assert len(table) == len(rows) + 4
    assert {line.count(" | ") for line in table[2:] if not line.startswith("|---")} == {3}


def failing() -> ReportRow:
    """A measurement that fails."""
    raise ZeroDivisionError("one over\nnothing")


def refused() -> ReportRow:
    """A measurement that is not possible."""
    raise NotMeasuredError("no such thing here")


def test_what_fails_is_a_row_and_the_others_go_on() -> None:
    """The row has the kind of error, or the reason alone where it was expected."""
    planned = [
        Measurement("a", failing),
        Measurement("b", refused),
        Measurement("c", lambda: ReportRow("", 2.0, "images/s")),
    ]
    rows: list[ReportRow] = []
    measure("machine", planned, 60, rows.append)
    assert [(row.name, row.part, row.value, row.reason) for row in rows] == [
        ("a", "machine", None, "ZeroDivisionError: one over nothing"),
        ("b", "machine", None, "no such thing here"),
        ("c", "machine", 2.0, ""),
    ]


def test_what_comes_too_late_is_a_row() -> None:
    """No measurement begins after the time of the part."""
    rows: list[ReportRow] = []
    measure("machine", [Measurement("late", failing)], 0, rows.append)
    assert [row.reason for row in rows] == [OUT_OF_TIME]


def test_a_part_that_is_killed_keeps_its_rows(tmp_path: Path) -> None:
    """Written rows count; the others of the plan get the reason."""
    file = tmp_path / "rows.jsonl"
    file.write_text(
        json.dumps(["a", "b"])
        + "\n"
        + as_json(ReportRow("a", 1.5, "s", {"batch": 8}, part="training"))
        + "\n"
    )
    rows = rows_of("training", file, "killed")
    assert rows == [
        ReportRow("a", 1.5, "s", {"batch": 8}, part="training"),
        ReportRow("b", reason="killed", part="training"),
    ]
    assert [row.reason for row in rows_of("training", tmp_path / "none", "")] == [
        "its process wrote nothing"
    ]


def test_a_process_that_crashes_or_hangs_costs_its_rows_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The report continues with the next part."""
    monkeypatch.setattr(run, "GRACE_S", 0.0)
    monkeypatch.setattr(run, "_LEAST_S", 0.2)
    monkeypatch.setattr(sys, "executable", "false")
    rows = make_report(tmp_path, minutes=0.01, parts=("machine", "training"))
    assert [(row.part, row.reason) for row in rows] == [
        ("machine", "the part's process ended with status 1"),
        ("training", "the part's process ended with status 1"),
    ]
    (tmp_path / "hangs").write_text("#!/bin/sh\nexec sleep 60\n")
    (tmp_path / "hangs").chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "hangs"))
    rows = make_report(tmp_path, minutes=0.01, parts=("machine",))
    assert [row.reason for row in rows] == ["the part took too long and was ended"]
    assert "machine" in capfd.readouterr().out


@pytest.mark.parametrize("part", SHARES)
def test_each_part_has_a_plan(part: str) -> None:
    """Names are unique."""
    names = [each.name for each in parts.measurements_of(part, TINY)]
    assert names
    assert len(set(names)) == len(names)


def test_figures_for_people() -> None:
    """Cosines keep their digits, and cells have neither bars nor line breaks."""
    assert [shown(value) for value in (1234567, 12345.6, 0.99931, 3.14159, True, None, "x")] == [
        "1,234,567",
        "12,346",
        "0.99931",
        "3.14",
        "yes",
        "unknown",
        "x",
    ]
    assert "a / b c" in markdown([ReportRow("a | b\nc", 1.0)])


def test_median_of_rounds_after_a_warm_up() -> None:
    """At least three rounds, and one that does not count."""
    calls: list[str] = []
    assert median_s(lambda: calls.append("work"), 1, lambda: calls.append("wait")) >= 0
    assert calls == ["wait", "work", "wait"] * 4
