"""A file that another file names, and that must lie in its folder: a list from outside leads nowhere else."""

import os
from pathlib import Path, PurePosixPath, PureWindowsPath

from engine.errors import FormatError


def file_within(folder: Path, name: str, named_by: str) -> Path:
    """The file of a name.

    Args:
        folder: in which, or below which, it must lie, links followed.
        name: as the other file has it, with "/" between.
        named_by: the other file, for people.

    Raises:
        FormatError: it lies elsewhere, or is not there.
    """
    if not is_within(name) or not _real(folder / name).is_relative_to(_real(folder)):
        raise FormatError(
            f"{named_by} names a file outside of its folder",
            expected=f"one beside {named_by}",
            found=f'"{name[:200]}"',
            remedy="put the file there, and write its name alone",
        )
    if not (folder / name).is_file():
        raise FormatError(f"{named_by} names a file that is not there", found=f'"{name[:200]}"')
    return folder / name


def is_within(name: str) -> bool:
    """Whether a name, on no system, leads out of its folder."""
    windows = PureWindowsPath(name)
    is_relative = not windows.anchor and not PurePosixPath(name).anchor
    return bool(name) and "\0" not in name and is_relative and ".." not in windows.parts


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
