"""`protoleaf benchmark detection`: overhead of a detector's run over files."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from engine.cli.output import print_result


def detection(
    model: Annotated[Path, typer.Argument(metavar="FILE.onnx", help="A detector.")],
    folder: Annotated[Path, typer.Argument(help="Folder of photos.")],
    images: Annotated[int, typer.Option(min=1, help="At most so many of them.")] = 40,
) -> None:
    """Run a detector over photos on the CPU, the network alone, and reading alone: the overhead."""
    from research.benchmarks.detection import LIMIT, lines_of, measure_detection

    figures = measure_detection(model, folder, images)
    fields = {
        **asdict(figures),
        "beyond_network": figures.beyond_network,
        "beyond_both": figures.beyond_both,
    }
    last = (
        f"the run costs {figures.beyond_network:.2f} x the network, "
        f"{figures.beyond_both:.2f} x network and reading (limit {LIMIT:g})"
    )
    print_result("\n".join([*lines_of(figures), last]), fields)
    if figures.beyond_both > LIMIT:
        raise typer.Exit(1)


def register(application: typer.Typer) -> None:
    """Add the command to `protoleaf benchmark`."""
    application.command("detection")(detection)
