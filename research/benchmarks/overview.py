"""The table of docs/performance.md: each figure next to its physical limit or a peer.

`protoleaf benchmark all` runs the benchmarks, and keeps what they measured in a file with machine
and date. A figure that was never measured has no row.
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
from typing import Any, Final

import msgspec

from engine.new_file import output_file

RESULTS: Final = Path("docs/results/benchmarks.json")
PAGE: Final = Path("docs/performance.md")
BEGIN: Final = "<!-- table: made by `protoleaf benchmark all --only-show --page` -->"
END: Final = "<!-- end of table -->"

Fields = Mapping[str, Any]
"""What a benchmark prints with `--json`."""


@dataclass(frozen=True)
class Measured:
    """A figure and what it is compared with.

    Attributes:
        value: the figure.
        unit: of it and of the reference.
        against: what the reference is.
        reference: the physical limit, the peer or the goal.
        limit: of the ratio of both; None where none is set.
        at_least: whether the ratio may not be smaller than the limit, instead of larger.
    """

    value: float
    unit: str
    against: str
    reference: float
    limit: float | None = None
    at_least: bool = False


@dataclass(frozen=True)
class TableRow:
    """A row of the table.

    Attributes:
        title: names the row.
        arguments: of `protoleaf benchmark`.
        read: takes the figure from what that command prints.
    """

    title: str
    arguments: str
    read: Callable[[Fields], Measured]


@dataclass(frozen=True)
class Result:
    """A measured row, with machine and date (ISO 8601)."""

    title: str
    measured: Measured
    machine: str
    date: str


def judged_row(name: str) -> Callable[[Fields], Measured]:
    """Reads a verdict by its name from the `rows` of a benchmark."""

    def read(fields: Fields) -> Measured:
        (row,) = (each for each in fields["rows"] if each["name"] == name)
        return Measured(row["figure"], row["unit"], row["against"], row["reference"], row["limit"])

    return read


def _rate(against: str, peer: str, limit: str) -> Callable[[Fields], Measured]:
    """Reads images per second end to end, with the rate and the least share of it by their names."""

    def read(fields: Fields) -> Measured:
        return Measured(
            fields["pipeline"], "images/s", against, fields[peer], fields[limit], at_least=True
        )

    return read


def _memory_of_embedding(fields: Fields) -> Measured:
    fewest, *_others, most = fields["runs"]
    return Measured(
        most["peak_mib"], "MiB", "with 1,000 files", fewest["peak_mib"], fields["limit"]
    )


def _gpu(fields: Fields) -> Measured:
    slower = min(fields["decode"], fields["inference"])
    return Measured(
        fields["pipeline"], "images/s", "decoding alone or the network alone", slower,
        fields["limit"], at_least=True,
    )  # fmt: skip


def _label_on_disk(fields: Fields) -> Measured:
    return Measured(fields["alone_median_ms"], "ms", "the goal", 5.0, 1.0)


def _zooming(fields: Fields) -> Measured:
    (row,) = (each for each in fields["figures"] if each["name"] == "zoom, a frame, 95 %")
    return Measured(row["value"], row["unit"], "a frame of the screen", row["limit"], 1.0)


def _similar(fields: Fields) -> Measured:
    return Measured(
        1000 * fields["whitened_s"], "ms", "numpy's product alone", 1000 * fields["product_s"]
    )


def _cluster(fields: Fields) -> Measured:
    return Measured(
        fields["cluster"], "images/s", "the desktop", fields["desktop"], fields["limit"],
        at_least=True,
    )  # fmt: skip


ROWS: Final = (
    TableRow(
        "embedding, accurate backbone",
        "embed --backbone accurate",
        _rate("decoding and network on the same cores", "reachable", "limit"),
    ),
    TableRow(
        "the same against torch and Pillow",
        "embed --backbone accurate",
        _rate("torch's DataLoader with Pillow", "peer", "limit_over_peer"),
    ),
    TableRow(
        "embedding, 12-megapixel photos",
        "embed --backbone fast --photos large",
        _rate("the fastest plain decoder", "best_decode", "limit_large"),
    ),
    TableRow("embedding on a GPU", "embed --backbone fast --device cuda", _gpu),
    TableRow("embedding, 3 boxes a photo", "embed --boxes 3", judged_row("photos with boxes")),
    TableRow("memory of embedding 100,000 files", "embed-memory", _memory_of_embedding),
    TableRow("import of 480 photos", "import", judged_row("until everything")),
    TableRow("3 photos dropped, predicted", "drop", judged_row("it is there already")),
    TableRow("start until visible", "startup", judged_row("visible, large project")),
    TableRow("start until all predictions", "startup", judged_row("all predictions")),
    TableRow("memory of the window", "startup", judged_row("memory")),
    TableRow("key to next card", "labelling", judged_row("key to next card, median")),
    TableRow("predictions after a key", "labelling", judged_row("predictions after a key")),
    TableRow("one more label", "collection", judged_row("one label more")),
    TableRow("confidence of a class changed", "edit", judged_row("bar of a class")),
    TableRow("key to next card in review", "review", judged_row("key to next card, median")),
    TableRow("one label on disk", "backup", _label_on_disk),
    TableRow("zooming over 10,000 classes", "graph", _zooming),
    TableRow("similar images", "similar", _similar),
    TableRow("embedding on a local cluster", "cluster", _cluster),
)
"""Of 100,000 images where the benchmark's own default is that; at most 20."""
_ARGUMENTS: Final = {row.title: row.arguments for row in ROWS}


def machine() -> str:
    """The processor and its cores, in a few words."""
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
    """What `protoleaf benchmark ARGUMENTS --json` prints; None where it failed.

    A benchmark whose limit is missed ends with 1 and prints its figures all the same.
    """
    command = [sys.executable, "-m", "app", "benchmark", *arguments.split(), "--json"]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603 (our own program)
    try:
        fields: Fields = json.loads(ended.stdout)
    except ValueError:
        return None
    return fields


def measure(
    rows: Sequence[TableRow],
    *,
    run: Callable[[str], Fields | None] = run_benchmark,
    on_result: Callable[[Sequence[Result]], object] = lambda _results: None,
) -> list[str]:
    """Run the benchmarks of these rows, each command once.

    Args:
        rows: of the table.
        run: runs a benchmark by its arguments.
        on_result: called with the results of each command.

    Returns:
        Commands that gave no figures.
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
                Result(row.title, row.read(fields), machine(), date)
                for row in rows
                if row.arguments == arguments
            ]
        )
    return failed


def read_results(path: Path) -> dict[str, Result]:
    """Results by title; none where there is no file."""
    if not path.exists():
        return {}
    results = msgspec.json.decode(path.read_bytes(), type=list[Result])
    return {result.title: result for result in results}


def write_results(path: Path, results: Mapping[str, Result]) -> None:
    """Write results in the order of the table."""
    ordered = [asdict(result) for result in in_order(results)]
    with output_file(path) as file:
        file.write((json.dumps(ordered, ensure_ascii=False, indent=1) + "\n").encode())


def markdown(results: Mapping[str, Result]) -> str:
    """The table in Markdown: rows that were measured."""
    return "\n".join(
        [
            "| figure | measured | limit or peer | ratio | `benchmark` | machine | date |",
            "|---|---:|---|---:|---|---|---|",
            *(_line(result) for result in in_order(results)),
        ]
    )


def text(results: Mapping[str, Result]) -> str:
    """The table for a terminal."""
    return "\n".join(
        f"{result.title:34} {_amount(result.measured.value, result.measured.unit):>15} "
        f"{_ratio(result.measured):>18} of {result.measured.against}, {result.date}"
        for result in in_order(results)
    )


def with_table(page: str, results: Mapping[str, Result]) -> str:
    """A page with the table in the place of the one that it has."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{markdown(results)}\n\n{END}{rest.partition(END)[2]}"


def write_page(results: Mapping[str, Result], page: Path = PAGE) -> None:
    """Put the table into the page."""
    content = with_table(page.read_text(encoding="utf-8"), results)
    with output_file(page) as file:
        file.write(content.encode())


def in_order(results: Mapping[str, Result]) -> list[Result]:
    """Results in the order of the table."""
    return [results[row.title] for row in ROWS if row.title in results]


def _line(result: Result) -> str:
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


def _ratio(measured: Measured) -> str:
    ratio = measured.value / measured.reference
    if measured.limit is None:
        return f"{ratio:.2f}"
    is_kept = ratio >= measured.limit if measured.at_least else ratio <= measured.limit
    sign = "≥" if measured.at_least else "≤"
    return f"{ratio:.2f} ({sign} {measured.limit:g}{'' if is_kept else ', missed'})"
