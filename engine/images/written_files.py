"""Search for modified files by size and time, with one listing of each folder."""

import os
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from engine.events import CancelToken

_AT_ONCE: Final = 256  # files between two rests: a millisecond on a local disk
# files of a folder that are looked at by themselves: it may hold thousands of others
_FEW: Final = 4

Rest = Callable[[], None]


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

    Files that are not there, or cannot be looked at, are left out. Paths are as of `missing_files`.

    Args:
        rest: called every few hundred files; it may wait.

    Raises:
        Cancelled: `cancel` was set.
    """
    grouped: defaultdict[str, array[int]] = defaultdict(partial(array, "I"))
    for place, path in enumerate(paths):
        if place % _AT_ONCE == 0:
            _pause(cancel, rest)
        parent, separator, _ = path.rpartition("/")
        grouped[parent or separator].append(place)
    found: list[int] = []
    for parent, places in grouped.items():
        by_name = {paths[place].rpartition("/")[2]: place for place in places}
        for number, (name, size, time) in enumerate(_states(folder / parent, by_name)):
            if number % _AT_ONCE == 0:
                _pause(cancel, rest)
            place = by_name[name]
            if (size, time) != (sizes_bytes[place], modified_ns[place]):
                found.append(place)
    return sorted(found)


def _pause(cancel: CancelToken | None, rest: Rest) -> None:
    if cancel is not None:
        cancel.raise_if_cancelled()
    rest()


def _states(folder: Path, names: dict[str, int]) -> Iterator[tuple[str, int, int]]:
    """Name, size and time of those of these files that are there."""
    if len(names) <= _FEW:
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
