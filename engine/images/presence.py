"""Which of many files are there now, asking the disk once for each folder: a share answers slowly, or not at all."""

import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress

_FEW: Final = 16
"""So many files of a folder are asked for one by one: listing it may take longer, for it may hold a million others."""


def missing_files(
    folder: Path,
    paths: Sequence[str],
    *,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> list[int]:
    """Find the files that are not where they were.

    Args:
        folder: what relative paths start from.
        paths: with "/" as separator, absolute or relative.

    Returns:
        Places in `paths`, ascending. A file that may not be looked at counts as there: nothing says that it moved.

    Raises:
        Cancelled: asked to stop.
    """
    meter = ProgressMeter(len(paths), on_progress)
    missing: list[int] = []
    for parent, places in _by_folder(paths).items():
        if cancel is not None:
            cancel.raise_if_cancelled()
        missing += _missing_in(folder / parent, [(place, paths[place].rpartition("/")[2]) for place in places])
        meter.advance(len(places))
    return sorted(missing)


def _by_folder(paths: Sequence[str]) -> dict[str, list[int]]:
    grouped: dict[str, list[int]] = {}
    for place, path in enumerate(paths):
        parent, separator, _ = path.rpartition("/")
        grouped.setdefault(parent or separator, []).append(place)
    return grouped


def _missing_in(folder: Path, wanted: Sequence[tuple[int, str]]) -> list[int]:
    """Places of the files that one folder lacks; a name that is listed otherwise spelled is asked for by itself."""
    if not _is_there(folder, stat.S_ISDIR):
        return [place for place, _ in wanted]  # one answer for all: each may take seconds where a share is gone
    listed = _files_in(folder) if len(wanted) > _FEW else frozenset()
    return [place for place, name in wanted if name not in listed and is_missing(folder / name)]


def _files_in(folder: Path) -> frozenset[str]:
    try:
        with os.scandir(folder) as entries:
            return frozenset(entry.name for entry in entries if entry.is_file())
    except OSError:
        return frozenset()  # then each is asked for by itself


def is_missing(path: Path) -> bool:
    """Whether there is no file at a path."""
    return not _is_there(path, stat.S_ISREG)


def _is_there(path: Path, is_kind: Callable[[int], bool]) -> bool:
    try:
        return is_kind(path.stat().st_mode)
    except PermissionError:
        return True
    except (OSError, ValueError):  # of a share that is gone systems say all kinds of things
        return False
