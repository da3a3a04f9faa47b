"""`protoleaf experiment training`: gain of training the backbone on a collection, by shots."""

from pathlib import Path
from typing import Annotated

import typer

from engine.cli.output import print_result, progress_bar, stoppable
from research.cli.experiment_runs import Setting
from research.cli.experiment_transfer import Source


def training(
    source: Source,
    *,
    backbone: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="To start from; by default that of new projects; may be repeated."
        ),
    ] = None,
    shots: Annotated[
        list[int] | None, typer.Option(min=1, help="Per class; by default 1, 2, 3, 5 and 10.")
    ] = None,
    draws: Annotated[
        int, typer.Option(min=1, max=30, help="Draws of shots, the same for every backbone.")
    ] = 3,
    setting: Setting = None,
    runs: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Keeps every training, so that the same command resumes there."
        ),
    ] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print a table for a document.")
    ] = False,
) -> None:
    """Train the backbone on shots of `train`, and measure accuracy on `val` before and after."""
    from engine.backbones.model_files import default_backbone
    from engine.collection.models import find_model
    from engine.collection.training.settings import parse_settings
    from engine.config import CacheFolders
    from research.training_gain.measurement import TrainingPlan, measure_training
    from research.training_gain.report import as_fields, gain_table
    from research.transfer.collection import read_collection

    models = list(
        {
            files.backbone_hash: files
            for files in map(find_model, backbone or [default_backbone()])
        }.values()
    )
    columns = tuple(sorted(set(shots))) if shots else TrainingPlan().shots
    plan = TrainingPlan(columns, draws, tuple(parse_settings(setting or ()).items()))
    collection = read_collection(source)
    with (
        stoppable(
            "run the same command again; with --runs FOLDER it resumes where it stopped"
        ) as cancel,
        progress_bar("Training") as on_progress,
    ):
        found = measure_training(
            collection,
            models,
            plan,
            CacheFolders.default(),
            runs=runs,
            on_progress=on_progress,
            cancel=cancel,
        )
    table = gain_table(found)
    print_result(table.as_markdown() if markdown else table.as_text(), as_fields(found))


def register(application: typer.Typer) -> None:
    """Add this command to `protoleaf experiment`."""
    application.command("training")(training)
