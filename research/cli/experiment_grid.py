"""`protoleaf experiment grid`: PPN and Prototypical Nets over splits and seeds, chosen on validation classes."""

from pathlib import Path
from typing import Annotated

import typer

from engine.cli.output import AsJson, progress_bar, say, stoppable
from engine.errors import UsageError
from research.cli.experiment_runs import DataSets, Setting


def grid(
    data: DataSets,
    *,
    runs: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder of checkpoints.")],
    results: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder of results, small JSON files.")],
    seeds: Annotated[int, typer.Option(min=1, help="Trainings of each method on each data set.")] = 2,
    shots: Annotated[list[int] | None, typer.Option(help="Only 1 or 5 shots.")] = None,
    method: Annotated[list[str] | None, typer.Option(help="Only these methods; may be repeated.")] = None,
    setting: Setting = None,
    workers: Annotated[int, typer.Option(min=1, help="Trainings side by side.")] = 1,
    only_show: Annotated[bool, typer.Option("--only-show", help="Show existing results; train nothing.")] = False,
    curves: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Folder for a figure of the trainings.")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print tables for a document.")] = False,
    as_json: AsJson = False,
) -> None:
    """Train and test what the grid still lacks, and show it beside the paper's figures; goes on where it stopped.

    Each data set is one split: build several with different seeds.
    """
    from engine.collection.training.settings import parse_settings
    from research.grid.cell import METHODS, cells_of
    from research.grid.curves import draw_curves
    from research.grid.result import read_all
    from research.grid.run import BY_SHOTS, missing, run_grid
    from research.grid.table import costs_of, shared_test_classes, tables_of
    from research.reports.text_table import titled_tables

    chosen = parse_settings(setting or ())
    for name in method or ():
        if name not in METHODS:
            raise UsageError("there is no such method in the grid", expected=", ".join(METHODS), found=name)
    for count in shots or ():
        if count not in BY_SHOTS:
            raise UsageError("the grid has no such tasks", expected="1 or 5 shots", found=str(count))
    cells = cells_of(data, seeds=seeds, methods=method or METHODS, shots=shots or tuple(BY_SHOTS))
    if not only_show:
        wanted = missing(cells, results, chosen)
        with stoppable("run the same command again to resume") as cancel, progress_bar("Training") as on_progress:
            run_grid(wanted, runs, results, chosen, workers=workers, on_progress=on_progress, cancel=cancel)
    found = read_all(results)
    if curves is not None:
        draw_curves(found, curves)
    parts = [part for variant in ("pure", "mix") for part in tables_of(found, variant)]
    parts += [
        ("seconds of processor time", costs_of(found)),
        ("test classes of the splits", shared_test_classes(found)),
    ]
    rows = [{"table": title, "rows": [list(row) for row in table.rows]} for title, table in parts]
    say(titled_tables(parts, is_markdown=markdown), {"tables": rows}, as_json=as_json)


def register(application: typer.Typer) -> None:
    """Add this command to `protoleaf experiment`."""
    application.command("grid")(grid)
