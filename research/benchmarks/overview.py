"""The table of docs/performance.md: each figure next to its physical limit or a peer.

`protoleaf benchmark all` runs the benchmarks, and stores their results in a file with machine and
date. A figure without a result has no row.
"""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from engine.new_file import output_file

RESULTS = Path("docs/results/benchmarks.json")
PAGE = Path("docs/performance.md")
BEGIN = "<!-- table: made by `protoleaf benchmark all --only-show --page` -->"
END = "<!-- end of table -->"

Fields = Mapping[str, Any]
"""JSON output of a benchmark."""


@dataclass(frozen=True)
class OverviewFigure:
    """A figure and its reference.

    Attributes:
        value: the figure.
        unit: of it and of the reference.
        against: description of the reference.
        reference: the physical limit, the peer or the goal.
        limit: of the ratio of both; None without one.
        at_least: whether the limit is a lower one.
    """

    value: float
    unit: str
    against: str
    reference: float
    limit: float | None = None
    at_least: bool = False


@dataclass(frozen=True)
class OverviewRow:
    """A row of the table.

    Attributes:
        title: of the row.
        arguments: of `protoleaf benchmark`.
        read: extracts the figure from the output of that command.
    """

    title: str
    arguments: str
    read: Callable[[Fields], OverviewFigure]


@dataclass(frozen=True)
class OverviewResult:
    """A measured row, with machine and date (ISO 8601)."""

    title: str
    measured: OverviewFigure
    machine: str
    date: str


def judged_row(name: str) -> Callable[[Fields], OverviewFigure]:
    """Reader of a verdict by its name in the `rows` of a benchmark."""

    def read(fields: Fields) -> OverviewFigure:
        (row,) = (each for each in fields["rows"] if each["name"] == name)
        return OverviewFigure(
            row["figure"], row["unit"], row["against"], row["reference"], row["limit"]
        )

    return read


def _rate(against: str, peer: str, limit: str) -> Callable[[Fields], OverviewFigure]:
    """Reader of an end-to-end rate, a peer's rate and the limit of their ratio, by field names."""

    def read(fields: Fields) -> OverviewFigure:
        return OverviewFigure(
            fields["pipeline"], "images/s", against, fields[peer], fields[limit], at_least=True
        )

    return read


def _memory_of_embedding(fields: Fields) -> OverviewFigure:
    fewest, *_others, most = fields["runs"]
    return OverviewFigure(
        most["peak_mib"], "MiB", "with 1,000 files", fewest["peak_mib"], fields["limit"]
    )


def _gpu(fields: Fields) -> OverviewFigure:
    slower = min(fields["decode"], fields["inference"])
    return OverviewFigure(
        fields["pipeline"],
        "images/s",
        "decoding alone or the network alone",
        slower,
        fields["limit"],
        at_least=True,
    )


def _label_on_disk(fields: Fields) -> OverviewFigure:
    return OverviewFigure(fields["alone_median_ms"], "ms", "the goal", 5.0, 1.0)


def _zooming(fields: Fields) -> OverviewFigure:
    (row,) = (each for each in fields["figures"] if each["name"] == "zoom, a frame, 95 %")
    return OverviewFigure(row["value"], row["unit"], "a frame of the screen", row["limit"], 1.0)


def _similar(fields: Fields) -> OverviewFigure:
    return OverviewFigure(
        1000 * fields["whitened_s"], "ms", "numpy's product alone", 1000 * fields["product_s"]
    )


def _cluster(fields: Fields) -> OverviewFigure:
    return OverviewFigure(
        fields["cluster"],
        "images/s",
        "the desktop",
        fields["desktop"],
        fields["limit"],
        at_least=True,
    )


ROWS = (
    OverviewRow(
        "embedding, accurate backbone",
        "embed --backbone accurate",
        _rate("decoding and network on the same cores", "reachable", "limit"),
    ),
    OverviewRow(
        "the same against torch and Pillow",
        "embed --backbone accurate",
        _rate("torch's DataLoader with Pillow", "peer", "limit_over_peer"),
    ),
    OverviewRow(
        "embedding, 12-megapixel photos",
        "embed --backbone fast --photos large",
        _rate("the fastest plain decoder", "best_decode", "limit_large"),
    ),
    OverviewRow("embedding on a GPU", "embed --backbone fast --device cuda", _gpu),
    OverviewRow("embedding, 3 boxes a photo", "embed --boxes 3", judged_row("photos with boxes")),
    OverviewRow("memory of embedding 100,000 files", "embed-memory", _memory_of_embedding),
    OverviewRow("import of 480 photos", "import", judged_row("until everything")),
    OverviewRow("3 photos dropped, predicted", "drop", judged_row("it is there already")),
    OverviewRow("start until visible", "startup", judged_row("visible, large project")),
    OverviewRow("start until all predictions", "startup", judged_row("all predictions")),
    OverviewRow("memory of the window", "startup", judged_row("memory")),
    OverviewRow("key to next card", "labelling", judged_row("key to next card, median")),
    OverviewRow("predictions after a key", "labelling", judged_row("predictions after a key")),
    OverviewRow("one more label", "collection", judged_row("one label more")),
    OverviewRow("confidence of a class changed", "edit", judged_row("bar of a class")),
    OverviewRow("key to next card in review", "review", judged_row("key to next card, median")),
    OverviewRow("one label on disk", "backup", _label_on_disk),
    OverviewRow("zooming over 10,000 classes", "graph", _zooming),
    OverviewRow("similar images", "similar", _similar),
    OverviewRow("embedding on a local cluster", "cluster", _cluster),
)
"""At most 20 rows, by default of 100,000 images."""
_ARGUMENTS = {row.title: row.arguments for row in ROWS}


def machine() -> str:
    """Processor and number of cores."""
    names = [
        line.partition(":")[2].strip()
        for line in _lines(Path("/proc/cpuinfo"))
        if line.startswith("model name")
    ]
    name = names[0].split(" with ")[0] if names else platform.processor() or platform.machine()
    return f"{os.cpu_count()} cores, {name}"


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


def run_benchmark(arguments: str) -> Fields | None:
    """Run `protoleaf benchmark ARGUMENTS --json` and return its output; None where it failed.

    A benchmark that misses its limit exits with 1, but prints its figures.
    """
    command = [sys.executable, "-m", "app", "benchmark", *arguments.split(), "--json"]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603 (our own program)
    try:
        fields: Fields = json.loads(ended.stdout)
    except ValueError:
        return None
    return fields


def measure(
    rows: Sequence[OverviewRow],
    *,
    run: Callable[[str], Fields | None] = run_benchmark,
    on_result: Callable[[Sequence[OverviewResult]], object] = lambda _results: None,
) -> list[str]:
    """Run the benchmarks of some rows, each command once.

    Args:
        rows: of the table.
        run: runs a benchmark by its arguments.
        on_result: called with the results of each command.

    Returns:
        Commands that failed.
    """
    failed = []
    for arguments in dict.fromkeys(row.arguments for row in rows):
        fields = run(arguments)
        if fields is None:
            failed.append(arguments)
            continue
        date = datetime.now(UTC).date().isoformat()
        on_result(
            [
                OverviewResult(row.title, row.read(fields), machine(), date)
                for row in rows
                if row.arguments == arguments
            ]
        )
    return failed


def read_results(path: Path) -> dict[str, OverviewResult]:
    """Results by title; empty without a file."""
    if not path.exists():
        return {}
    results = msgspec.json.decode(path.read_bytes(), type=list[OverviewResult])
    return {result.title: result for result in results}


def write_results(path: Path, results: Mapping[str, OverviewResult]) -> None:
    """Write results in the order of the table."""
    ordered = [asdict(result) for result in in_order(results)]
    with output_file(path) as file:
        file.write((json.dumps(ordered, ensure_ascii=False, indent=1) + "\n").encode())


def markdown(results: Mapping[str, OverviewResult]) -> str:
    """Markdown table of the rows with results."""
    return "\n".join(
        [
            "| figure | measured | limit or peer | ratio | `benchmark` | machine | date |",
            "|---|---:|---|---:|---|---|---|",
            *(_line(result) for result in in_order(results)),
        ]
    )


def text(results: Mapping[str, OverviewResult]) -> str:
    """Table for a terminal."""
    return "\n".join(
        f"{result.title:34} {_amount(result.measured.value, result.measured.unit):>15} "
        f"{_ratio(result.measured):>18} of {result.measured.against}, {result.date}"
        for result in in_order(results)
    )


def with_table(page: str, results: Mapping[str, OverviewResult]) -> str:
    """Replace the table of a page."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{markdown(results)}\n\n{END}{rest.partition(END)[2]}"


def write_page(results: Mapping[str, OverviewResult], page: Path = PAGE) -> None:
    """Update the table of the page."""
    content = with_table(page.read_text(encoding="utf-8"), results)
    with output_file(page) as file:
        file.write(content.encode())


def in_order(results: Mapping[str, OverviewResult]) -> list[OverviewResult]:
    """Results in the order of the table."""
    return [results[row.title] for row in ROWS if row.title in results]


def _line(result: OverviewResult) -> str:
    measured = result.measured
    cells = (
        result.title,
        _amount(measured.value, measured.unit),
        f"{_amount(measured.reference, measured.unit)}, {measured.against}",
        _ratio(measured),
        f"`{_ARGUMENTS[result.title]}`",
        result.machine,
        result.date,
    )
    return f"| {' | '.join(cells)} |"


def _amount(value: float, unit: str) -> str:
    digits = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"  # noqa: PLR2004 (three digits)
    return f"{digits} {unit}"


def _ratio(measured: OverviewFigure) -> str:
    ratio = measured.value / measured.reference
    if measured.limit is None:
        return f"{ratio:.2f}"
    is_kept = ratio >= measured.limit if measured.at_least else ratio <= measured.limit
    sign = "≥" if measured.at_least else "≤"
    return f"{ratio:.2f} ({sign} {measured.limit:g}{'' if is_kept else ', missed'})"
