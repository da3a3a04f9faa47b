"""Which files of a collection are missing, or were written since, with one look at each folder.

Paths have "/" as separator; relative ones start from the collection's folder.
"""

import os
import stat
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress

T = TypeVar("T")

_FEW = 16
"""Files of a folder that are looked up one by one: listing a folder of a million is slower."""
_FEW_STATES = 4  # of those whose size and time are needed: they come with the listing
_PART = 512  # paths between two rests. Chosen: about a millisecond's work.

Rest = Callable[[], None]


def missing_files(
    folder: Path,
    paths: Sequence[str],
    *,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
    rest: Rest = lambda: None,
) -> list[int]:
    """Find the files that are not where they were, as ascending places in `paths`.

    The disk is read once for each folder, as shares are slow. A file without permission to look at
    it counts as present: there is no sign that it moved. Raises `Cancelled`.

    Args:
        rest: called every millisecond of work; it may wait, as a window works at the same time.
    """
    pause = _pause_of(cancel, rest)
    meter = ProgressMeter(len(paths), on_progress)
    missing: list[int] = []
    for parent, places in _by_folder(paths, pause):
        missing += _missing_in(folder / parent, paths, places, pause)
        meter.advance(len(places))
    return sorted(missing)


def written_files(
    folder: Path,
    paths: Sequence[str],
    sizes_bytes: Sequence[int],
    modified_ns: Sequence[int],
    *,
    cancel: CancelToken | None = None,
    rest: Rest = lambda: None,
) -> list[int]:
    """Ascending indices in `paths` of the files with another size or modification time.

    Files that are not there, or cannot be looked at, are left out. Raises `Cancelled`.

    Args:
        rest: as of `missing_files`.
    """
    pause = _pause_of(cancel, rest)
    found: list[int] = []
    for parent, places in _by_folder(paths, pause):
        by_name = {_name(paths[place]): place for place in places}
        for name, size, time in _in_parts(_states(folder / parent, by_name), pause):
            place = by_name[name]
            if (size, time) != (sizes_bytes[place], modified_ns[place]):
                found.append(place)
    return sorted(found)


def is_missing(path: Path) -> bool:
    """Whether there is no file at a path."""
    return not _is_there(path, stat.S_ISREG)


def _pause_of(cancel: CancelToken | None, rest: Rest) -> Rest:
    def pause() -> None:
        if cancel is not None:
            cancel.raise_if_cancelled()
        rest()

    return pause


def _by_folder(paths: Sequence[str], pause: Rest) -> Iterator[tuple[str, Sequence[int]]]:
    """Places in `paths` by folder, with a pause before each."""
    # a ninth of what lists of numbers take
    grouped: defaultdict[str, array[int]] = defaultdict(partial(array, "I"))
    for place, path in enumerate(_in_parts(paths, pause)):
        parent, separator, _ = path.rpartition("/")
        grouped[parent or separator].append(place)
    for group in grouped.items():
        pause()
        yield group


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _in_parts(some: Iterable[T], pause: Rest) -> Iterator[T]:
    """All of them, with a pause after each part."""
    for number, each in enumerate(some, start=1):
        yield each
        if number % _PART == 0:
            pause()


def _missing_in(
    folder: Path, paths: Sequence[str], places: Sequence[int], pause: Rest
) -> list[int]:
    """Indices of files that a folder lacks; a name in another spelling is looked up singly."""
    if not _is_there(folder, stat.S_ISDIR):
        return list(places)  # one look-up for all: each may take seconds on a lost share
    listed = _files_in(folder, pause) if len(places) > _FEW else frozenset()
    names = ((place, _name(paths[place])) for place in _in_parts(places, pause))
    return [place for place, name in names if name not in listed and is_missing(folder / name)]


def _files_in(folder: Path, pause: Rest) -> frozenset[str]:
    try:
        with os.scandir(folder) as entries:
            return frozenset(entry.name for entry in _in_parts(entries, pause) if entry.is_file())
    except OSError:
        return frozenset()  # then each is looked up by itself


def _is_there(path: Path, is_kind: Callable[[int], bool]) -> bool:
    try:
        return is_kind(path.stat().st_mode)
    except PermissionError:
        return True
    except (OSError, ValueError):  # systems report a lost share in many ways
        return False


def _states(folder: Path, names: Mapping[str, int]) -> Iterator[tuple[str, int, int]]:
    """Name, size and time of those of these files that are there."""
    if len(names) <= _FEW_STATES:
        for name in names:
            # a project from elsewhere may name what no file can be called
            with suppress(OSError, ValueError):
                found = (folder / name).stat()
                yield name, found.st_size, found.st_mtime_ns
        return
    with suppress(OSError, ValueError), os.scandir(folder) as scan:
        for entry in scan:
            if entry.name in names:
                with suppress(OSError):
                    # On Windows the listing has data of links, and stale data of open files.
                    found = os.stat(entry.path) if os.name == "nt" else entry.stat()  # noqa: PTH116
                    yield entry.name, found.st_size, found.st_mtime_ns
