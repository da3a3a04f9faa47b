"""Project archives: `export PROJECT copy`, and the `unpack` command."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from engine.cli.options import open_project
from engine.cli.output import failure_rows, failure_text, job, print_result
from engine.config import CacheFolders
from engine.files import size_text
from engine.texts import counted

Previews = Annotated[
    bool,
    Option("--previews", help="copy: include previews of 1,024 pixels instead of the photos."),
]


def export_copy(project: Path, out: Path, *, has_previews: bool, is_overwriting: bool) -> None:
    """Write a project archive."""
    from engine.archive.pack import pack_project

    with (
        job("Copying", "run it again; nothing was written") as running,
        open_project(project, for_writing=False) as opened,
    ):
        done = pack_project(
            opened,
            CacheFolders.default(),
            out,
            is_reduced=has_previews,
            is_overwriting=is_overwriting,
            **running,
        )
    previews = f", {done.reduced:,} of them as previews" if done.reduced else ""
    missing = f"\n{counted(done.missing, 'photo')} not found and left out." if done.missing else ""
    print_result(
        f"Wrote the project and {counted(done.files, 'photo')}{previews} to {out} "
        f"({size_text(done.size_bytes)}).{missing}{failure_text(done.failures)}",
        {
            "out": str(out),
            "format": "copy",
            **asdict(done),
            "failures": failure_rows(done.failures),
        },
    )


def unpack(
    copy: Annotated[
        Path, Argument(metavar="COPY", help="A file written by `export PROJECT copy`.")
    ],
    folder: Annotated[
        Path | None,
        Argument(
            metavar="FOLDER", help="A new folder; by default next to the file.", show_default=False
        ),
    ] = None,
) -> None:
    """Unpack a project archive."""
    from engine.archive.unpack import free_folder, unpack_project

    with job("Unpacking", "run it again; nothing was written") as running:
        done = unpack_project(
            copy,
            folder or free_folder(copy),
            CacheFolders.default(),
            **running,
        )
    missing = f"\n{counted(done.missing, 'photo')} not in the copy." if done.missing else ""
    record: dict[str, Any] = asdict(done) | {
        "project": str(done.project),
        "failures": failure_rows(done.failures),
    }
    print_result(
        f"Unpacked {done.project} with {counted(done.photos, 'photo')}.{missing}"
        f"{failure_text(done.failures, 'damaged and left out')}",
        record,
    )
