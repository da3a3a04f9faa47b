"""`protoleaf benchmark loop`: label a large data set in the window, classify it on a cluster."""

from dataclasses import asdict
from typing import Annotated

import typer

from engine.cli.commands import cluster_commands
from engine.cli.output import print_result


def loop(
    rows: Annotated[
        int, typer.Option(min=400, help="Of the data set, with made-up embeddings.")
    ] = 1_000_000,
    keys: Annotated[int, typer.Option(min=1, help="Labels by keys in the window.")] = 50,
    per_s: Annotated[float, typer.Option(help="Keys a second.", min=0.1)] = 2,
) -> None:
    """Label a data set in the window, export the model, classify on a cluster of this computer.

    The exit status is 1 where a label on disk differs from the one shown, or predictions of cluster
    and window differ.
    """
    cluster_commands()  # refuses where protoleaf-cluster is not installed
    from research.benchmarks.loop import measure_loop

    figures = measure_loop(rows, keys=keys, per_s=per_s)
    labels = figures.labelling
    lines = [f"{step.name:34} {step.seconds:8.1f} s" for step in figures.steps]
    print_result(
        "\n".join((f"{figures.rows:,} images", *lines))
        + f"\nlabels on disk, as shown {labels.as_shown:9}   of {labels.keys}\n"
        + "".join(f"{row.line}\n" for row in labels.rows)
        + (
            f"predicted alike          {figures.same:9,}   of {figures.compared:,} (limit "
            f"{figures.limit_same:.1%})"
        ),
        {**asdict(figures), "are_kept": figures.are_kept},
    )
    if not figures.are_kept:
        raise typer.Exit(1)


def register(application: typer.Typer) -> None:
    """Add the command to `protoleaf benchmark`."""
    application.command("loop")(loop)
