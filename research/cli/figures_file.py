"""The JSON file of figures that experiments write."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from engine.collection.outputs import FIGURES, WRITTEN_BY, check_file
from engine.full_disk import writing
from engine.new_file import output_file

FiguresFile = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="File for all figures as JSON.")
]


def check_figures(out: Path | None, *, is_overwriting: bool) -> None:
    """Refuse a file that must not be overwritten, before a long computation.

    Raises:
        TakenError, InputError: as `check_file`.
    """
    if out is not None:
        check_file(out, FIGURES, is_overwriting=is_overwriting)


def write_figures(out: Path | None, fields: Mapping[str, object]) -> None:
    """Write the figures if a file was requested.

    Raises:
        StorageError: it cannot be written.
    """
    if out is not None:
        with writing(out, "the figures cannot be written"), output_file(out) as file:
            file.write(
                (json.dumps({"about": WRITTEN_BY, **fields}, indent=1) + "\n").encode("utf-8")
            )
