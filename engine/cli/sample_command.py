"""The `sample` command."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from engine.cli.options import ImagesFrom
from engine.cli.output import job, print_result
from engine.cli.project_commands import data_set_notes
from engine.config import CacheFolders
from engine.errors import UsageError
from engine.texts import counted, either

WAYS = ("teach-first", "random")
By = Annotated[
    str,
    Option(
        "--by",
        metavar="WAY",
        help="teach-first: images whose labels would improve predictions most, best "
        "first, chosen from 20,000 drawn at random; so at most 20,000. random: all "
        "with the same probability.",
    ),
]
Seed = Annotated[
    int,
    Option("--seed", min=0, help="Random seed: the same seed draws the same images."),
]


def check_way(by: str) -> None:
    """Raise `UsageError` for an unknown way."""
    if by not in WAYS:
        raise UsageError("images cannot be chosen this way", expected=either(WAYS), found=by)


def sample(
    data_set: Annotated[
        Path,
        Argument(metavar="DATASET", help="A folder written by `embed SOURCE --out DATASET`."),
    ],
    count: Annotated[int, Argument(metavar="N", min=1, help="Number of images.")],
    out: Annotated[
        Path, Option("-o", "--out", metavar="PROJECT", help="The project file to create.")
    ],
    *,
    by: By = WAYS[0],
    seed: Seed = 0,
    images_from: ImagesFrom = None,
) -> None:
    """Make a project of images of a data set.

    Images without an embedding are never chosen. For a project, `suggest` lists the images to
    label.
    """
    check_way(by)
    if data_set.is_file():
        raise UsageError(
            "a file is not a data set",
            expected="the folder that `protoleaf embed SOURCE --out DATASET` made",
            found=str(data_set),
            remedy="for a project, `protoleaf suggest PROJECT --count N` lists the images to label",
        )
    from engine.collection.importing.data_set import Sample, SampleBy, project_of_data_set

    wanted = Sample(count, SampleBy(by), seed)
    with job("Drawing images", "nothing was made") as running:
        done = project_of_data_set(
            out,
            data_set,
            CacheFolders.default(),
            sample=wanted,
            image_folders=images_from or [],
            **running,
        )
    way = (
        "that would improve predictions most"
        if wanted.by is SampleBy.TEACH_FIRST
        else "drawn at random"
    )
    again = f"; {done.doubles:,} of the drawn rows named an image again" if done.doubles else ""
    print_result(
        f"Created {out} with {counted(done.images, 'image')} of {data_set} "
        f"{way}{again}.{data_set_notes(done)}",
        {"project": str(out), "by": by, "seed": seed, **asdict(done)},
    )
