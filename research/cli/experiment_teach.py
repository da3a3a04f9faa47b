"""`protoleaf experiment teach`: active learning by "Teach first" and its peers."""

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from engine.cli.options import DeviceName
from engine.cli.output import Overwrite, print_result, progress_bar, stoppable
from engine.errors import UsageError
from research.cli.experiment_transfer import Source
from research.cli.figures_file import FiguresFile, check_figures, write_figures

if TYPE_CHECKING:
    from research.teaching.report import TeachReport


def teach(
    source: Source,
    *,
    backbone: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="By default that of new projects.")
    ] = "",
    draws: Annotated[
        int, typer.Option(min=1, max=30, help="Draws of images, the same for all methods.")
    ] = 10,
    method: Annotated[
        list[str] | None, typer.Option(help="Only these methods; may be repeated.")
    ] = None,
    runs: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Keeps every draw, so that the same command resumes there."
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Measure again what the folder already has.")
    ] = False,
    out: FiguresFile = None,
    is_overwriting: Overwrite = False,
    curve: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder for the curve as PNG and SVG.")
    ] = None,
    device: DeviceName = "auto",
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print tables for a document.")
    ] = False,
) -> None:
    """Measure active learning: accuracy after 1, 2 and 5 labels a class, by each method."""
    from research.reports.drawing import check_libraries
    from research.teaching.curve import accuracy_against_labels
    from research.teaching.methods import METHODS

    check_figures(out, is_overwriting=is_overwriting)
    methods = tuple(dict.fromkeys(method)) if method else tuple(METHODS)
    for name in methods:
        if name not in METHODS:
            raise UsageError("there is no such method", expected=", ".join(METHODS), found=name)
    if importlib.util.find_spec("sklearn") is None or curve is not None:
        check_libraries()
    report = _measured(source, backbone, methods, draws, runs, device=device, is_from_scratch=again)
    fields = report.as_fields()
    write_figures(out, fields)
    if curve is not None:
        accuracy_against_labels(report, curve)
    print_result(report.as_text(is_markdown=markdown), fields)


def _measured(
    source: Path,
    backbone: str,
    methods: tuple[str, ...],
    draws: int,
    runs: Path | None,
    *,
    device: str,
    is_from_scratch: bool,
) -> "TeachReport":
    from engine.backbones.model_files import default_backbone
    from engine.collection.models import find_model
    from engine.config import CacheFolders
    from engine.graph.codes import NO_CLASS
    from research.teaching.measurement import measure_teaching
    from research.teaching.person import drawn_rows
    from research.teaching.report import TeachReport
    from research.transfer.collection import read_collection
    from research.transfer.embedded import embed_collection

    model = find_model(backbone or default_backbone())
    collection = read_collection(source)
    with stoppable(
        "run the same command again; with --runs FOLDER it resumes where it stopped"
    ) as cancel:
        with progress_bar(f"Embedding by {model.name}") as on_progress:
            embedded = embed_collection(
                collection,
                model,
                CacheFolders.default(),
                device=device,
                on_progress=on_progress,
                cancel=cancel,
            )
        with progress_bar(f"Labelling by {len(methods)} methods") as on_progress:
            found = measure_teaching(
                embedded,
                methods,
                draws,
                runs=runs,
                is_from_scratch=is_from_scratch,
                on_progress=on_progress,
                cancel=cancel,
            )
    images = len(drawn_rows(np.flatnonzero(collection.class_ids != NO_CLASS), 0))
    return TeachReport(collection.source.name, images, len(collection.leaf_ids), found)


def register(application: typer.Typer) -> None:
    """Add this command to `protoleaf experiment`."""
    application.command("teach")(teach)
