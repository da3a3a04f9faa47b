"""A copy of a project with its photos in one file: written for somebody else, and unpacked."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from engine.cli.options import open_project
from engine.cli.output import (
    AsJson,
    counted,
    failure_rows,
    failure_text,
    progress_bar,
    say,
    stoppable,
)
from engine.config import CacheFolders
from engine.files import size_text

Previews = Annotated[
    bool,
    typer.Option(
        "--previews", help="copy: previews of 1,024 pixels instead of the photos, to send less."
    ),
]


def export_copy(
    project: Path, out: Path, *, has_previews: bool, is_overwriting: bool, as_json: bool
) -> None:
    """Write a project and its photos into one file."""
    from engine.archive.pack import pack_project

    with (
        stoppable("run it again; nothing was written") as cancel,
        open_project(project, for_writing=False) as opened,
        progress_bar("Copying") as on_progress,
    ):
        done = pack_project(
            opened,
            CacheFolders.default(),
            out,
            is_reduced=has_previews,
            is_overwriting=is_overwriting,
            on_progress=on_progress,
            cancel=cancel,
        )
    previews = f", {done.reduced:,} of them as previews" if done.reduced else ""
    missing = f"\n{counted(done.missing, 'photo')} not found and left out." if done.missing else ""
    say(
        f"Wrote the project and {counted(done.files, 'photo')}{previews} to {out} "
        f"({size_text(done.size_bytes)})."
        f"{missing}{failure_text(done.failures, 'could not be read')}",
        {
            "out": str(out),
            "format": "copy",
            **asdict(done),
            "failures": failure_rows(done.failures),
        },
        as_json=as_json,
    )


def unpack(
    copy: Annotated[
        Path, typer.Argument(metavar="COPY", help="A file that `export PROJECT copy` wrote.")
    ],
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER", help="A new folder; by default beside the file.", show_default=False
        ),
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Unpack a copy of a project with its photos into a new folder."""
    from engine.archive.unpack import free_folder, unpack_project

    with (
        stoppable("run it again; nothing was written") as cancel,
        progress_bar("Unpacking") as on_progress,
    ):
        done = unpack_project(
            copy,
            folder or free_folder(copy),
            CacheFolders.default(),
            on_progress=on_progress,
            cancel=cancel,
        )
    missing = f"\n{counted(done.missing, 'photo')} not in the copy." if done.missing else ""
    record: dict[str, Any] = asdict(done) | {
        "project": str(done.project),
        "failures": failure_rows(done.failures),
    }
    say(
        f"Unpacked {done.project} with {counted(done.photos, 'photo')}.{missing}"
        f"{failure_text(done.failures, 'damaged and left out')}",
        record,
        as_json=as_json,
    )
