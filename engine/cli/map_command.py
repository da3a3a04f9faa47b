"""The `map` command."""

from pathlib import Path
from typing import Annotated

from typer import Option

from engine.cli.collection_commands import Plain
from engine.cli.options import ProjectPath, open_or_read
from engine.cli.output import Overwrite, job, print_result
from engine.config import CacheFolders
from engine.texts import counted


def make_map(
    project: ProjectPath,
    out: Annotated[
        Path,
        Option(
            "-o",
            "--out",
            help="File to write: .csv or .npz with coordinates, .svg or .png as a picture.",
        ),
    ],
    *,
    level: Annotated[
        int, Option(min=0, help="Level of the classes that are coloured; 0 is the top.")
    ] = 0,
    again: Annotated[
        bool, Option("--again", help="Lay out all images again, even if there is a map.")
    ] = False,
    is_plain: Plain = False,
    is_overwriting: Overwrite = False,
) -> None:
    """Make or complete the map of a project, and export it.

    New images are placed among the others, which do not move.
    """
    from engine.collection.live import LiveCollection
    from engine.map.make import make_map as run
    from engine.map.write import check_out, write

    check_out(out)
    caches = CacheFolders.default()
    with (
        open_or_read(project, without_writing="nothing is written into it") as opened,
        job("Making the map", "run it again; nothing was written") as running,
    ):
        made, added = run(opened, caches, is_from_scratch=again, **running)
        live = LiveCollection(opened, caches)
        try:
            live.load()
            images = write(
                live, made, out, level=level, is_plain=is_plain, is_overwriting=is_overwriting
            )
        finally:
            live.embedded.close()
    placed = f", {counted(added, 'new one')} among the others" if added else ""
    print_result(
        f"Wrote the map of {counted(images, 'image')} to {out}{placed}.",
        {"images": images, "placed": added, "later": made.later_count, "file": str(out)},
    )
