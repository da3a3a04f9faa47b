"""`protoleaf experiment unknown`: detection of images of none of the classes."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli.options import DeviceName
from engine.cli.output import Overwrite, print_result, progress_bar, stoppable
from research.cli.experiment_transfer import Classes, Hierarchy, Images, Source
from research.cli.figures_file import FiguresFile, check_figures, write_figures

if TYPE_CHECKING:
    from research.transfer.collection import Selection
    from research.unknown.report import UnknownReport


def unknown(
    source: Source,
    *,
    backbone: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="By default that of new projects.")
    ] = "",
    far: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Another collection, whose images are far strangers."),
    ] = None,
    shots: Annotated[
        list[int] | None, typer.Option(min=1, help="Per class; by default 1, 2, 5 and 15.")
    ] = None,
    draws: Annotated[int, typer.Option(min=1, max=30, help="Draws of classes and shots.")] = 5,
    hierarchy: Hierarchy = None,
    classes: Classes = None,
    images: Images = None,
    out: FiguresFile = None,
    is_overwriting: Overwrite = False,
    device: DeviceName = "auto",
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print tables for a document.")
    ] = False,
) -> None:
    """Measure detection of images of none of the classes: near, far, and in sessions.

    SOURCE may also be the folder of the sample collection, whose tables name the classes of its
    images.
    """
    from research.transfer.collection import Selection

    check_figures(out, is_overwriting=is_overwriting)
    columns = tuple(sorted(set(shots))) if shots else (1, 2, 5, 15)
    selection = Selection(hierarchy, classes, images)
    report = _measured(
        source, far, selection, backbone=backbone, shots=columns, draws=draws, device=device
    )
    fields = report.as_fields()
    write_figures(out, fields)
    print_result(report.as_text(is_markdown=markdown), fields)


def _measured(
    source: Path,
    far: Path | None,
    selection: "Selection",
    *,
    backbone: str,
    shots: tuple[int, ...],
    draws: int,
    device: str,
) -> "UnknownReport":
    from engine.backbones.model_files import default_backbone
    from engine.collection.models import find_model
    from engine.config import CacheFolders
    from research.transfer.collection import Selection, read_collection
    from research.transfer.embedded import embed_collection
    from research.transfer.tables_of_classes import has_tables, read_tables
    from research.unknown.measurement import measure_unknown
    from research.unknown.open_set import MOST_FAR
    from research.unknown.report import UnknownReport

    model = find_model(backbone or default_backbone())
    collections = [
        read_tables(source) if has_tables(source) else read_collection(source, selection)
    ]
    if far is not None:
        others = read_collection(far)
        each = max(1, MOST_FAR // len(others.leaf_ids))
        collections.append(read_collection(far, Selection(images=each)))
    with stoppable("run the same command again; what is embedded stays in the cache") as cancel:
        embedded = []
        for collection in collections:
            with progress_bar(f"Embedding {collection.source.name} by {model.name}") as on_progress:
                embedded.append(
                    embed_collection(
                        collection,
                        model,
                        CacheFolders.default(),
                        device=device,
                        on_progress=on_progress,
                        cancel=cancel,
                    )
                )
        with progress_bar("Measuring") as on_progress:
            found = measure_unknown(
                embedded[0],
                embedded[1] if far else None,
                shots,
                draws,
                on_progress=on_progress,
                cancel=cancel,
            )
    return UnknownReport(collections[0].source.name, model.name, draws, found)


def register(application: typer.Typer) -> None:
    """Add this command to `protoleaf experiment`."""
    application.command("unknown")(unknown)
