"""`protoleaf experiment crops`: class folders of the objects in photos with boxes."""

from pathlib import Path
from typing import Annotated

import typer

from engine.cli.output import print_result, progress_bar

Photos = Annotated[
    Path,
    typer.Argument(
        metavar="SOURCE", help="Folder of Annotations and JPEGImages, as of Pascal VOC."
    ),
]


def crops(
    source: Photos,
    *,
    out: Annotated[
        Path,
        typer.Option(metavar="FOLDER", help="New folder of `train` and `val`, for `transfer`."),
    ],
) -> None:
    """Crop the objects in photos with boxes into class folders, every third photo's in `train`."""
    from research.data_sets.crops import write_crops

    with progress_bar("Cutting") as on_progress:
        counts = write_crops(source, out, on_progress)
    lines = [
        f"{part}: {', '.join(f'{name} {count:,}' for name, count in found.items())}"
        for part, found in counts.items()
    ]
    print_result("\n".join(lines), {part: dict(found) for part, found in counts.items()})


def register(application: typer.Typer) -> None:
    """Add this command to `protoleaf experiment`."""
    application.command("crops")(crops)
