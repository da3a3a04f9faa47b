"""`protoleaf experiment review`: keys that it takes to label a collection, by groups and by single cards."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from engine.cli.options import DeviceName
from engine.cli.output import AsJson, Overwrite, progress_bar, say, stoppable
from engine.errors import UsageError
from research.cli.experiment_transfer import Source
from research.cli.figures_file import FiguresFile, check_figures, write_figures


def review(
    source: Source,
    *,
    backbone: Annotated[str, typer.Option(metavar="NAME|FILE", help="By default that of new projects.")] = "",
    way: Annotated[list[str] | None, typer.Option(help="Only these ways; may be repeated.")] = None,
    keys: Annotated[bool, typer.Option(help="Count keys.")] = True,
    errors: Annotated[bool, typer.Option(help="Also compare expected errors with the true ones.")] = True,
    out: FiguresFile = None,
    is_overwriting: Overwrite = False,
    curve: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Folder for the curve as PNG and SVG.")] = None,
    device: DeviceName = "auto",
    markdown: Annotated[bool, typer.Option("--markdown", help="Print tables for a document.")] = False,
    as_json: AsJson = False,
) -> None:
    """Let a scripted person without mistakes label 90 % of a collection, and count the keys; and check expected errors.

    Enter, a digit, a letter in the palette and a click on an image that is left out count as one key each.
    """
    from engine.backbones.model_files import default_backbone
    from engine.collection.models import find_model
    from engine.config import CacheFolders
    from engine.graph.codes import NO_CLASS
    from research.reports.drawing import check_libraries
    from research.teaching.expected_errors import measure_expected_errors
    from research.teaching.review_report import WAYS, ReviewReport, reviewed, right_labels_against_keys
    from research.transfer.collection import read_collection
    from research.transfer.embedded import embed_collection

    check_figures(out, is_overwriting=is_overwriting)
    ways = tuple(dict.fromkeys(way or WAYS)) if keys else ()
    for name in ways:
        if name not in WAYS:
            raise UsageError("there is no such way", expected=", ".join(WAYS), found=name)
    if curve is not None:
        check_libraries()
    model, collection = find_model(backbone or default_backbone()), read_collection(source)
    with stoppable("run the same command again; what was embedded is kept") as cancel:
        with progress_bar(f"Embedding by {model.name}") as on_progress:
            embedded = embed_collection(
                collection, model, CacheFolders.default(), device=device, on_progress=on_progress, cancel=cancel
            )
        rows = np.flatnonzero(collection.class_ids != NO_CLASS)
        with progress_bar(f"Reviewing in {len(ways)} ways") as on_progress:
            outcomes = reviewed(embedded, rows, ways, on_progress=on_progress, cancel=cancel)
        found = measure_expected_errors(embedded) if errors else ()
    report = ReviewReport(collection.source.name, model.name, len(rows), len(collection.leaf_ids), outcomes, found)
    fields = report.as_fields()
    write_figures(out, fields)
    if curve is not None:
        right_labels_against_keys(report, curve)
    say(report.as_text(is_markdown=markdown), fields, as_json=as_json)


def register(application: typer.Typer) -> None:
    """Add this command to `protoleaf experiment`."""
    application.command("review")(review)
