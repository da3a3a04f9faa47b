"""`protoleaf experiment graph-suggestions`: accuracy of suggestions about the graph."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli.options import DeviceName
from engine.cli.output import Overwrite, print_result, progress_bar, stoppable
from research.cli.experiment_transfer import Classes, Hierarchy, Images, Source
from research.cli.figures_file import FiguresFile, check_figures, write_figures

if TYPE_CHECKING:
    from research.graph_suggestions.report import SuggestionReport
    from research.transfer.collection import Selection


def graph_suggestions(
    source: Source,
    *,
    backbone: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="By default that of new projects.")
    ] = "",
    shots: Annotated[int, typer.Option(min=2, help="Labelled images of each leaf.")] = 5,
    draws: Annotated[int, typer.Option(min=1, max=30, help="Draws of images and faults.")] = 5,
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
    """Measure suggestions about the graph: parents, twins, strays, mixed, underlabelled classes."""
    from research.transfer.collection import Selection

    check_figures(out, is_overwriting=is_overwriting)
    report = _measured(
        source, Selection(hierarchy, classes, images), backbone, shots, draws, device=device
    )
    fields = report.as_fields()
    write_figures(out, fields)
    print_result(report.as_text(is_markdown=markdown), fields)


def _measured(
    source: Path, selection: "Selection", backbone: str, shots: int, draws: int, *, device: str
) -> "SuggestionReport":
    from engine.backbones.model_files import default_backbone
    from engine.collection.models import find_model
    from engine.config import CacheFolders
    from research.graph_suggestions.measurement import measure_suggestions
    from research.graph_suggestions.report import SuggestionReport
    from research.transfer.collection import read_collection
    from research.transfer.embedded import embed_collection

    model = find_model(backbone or default_backbone())
    collection = read_collection(source, selection)
    with stoppable("run the same command again") as cancel:
        with progress_bar(f"Embedding by {model.name}") as on_progress:
            embedded = embed_collection(
                collection,
                model,
                CacheFolders.default(),
                device=device,
                on_progress=on_progress,
                cancel=cancel,
            )
        with progress_bar("Asking for suggestions") as on_progress:
            found = measure_suggestions(
                embedded, shots, draws, on_progress=on_progress, cancel=cancel
            )
    return SuggestionReport(
        collection.source.name, model.name, len(collection.leaf_ids), shots, draws, found
    )


def register(application: typer.Typer) -> None:
    """Add this command to `protoleaf experiment`."""
    application.command("graph-suggestions")(graph_suggestions)
