"""The `detect` command."""

from pathlib import Path
from typing import Annotated

from typer import Option

from engine.cli.options import DeviceName, ProjectPath, open_project
from engine.cli.output import failure_rows, failure_text, job, print_result
from engine.config import CacheFolders
from engine.texts import counted


def detect(  # noqa: PLR0917 (Typer makes options of them)
    project: ProjectPath,
    model: Annotated[
        Path, Option("--model", metavar="FILE.onnx", help="A detector as an ONNX file.")
    ],
    threshold: Annotated[float, Option(min=0.05, max=1.0, help="Minimum score of a box.")] = 0.2,
    names: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="Names of the detector's categories, one per line.",
            show_default="in the model",
        ),
    ] = None,
    side: Annotated[
        int,
        Option(
            min=0,
            max=4096,
            help="Longest side of the input, if the detector accepts any; 0 for its default.",
        ),
    ] = 0,
    device: DeviceName = "auto",
) -> None:
    """Run a detector on all images and add its bounding boxes."""
    from engine.collection.object_detection import add_found, find_in_project

    with (
        open_project(project) as opened,
        job("Finding things", "run it again; it resumes where it stopped") as running,
    ):
        found = find_in_project(
            opened,
            CacheFolders.default(),
            model,
            names=names,
            side=side,
            device=device,
            **running,
        )
        change = add_found(opened, found.boxes, threshold, source=model.name)
    boxes, pictures = found.count(threshold)
    added = len(change.images_added)
    rate = 0.0 if found.summary is None else found.summary.images_per_s
    text = f"{counted(boxes, 'box', 'boxes')} in {counted(pictures, 'image')}; {added} added"
    text += (
        f", {rate:.1f} images/s on {found.summary.device_name}."
        if found.summary is not None
        else "."
    )
    print_result(
        text + failure_text(found.failures),
        {
            "boxes": boxes,
            "images": pictures,
            "added": added,
            "searched": found.searched,
            "images_per_s": rate,
            "failed": failure_rows(found.failures),
        },
    )
