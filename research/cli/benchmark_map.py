"""`protoleaf benchmark map`: compute a large map, pan and zoom."""

from typing import Annotated

import typer

from engine.cli.output import print_result


def collection_map(
    images: Annotated[int, typer.Option(min=100)] = 100_000,
    *,
    many: Annotated[
        int, typer.Option(min=100, help="Points of a larger map, of which frames are timed.")
    ] = 1_000_000,
    window: Annotated[bool, typer.Option(help="Also time frames of the window.")] = True,
) -> None:
    """Make the map of a large project, pan and zoom.

    The exit status is 1 when a limit is missed.
    """
    from research.benchmarks.map import measure_map

    figures = measure_map(images, many=many, in_window=window)
    print_result("\n".join(row.line for row in figures.rows), figures.fields())
    if not figures.are_kept:
        raise typer.Exit(1)


def register(application: typer.Typer) -> None:
    """Add the command to `protoleaf benchmark`."""
    application.command("map")(collection_map)
