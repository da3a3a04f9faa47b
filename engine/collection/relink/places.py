"""Where to look when nobody says: beside the project, and where paths of missing images make sense from there."""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Final

from engine.images.read_file import is_missing

_MOST_TRIED: Final = 24
_MOST_NEIGHBOURS: Final = 500


def places_beside(project: Path, missing: Sequence[str]) -> tuple[Path, ...]:
    """The folders to look through for images that are not where they were.

    These are the project's folder; folders from which the end of a missing path leads to a file, seen from a folder
    above the project or from another drive, as when a project was moved together with its images; and folders that
    stand where a folder of the path is gone, as when it was renamed or a stick got another name.

    Args:
        project: the project's folder, absolute.
        missing: paths of missing images, as the project stores them.
    """
    found: dict[Path, None] = {project: None}
    for path in _sample(missing):
        parts = [part for part in path.split("/") if part not in ("", ".")]
        for place in (*_from_above(project, parts), *_in_place_of(project, path)):
            found.setdefault(place)
    return tuple(place for place in found if not any(other in place.parents for other in found))


def _sample(missing: Sequence[str]) -> Iterator[str]:
    """One path of each of the first and last folders."""
    folders = {path.rpartition("/")[0]: path for path in missing}
    paths = list(folders.values())
    step = max(1, len(paths) // _MOST_TRIED)
    yield from paths[::step][:_MOST_TRIED]


def _from_above(project: Path, parts: Sequence[str]) -> Iterator[Path]:
    """Folders named in a path that are there, with the file, below a folder above the project or another drive."""
    for root in (*project.parents, *_drives()):
        for start in range(len(parts) - 1):
            if not is_missing(root.joinpath(*parts[start:])):
                yield root / parts[start]
                break


def _in_place_of(project: Path, path: str) -> Iterator[Path]:
    """Folders beside the first part of a path that is gone, from which the rest of the path leads to a file."""
    lost = project / path
    above = next((parent for parent in lost.parents if os.path.isdir(parent)), None)  # noqa: PTH112 (never raises)
    if above is None:
        return
    rest = lost.relative_to(above).parts[1:]
    if not rest:
        return
    for neighbour in _folders_in(above):
        if not is_missing(neighbour.joinpath(*rest)):
            yield neighbour


def _folders_in(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as scan:
            folders = [entry.path for entry in scan if entry.is_dir()]
    except OSError:
        return []
    return [Path(path) for path in sorted(folders)[:_MOST_NEIGHBOURS]]


def _drives() -> list[Path]:
    return [Path(f"{letter}:/") for letter in ascii_uppercase] if sys.platform == "win32" else []
