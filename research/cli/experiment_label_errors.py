"""`protoleaf experiment label-errors`: wrong labels planted, then found by program and cleanlab."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli.options import DeviceName
from engine.cli.output import Overwrite, print_result, progress_bar, stoppable
from research.cli.experiment_transfer import Hierarchy, Images, Source
from research.cli.figures_file import FiguresFile, check_figures, write_figures

if TYPE_CHECKING:
    from research.label_errors.report import LabelErrorReport
    from research.transfer.collection import Selection


def label_errors(
    source: Source,
    *,
    backbone: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="By default that of new projects.")
    ] = "",
    draws: Annotated[int, typer.Option(min=1, max=30, help="Draws of wrong labels.")] = 5,
    peer: Annotated[
        bool, typer.Option(help="Also measure cleanlab, which must be installed.")
    ] = True,
    hierarchy: Hierarchy = None,
    images: Images = None,
    out: FiguresFile = None,
    is_overwriting: Overwrite = False,
    device: DeviceName = "auto",
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print tables for a document.")
    ] = False,
) -> None:
    """Plant 1, 3 and 5 % wrong labels in `train` and find them, by the program and by cleanlab."""
    from research.label_errors.methods import check_peer
    from research.transfer.collection import Selection

    if peer:
        check_peer()
    check_figures(out, is_overwriting=is_overwriting)
    report = _measured(
        source, Selection(hierarchy, None, images), backbone, draws, device=device, with_peer=peer
    )
    fields = report.as_fields()
    write_figures(out, fields)
    print_result(report.as_text(is_markdown=markdown), fields)


def _measured(
    source: Path, selection: "Selection", backbone: str, draws: int, *, device: str, with_peer: bool
) -> "LabelErrorReport":
    from engine.backbones.model_files import default_backbone
    from engine.collection.models import find_model
    from engine.config import CacheFolders
    from research.label_errors.measurement import measure_label_errors
    from research.label_errors.report import LabelErrorReport
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
        with progress_bar("Looking for wrong labels") as on_progress:
            found = measure_label_errors(
                embedded, draws, with_peer=with_peer, on_progress=on_progress, cancel=cancel
            )
    labels = int(collection.is_train.sum())
    return LabelErrorReport(
        collection.source.name, model.name, labels, len(collection.leaf_ids), draws, found
    )


def register(application: typer.Typer) -> None:
    """Add this command to `protoleaf experiment`."""
    application.command("label-errors")(label_errors)
