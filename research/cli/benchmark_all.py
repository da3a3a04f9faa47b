"""`protoleaf benchmark all`: the table of docs/performance.md."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli.output import note, print_result
from engine.errors import UsageError

if TYPE_CHECKING:
    from research.benchmarks.overview import OverviewResult


def all_benchmarks(
    only: Annotated[
        list[str] | None,
        typer.Option(help="A row by its title; repeatable.", show_default="all rows"),
    ] = None,
    *,
    only_show: Annotated[
        bool, typer.Option("--only-show", help="Measure nothing: show what is kept.")
    ] = False,
    results: Annotated[
        Path, typer.Option(help="File of what was measured, with machine and date.")
    ] = Path("docs/results/benchmarks.json"),
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print a table in Markdown.")
    ] = False,
    page: Annotated[
        bool, typer.Option("--page", help="Write the table into docs/performance.md.")
    ] = False,
) -> None:
    """Measure each figure of the program with its limit or peer, or show what was measured.

    The exit status is 1 where a benchmark fails.
    """
    from research.benchmarks import overview

    rows = [row for row in overview.ROWS if not only or row.title in only]
    if len(rows) < len(set(only or ())):
        titles = ", ".join(row.title for row in overview.ROWS)
        raise UsageError(f"there is no such row; rows: {titles}")
    kept = overview.read_results(results)

    def keep(measured: "Sequence[OverviewResult]") -> None:
        kept.update({result.title: result for result in measured})
        overview.write_results(results, kept)

    failed = [] if only_show else overview.measure(rows, on_result=keep)
    for arguments in failed:
        note(f"no figures from: protoleaf benchmark {arguments}")
    if page:
        overview.write_page(kept)
    fields = {"rows": [asdict(each) for each in overview.in_order(kept)], "failed": failed}
    print_result(overview.markdown(kept) if markdown else overview.text(kept), fields)
    if failed:
        raise typer.Exit(1)


def register(application: typer.Typer) -> None:
    """Add the command to `protoleaf benchmark`."""
    application.command("all")(all_benchmarks)
