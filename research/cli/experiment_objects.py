"""`protoleaf experiment objects`: objects in photos, classified by whole photos and by crops."""

from pathlib import Path
from typing import Annotated

import typer

from engine.cli.options import DeviceName
from engine.cli.output import Overwrite, print_result, progress_bar, stoppable
from research.cli.figures_file import FiguresFile, check_figures, write_figures

Photos = Annotated[
    Path,
    typer.Argument(
        metavar="SOURCE",
        help="Folder of photos with Pascal VOC annotations beside them, or in Annotations.",
    ),
]


def objects(
    source: Photos,
    *,
    backbone: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="By default that of new projects.")
    ] = "",
    margin: Annotated[
        list[float] | None,
        typer.Option(min=1, max=10, help="Side of a crop by the longer side of its box."),
    ] = None,
    shots: Annotated[
        list[int] | None, typer.Option(min=1, help="Per class; by default 1 and 5.")
    ] = None,
    draws: Annotated[int, typer.Option(min=1, max=30, help="Draws of shots.")] = 10,
    photos: Annotated[int, typer.Option(min=0, help="Only the first so many photos by name.")] = 0,
    most: Annotated[
        int, typer.Option(min=0, help="Only so many objects of each class in a photo.")
    ] = 0,
    out: FiguresFile = None,
    is_overwriting: Overwrite = False,
    device: DeviceName = "auto",
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print tables for a document.")
    ] = False,
) -> None:
    """Classify objects in photos from few shots, each shot from another photo."""
    from engine.backbones.model_files import default_backbone
    from engine.collection.models import find_model
    from engine.config import CacheFolders
    from research.objects.boxed_photos import read_boxed_photos
    from research.objects.measurement import MARGIN, measure_objects
    from research.objects.report import ObjectsReport

    check_figures(out, is_overwriting=is_overwriting)
    model = find_model(backbone or default_backbone())
    boxed = read_boxed_photos(source, photos=photos, objects=most)
    with (
        stoppable("run the same command again; what is embedded stays in the cache") as cancel,
        progress_bar(f"Embedding {boxed.source.name} by {model.name}") as on_progress,
    ):
        found = tuple(
            measure_objects(
                boxed,
                model,
                CacheFolders.default(),
                margins=margin or (MARGIN,),
                shots=sorted(set(shots or (1, 5))),
                draws=draws,
                device=device,
                on_progress=on_progress,
                cancel=cancel,
            )
        )
    report = ObjectsReport(
        boxed.source.name, model.name, len(boxed.objects), len(boxed.photos), found
    )
    fields = report.as_fields()
    write_figures(out, fields)
    print_result(report.as_text(is_markdown=markdown), fields)


def register(application: typer.Typer) -> None:
    """Add this command to `protoleaf experiment`."""
    application.command("objects")(objects)
