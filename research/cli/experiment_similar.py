"""`protoleaf experiment similar` and `duplicates`: similarity search and duplicates on photos."""

from dataclasses import asdict
from typing import Annotated

import typer

from engine.cli.options import DeviceName
from engine.cli.output import print_result, progress_bar, stoppable
from research.cli.experiment_transfer import Source

Backbone = Annotated[
    str, typer.Option(metavar="NAME|FILE", help="By default that of new projects.")
]
Markdown = Annotated[bool, typer.Option("--markdown", help="Print tables for a document.")]


def similar(source: Source, *, backbone: Backbone = "", device: DeviceName = "auto") -> None:
    """Measure search for images of a class by similarity, on plain and on whitened embeddings."""
    from engine.backbones.model_files import default_backbone
    from engine.collection.models import find_model
    from engine.config import CacheFolders
    from research.similarity import measure_similarity_spaces
    from research.transfer.collection import read_collection
    from research.transfer.embedded import embed_collection

    model = find_model(backbone or default_backbone())
    collection = read_collection(source)
    with (
        stoppable("run the same command again; what is embedded stays in the cache") as cancel,
        progress_bar(f"Embedding {collection.source.name} by {model.name}") as on_progress,
    ):
        embedded = embed_collection(
            collection,
            model,
            CacheFolders.default(),
            device=device,
            on_progress=on_progress,
            cancel=cancel,
        )
    found = measure_similarity_spaces(embedded.floats, collection.class_ids)
    lines = [
        f"{each.space:10} one image: mAP {each.one:.3f}, first ten {each.first_ten:.3f}   "
        f"three images: mAP {each.several:.3f} by their mean, {each.several_by_best:.3f} by "
        "the most alike"
        for each in found
    ]
    print_result("\n".join(lines), {"spaces": [asdict(each) for each in found]})


def duplicates(
    source: Source,
    *,
    backbone: Backbone = "",
    device: DeviceName = "auto",
    markdown: Markdown = False,
) -> None:
    """Measure detection of copies among similar photos: by hashes, by embeddings and by both."""
    from engine.backbones.model_files import default_backbone
    from engine.collection.models import find_model
    from engine.config import CacheFolders
    from research.duplicates.measurement import measure_duplicates
    from research.duplicates.report import DuplicatesReport
    from research.transfer.collection import read_collection

    model = find_model(backbone or default_backbone())
    photos = [file.path for file in read_collection(source).files]
    with (
        stoppable("run the same command again; what is embedded stays in the cache") as cancel,
        progress_bar(f"Embedding photos and copies by {model.name}") as on_progress,
    ):
        outcomes = measure_duplicates(
            photos,
            model,
            CacheFolders.default(),
            device=device,
            on_progress=on_progress,
            cancel=cancel,
        )
    report = DuplicatesReport(source.name, model.name, len(photos), outcomes)
    print_result(report.as_text(is_markdown=markdown), report.as_fields())


def register(application: typer.Typer) -> None:
    """Add these commands to `protoleaf experiment`."""
    application.command("similar")(similar)
    application.command("duplicates")(duplicates)
