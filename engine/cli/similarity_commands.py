"""The commands `similar` and `duplicates`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from engine.cli.options import DeviceName, ProjectPath, open_or_read, open_project
from engine.cli.output import MOST_SHOWN, job, print_result
from engine.config import CacheFolders
from engine.texts import counted

if TYPE_CHECKING:
    from engine.collection.folding.folds import Folds
    from engine.project import Project

NAMED = 4  # images of a fold that are listed


def similar(
    project: ProjectPath,
    image: Annotated[
        Path,
        Argument(metavar="IMAGE", help="An image of the project, or any other image file."),
    ],
    count: Annotated[int, Option(min=1, help="Maximum number of images.")] = 20,
    device: DeviceName = "auto",
) -> None:
    """List the most similar images."""
    from engine.review.similar_files import similar_to_file

    with open_project(project, for_writing=False) as opened:
        found = similar_to_file(opened, CacheFolders.default(), image, count, device=device)
        table = opened.images.table(found.image_ids.tolist())
        path_of = dict(zip(table.ids, table.paths, strict=True))
    pairs = list(zip(found.image_ids.tolist(), found.cosines.tolist(), strict=True))
    print_result(
        "\n".join(f"{cosine:6.3f}  {path_of[image_id]}" for image_id, cosine in pairs),
        {
            "images": [
                {"image": path_of[image_id], "likeness": cosine} for image_id, cosine in pairs
            ]
        },
    )


def duplicates(
    project: ProjectPath,
    seconds: Annotated[
        int | None,
        Option(
            min=0,
            max=86_400,
            help="Maximum gap in a burst, in seconds; 0 for no bursts. For camera traps 60 to "
            "120 is usual.",
            show_default="as the project is set, at first 5",
        ),
    ] = None,
    looks: Annotated[
        bool,
        Option(
            "--look/--no-look", help="Compare pictures that were not compared yet first, or not."
        ),
    ] = True,
) -> None:
    """List duplicates and bursts."""
    from engine.collection.find_folds import burst_seconds
    from engine.collection.project_folds import folds_of_project

    with (
        open_or_read(project, without_writing="the list is shown alone") as opened,
        job("Comparing pictures", "run it again; finished comparisons are kept") as running,
    ):
        most = burst_seconds(opened) if seconds is None else seconds
        folds = folds_of_project(
            opened,
            CacheFolders.default(),
            most,
            looks=looks,
            **running,
        )
        fields = _fields(opened, folds, most)
    print_result(_text(fields), fields)


def _fields(project: "Project", folds: "Folds", seconds: int) -> dict[str, Any]:
    table = project.images.table()
    path_of = dict(zip(table.ids, table.paths, strict=True))
    listed = [
        {"images": [path_of[image_id] for image_id in members], "kind": kind}
        for members, kind in folds.each()
    ]
    return {
        "images": len(path_of),
        "folds": listed,
        "folded": folds.folded_images,
        "seconds": seconds,
    }


def _text(fields: dict[str, Any]) -> str:
    folds = fields["folds"]
    head = (
        f"{counted(fields['folded'], 'image')} of {fields['images']:,} in "
        f"{counted(len(folds), 'fold')}."
    )
    lines = [f"  {fold['kind']}: {_names(fold['images'])}" for fold in folds[:MOST_SHOWN]]
    more = (
        [f"  and {counted(len(folds) - MOST_SHOWN, 'fold')} more"]
        if len(folds) > MOST_SHOWN
        else []
    )
    return "\n".join([head, *lines, *more])


def _names(paths: list[str]) -> str:
    shown = ", ".join(paths[:NAMED])
    return f"{shown} and {len(paths) - NAMED:,} more" if len(paths) > NAMED else shown
