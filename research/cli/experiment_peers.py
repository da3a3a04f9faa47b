"""`protoleaf experiment peers`: the everyday model and other libraries on the same embeddings."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli.options import DeviceName
from engine.cli.output import Overwrite, print_result, progress_bar, stoppable
from research.cli.experiment_transfer import Classes, Elsewhere, Hierarchy, Images, Source
from research.cli.figures_file import FiguresFile, check_figures, write_figures

if TYPE_CHECKING:
    from research.peers.measurement import PeerPlan
    from research.peers.report import PeerReport
    from research.transfer.collection import TransferCollection

Environment = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Python environment of the peers; by default in the cache, made when missing.",
    ),
]
Limit = Annotated[
    float, typer.Option(min=1, metavar="SECONDS", help="Time that a peer may take for one draw.")
]


def peers(
    source: Source,
    *,
    backbone: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="By default that of new projects.")
    ] = "",
    shots: Annotated[
        list[int] | None, typer.Option(min=1, help="Per class; by default 1 and 5.")
    ] = None,
    draws: Annotated[
        int, typer.Option(min=1, max=30, help="Draws of shots, the same for all methods.")
    ] = 5,
    method: Annotated[
        list[str] | None, typer.Option(help="Only these methods; may be repeated.")
    ] = None,
    elsewhere: Elsewhere = False,
    hierarchy: Hierarchy = None,
    classes: Classes = None,
    images: Images = None,
    environment: Environment = None,
    limit: Limit = 900,
    out: FiguresFile = None,
    is_overwriting: Overwrite = False,
    device: DeviceName = "auto",
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print tables for a document.")
    ] = False,
) -> None:
    """Compare the everyday model with easyfsl, scikit-learn and hiclass on the same draws."""
    from research.peers.measurement import METHODS, PeerPlan, check_methods
    from research.transfer.collection import Selection, read_collection

    chosen = tuple(dict.fromkeys(method or METHODS))
    check_methods(chosen)
    check_figures(out, is_overwriting=is_overwriting)
    plan = PeerPlan(tuple(sorted(set(shots or (1, 5)))), draws, chosen, elsewhere, limit)
    collection = read_collection(source, Selection(hierarchy, classes, images))
    report = _measured(collection, plan, backbone, environment, device=device)
    fields = report.as_fields()
    write_figures(out, fields)
    print_result(report.as_text(is_markdown=markdown), fields)


def _measured(
    collection: "TransferCollection",
    plan: "PeerPlan",
    backbone: str,
    environment: Path | None,
    *,
    device: str,
) -> "PeerReport":
    from engine.backbones.model_files import default_backbone
    from engine.collection.models import find_model
    from engine.config import CacheFolders
    from research.peers.environment import peer_environment
    from research.peers.measurement import measure_peers
    from research.peers.report import PeerReport
    from research.transfer.embedded import embed_collection

    model, caches = find_model(backbone or default_backbone()), CacheFolders.default()
    python = Path(sys.executable)
    if plan.needs_environment:
        python = peer_environment(environment or caches.root / "peers")
    with stoppable("run the same command again") as cancel:
        with progress_bar(f"Embedding by {model.name}") as on_progress:
            embedded = embed_collection(
                collection, model, caches, device=device, on_progress=on_progress, cancel=cancel
            )
        with progress_bar("Measuring") as on_progress:
            found = measure_peers(embedded, plan, python, on_progress=on_progress, cancel=cancel)
    scored = (
        ~collection.is_train if plan.is_elsewhere else collection.is_train | ~collection.is_train
    )
    return PeerReport(
        collection.source.name,
        model.name,
        int(scored.sum()),
        len(collection.leaf_ids),
        plan.is_elsewhere,
        found,
    )


def register(application: typer.Typer) -> None:
    """Add this command to `protoleaf experiment`."""
    application.command("peers")(peers)
