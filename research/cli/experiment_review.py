"""`protoleaf experiment review`: keystrokes to label a collection, by groups and single cards."""

from pathlib import Path
from typing import Annotated

import typer

from engine.cli.options import DeviceName
from engine.cli.output import Overwrite, print_result, progress_bar, stoppable
from engine.errors import UsageError
from research.cli.experiment_transfer import Classes, Sizes, Source
from research.cli.figures_file import FiguresFile, check_figures, write_figures


def review(
    source: Source,
    *,
    backbone: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="By default that of new projects.")
    ] = "",
    sizes: Sizes = "as-is",
    classes: Classes = None,
    way: Annotated[list[str] | None, typer.Option(help="Only these ways; may be repeated.")] = None,
    keys: Annotated[bool, typer.Option(help="Count keys.")] = True,
    errors: Annotated[
        bool, typer.Option(help="Also compare expected errors with the true ones.")
    ] = True,
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
    """Simulate labelling of 90 % of a collection, count the keys, and check expected errors.

    Enter, a digit, a letter in the palette and a click that excludes an image count as one key
    each.
    """
    from engine.backbones.model_files import default_backbone
    from engine.collection.models import find_model
    from engine.config import CacheFolders
    from research.reports.drawing import check_libraries
    from research.teaching.expected_errors import measure_expected_errors
    from research.teaching.review_report import ReviewReport, reviewed, right_labels_against_keys
    from research.transfer.class_sizes import check_forms
    from research.transfer.collection import Selection, read_collection
    from research.transfer.draws import resampled_rows
    from research.transfer.embedded import embed_collection

    check_figures(out, is_overwriting=is_overwriting)
    check_forms(sizes)
    ways = _known_ways(way) if keys else ()
    if curve is not None:
        check_libraries()
    model = find_model(backbone or default_backbone())
    collection = read_collection(source, Selection(classes=classes))
    with stoppable("run the same command again; what was embedded is kept") as cancel:
        with progress_bar(f"Embedding by {model.name}") as on_progress:
            embedded = embed_collection(
                collection,
                model,
                CacheFolders.default(),
                device=device,
                on_progress=on_progress,
                cancel=cancel,
            )
        rows = resampled_rows(collection, sizes, seed=0)
        with progress_bar(f"Reviewing in {len(ways)} ways") as on_progress:
            outcomes = reviewed(embedded, rows, ways, on_progress=on_progress, cancel=cancel)
        found = measure_expected_errors(embedded, sizes=sizes) if errors else ()
    counts = len(rows), len(collection.leaf_ids)
    report = ReviewReport(collection.source.name, model.name, *counts, outcomes, found, sizes)
    fields = report.as_fields()
    write_figures(out, fields)
    if curve is not None:
        right_labels_against_keys(report, curve)
    print_result(report.as_text(is_markdown=markdown), fields)


def _known_ways(chosen: list[str] | None) -> tuple[str, ...]:
    from research.teaching.review_report import WAYS

    for name in chosen or ():
        if name not in WAYS:
            raise UsageError("there is no such way", expected=", ".join(WAYS), found=name)
    return tuple(dict.fromkeys(chosen or WAYS))


def register(application: typer.Typer) -> None:
    """Add this command to `protoleaf experiment`."""
    application.command("review")(review)
