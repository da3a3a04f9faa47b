"""`protoleaf experiment table`: all methods over splits and seeds, tuned on validation classes."""

from pathlib import Path
from typing import Annotated

import typer

from engine.cli.output import print_result, progress_bar, stoppable
from engine.errors import UsageError
from research.cli.experiment_runs import DataSets, Setting, known_method
from research.grid import VALIDATION_CLASSES


def table(
    data: DataSets,
    *,
    runs: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder of checkpoints.")],
    results: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Folder of results, small JSON files.")
    ],
    seeds: Annotated[
        int, typer.Option(min=1, help="Trainings of each method on each data set.")
    ] = 2,
    validation: Annotated[
        int,
        typer.Option(
            min=2, help="Training classes put aside for every choice; tasks have no more ways."
        ),
    ] = VALIDATION_CLASSES,
    shots: Annotated[list[int] | None, typer.Option(help="Only 1 or 5 shots.")] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(help="Only these methods; may be repeated; else all but gnn and closer-look."),
    ] = None,
    setting: Setting = None,
    workers: Annotated[int, typer.Option(min=1, help="Trainings side by side.")] = 1,
    without_fitted: Annotated[
        bool,
        typer.Option(
            "--without-fitted",
            help=(
                "Leave out classifiers that are fitted to each task, most of a test's time; "
                "run again for them."
            ),
        ),
    ] = False,
    only_show: Annotated[
        bool, typer.Option("--only-show", help="Show existing results; train nothing.")
    ] = False,
    curves: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder for a figure of the trainings.")
    ] = None,
    classes: Annotated[
        bool, typer.Option("--classes", help="Show 5-way 1-shot accuracy on each test class.")
    ] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print tables for a document.")
    ] = False,
) -> None:
    """Train and test what the table lacks, and show it beside the paper's figures; resumable.

    Each data set is one split: build several with different seeds.
    """
    from engine.collection.training.settings import parse_settings
    from research.grid.cell import MAIN_METHODS, cells_of, names_of
    from research.grid.curves import draw_curves
    from research.grid.result import read_all
    from research.grid.rows import FITTED
    from research.grid.run import NONE, missing, run_grid
    from research.grid.summary import all_tables
    from research.reports.text_table import titled_tables

    chosen = parse_settings(setting or ())
    methods = [known_method(name) for name in method or ()] or MAIN_METHODS
    cells = cells_of(
        data, seeds=seeds, methods=methods, shots=_known_shots(shots), validation=validation
    )
    if not only_show:
        wanted = missing(cells, results, chosen, left_out := FITTED if without_fitted else NONE)
        with (
            stoppable("run the same command again to resume") as cancel,
            progress_bar("Training") as on_progress,
        ):
            run_grid(
                wanted,
                runs,
                results,
                chosen,
                left_out,
                workers=workers,
                on_progress=on_progress,
                cancel=cancel,
            )
    found = read_all(results)
    if curves is not None:
        draw_curves(found, curves)
    parts = list(all_tables(found, names_of(data) if classes else None))
    rows = [{"table": title, "rows": [list(row) for row in table.rows]} for title, table in parts]
    print_result(titled_tables(parts, is_markdown=markdown), {"tables": rows})


def _known_shots(shots: list[int] | None) -> tuple[int, ...]:
    from research.grid.run import BY_SHOTS

    for count in shots or ():
        if count not in BY_SHOTS:
            raise UsageError(
                "the table has no such tasks", expected="1 or 5 shots", found=str(count)
            )
    return tuple(shots or BY_SHOTS)


def register(application: typer.Typer) -> None:
    """Add this command to `protoleaf experiment`."""
    application.command("table")(table)
