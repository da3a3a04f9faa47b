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
    checked_name(name, named_by)
    if not _real(folder / name).is_relative_to(_real(folder)):
        raise _outside(name, named_by)
    if not (folder / name).is_file():
        raise FormatError("{named_by} names a file that is not there", found=f'"{name[:200]}"', named_by=named_by)
    return folder / name


def checked_name(name: str, named_by: str) -> str:
    """The name as it is, where it leads out of a folder on no system.

    Raises:
        FormatError: it does, or it is none.
    """
    windows = PureWindowsPath(name)
    is_relative = not windows.anchor and not PurePosixPath(name).anchor
    if not name or "\0" in name or not is_relative or ".." in windows.parts:
        raise _outside(name, named_by)
    return name


def _outside(name: str, named_by: str) -> FormatError:
    return FormatError(
        "{named_by} names a file outside of its folder",
        expected="one beside {named_by}",
        found=f'"{name[:200]}"',
        remedy="put the file there, and write its name alone",
        named_by=named_by,
    )


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
