"""Make the report: each part in a process of its own, so that a crash only costs its rows."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.config import BACKBONES_VARIABLE
from engine.new_file import create_file
from engine.new_folder import scratch_folder
from research.gpu_report.networks import clear_scratch
from research.gpu_report.part import SHARES, measure, measurements_of
from research.gpu_report.rows import ReportRow, as_json, row_of, write_tables
from research.gpu_report.sizes import fitting_sizes

GRACE_S = 15.0  # that a part may take beyond its share, for a running measurement
_LEAST_S = 2.0  # that a part gets at least
_KILLED = "the part took too long and was ended"


def make_report(
    out: Path,
    *,
    minutes: float,
    vendored: Path | None = None,
    few: bool = False,
    parts: Sequence[str] = tuple(SHARES),
) -> tuple[ReportRow, ...]:
    """Measure all parts within a time; update `gpu.json` and `gpu.md` after each.

    Args:
        out: folder of the report; created if missing.
        minutes: for all parts together; without starting Python.
        vendored: folder of converted backbones, where they cannot be converted on this computer.
        few: smoke test with minimal sizes.
        parts: some of `SHARES`.
    """
    out.mkdir(parents=True, exist_ok=True)
    end_s = time.monotonic() + 60 * minutes
    rows: list[ReportRow] = []
    with scratch_folder() as folder:
        for number, part in enumerate(parts):
            left = end_s - time.monotonic()
            share = SHARES[part] / sum(SHARES[each] for each in parts[number:])
            found = _in_child(
                part, max(_LEAST_S, left * share), folder / f"{part}.jsonl", vendored, few=few
            )
            rows += found
            write_tables(rows, out, {"minutes": minutes, "parts": number + 1, "of": len(parts)})
            for row in found:
                print(  # noqa: T201
                    f"{row.part}: {row.name}: {row.value} {row.unit} {dict(row.details)} "
                    f"{row.reason}",
                    flush=True,
                )
    return tuple(rows)


def _in_child(
    part: str, seconds: float, file: Path, vendored: Path | None, *, few: bool
) -> list[ReportRow]:
    """Rows of a part; measurements that its process did not reach get a reason."""
    command = [
        sys.executable,
        "-m",
        "research.gpu_report",
        "--part",
        part,
        "--seconds",
        f"{seconds:.1f}",
    ]
    command += ["--rows", str(file), *(["--few"] if few else [])]
    environment = dict(os.environ)
    if vendored is not None:
        environment[BACKBONES_VARIABLE] = str(vendored)
    try:
        status = subprocess.run(  # noqa: S603 (our own program)
            command, env=environment, timeout=seconds + GRACE_S, check=False
        ).returncode
        ending = "" if status == 0 else f"the part's process ended with status {status}"
    except subprocess.TimeoutExpired:
        ending = _KILLED
    return rows_of(part, file, ending)


def rows_of(part: str, file: Path, ending: str) -> list[ReportRow]:
    """Read the output of a part: its plan on the first line, then its rows."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    if not lines:
        return [
            ReportRow("the whole part", reason=ending or "its process wrote nothing", part=part)
        ]
    facts: list[Mapping[str, object]] = [json.loads(line) for line in lines[1:]]
    rows = [row_of(each) for each in facts]
    known = {row.name for row in rows}
    rows += [
        ReportRow(name, reason=ending, part=part)
        for name in json.loads(lines[0])
        if name not in known
    ]
    return rows


def run_part(part: str, seconds: float, file: Path, *, few: bool) -> None:
    """Run in the child process: write the plan, then each row once it is known."""
    planned = measurements_of(part, fitting_sizes(few=few))
    with create_file(file) as lines:

        def write(line: str) -> None:
            lines.write(f"{line}\n".encode())
            lines.flush()

        write(json.dumps([measurement.name for measurement in planned]))
        try:
            measure(part, planned, seconds, lambda row: write(as_json(row)))
        finally:
            clear_scratch()
