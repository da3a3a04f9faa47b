"""`protoleaf experiment release`: export a trained PPN of the table as ONNX with a card."""

from pathlib import Path
from typing import Annotated

import typer

from engine.cli.output import print_result
from research.cli.experiment_runs import DataSet, Setting, known_method
from research.grid import VALIDATION_CLASSES


def release(
    data: DataSet,
    *,
    runs: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder of checkpoints.")],
    results: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder of results.")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for the files.")],
    method: Annotated[str, typer.Option(help="ppn, ppn-cosine or ppn-guessed.")] = "ppn-guessed",
    shots: Annotated[int, typer.Option(min=1, help="Of the training: 1 or 5.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Of the training.")] = 0,
    validation: Annotated[
        int, typer.Option(min=2, help="Training classes that were put aside.")
    ] = VALIDATION_CLASSES,
    setting: Setting = None,
) -> None:
    """Export a trained PPN of the table: backbone and propagation as ONNX, with a model card."""
    from engine.collection.training.settings import parse_settings
    from research.grid.cell import cells_of
    from research.grid.release import release as write

    cells = cells_of(
        [data], seeds=seed + 1, methods=[known_method(method)], shots=[shots], validation=validation
    )
    backbone, propagation = write(cells[-1], runs, results, parse_settings(setting or ()), out)
    print_result(
        f"{backbone}\n{propagation}",
        {"backbone": str(backbone), "propagation": str(propagation)},
    )


def register(application: typer.Typer) -> None:
    """Add this command to `protoleaf experiment`."""
    application.command("release")(release)
