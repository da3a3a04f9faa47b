"""`protoleaf benchmark cluster`: embedding and classification on a cluster."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli.commands import cluster_commands
from engine.cli.output import print_result

if TYPE_CHECKING:
    from research.benchmarks.cluster import ClassifiedRows


def cluster(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Images or folders; by default generated photos.")
    ] = None,
    *,
    images: Annotated[int, typer.Option(min=1, help="Generated photos, at least.")] = 1_440,
    rows: Annotated[
        int, typer.Option(min=10, help="Of the data set that is classified.")
    ] = 1_000_000,
    rounds: Annotated[int, typer.Option(min=1)] = 3,
    backbone: Annotated[
        str, typer.Option(help="“accurate”, “fast”, a backbone of `backbone list`, or a file.")
    ] = "fast",
    address: Annotated[
        str,
        typer.Option(
            "--cluster", metavar="ADDRESS", help="Of the Ray cluster that embeds, as of `embed`."
        ),
    ] = "local",
) -> None:
    """Embed files on a cluster and on this desktop in turn, and classify a synthetic data set.

    The exit status is 1 when a limit is missed, or one bit of an embedding differs.
    """
    cluster_commands()  # refuses where protoleaf-cluster is not installed
    from research.benchmarks.cluster import measure_cluster

    figures = measure_cluster(
        paths or (), images=images, rows=rows, rounds=rounds, backbone=backbone, address=address
    )
    print_result(
        f"{figures.images:,} images on all cores\n"
        f"desktop              {figures.desktop:10,.0f} images/s\n"
        f"cluster              {figures.cluster:10,.0f} images/s   {figures.ratio:.2f} of it "
        f"(limit {figures.limit})\n"
        f"embeddings that differ from the desktop's in a bit: {figures.differing:,}\n"
        f"{_line(figures.fewer)}\n{_line(figures.many)}\n"
        f"growth of a worker   {figures.growth:10.2f} x (limit {figures.limit_growth})",
        {**asdict(figures), "growth": figures.growth},
    )
    if not figures.are_kept:
        raise typer.Exit(1)


def _line(run: "ClassifiedRows") -> str:
    return (
        f"classify {run.rows:11,} {run.rows_per_s:10,.0f} images/s   a worker holds "
        f"{run.worker_mib:,.0f} MiB at most, "
        f"the command {run.driver_mib:,.0f} MiB"
    )


def register(application: typer.Typer) -> None:
    """Add the command to `protoleaf benchmark`."""
    application.command("cluster")(cluster)
