"""Compute missing fingerprints: decode pictures at a small size on a few threads."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.collection.folding.duplicates import recurs
from engine.config import CacheFolders
from engine.errors import ImageError
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.file_parts import WHOLE
from engine.images.fingerprint import Fingerprint, fingerprint_of
from engine.images.fingerprint_cache import FingerprintCache, Fingerprints
from engine.ordered_pool import in_order

AT_ONCE = 16  # pictures between two writes or pauses. Chosen: 0.1 s

# file, relative to the project's folder or absolute; part of the file; content hash of the part
Picture = tuple[str, str, bytes]


@dataclass(frozen=True, eq=False)
class Pictures:
    """Contents without a fingerprint, each once; paths are made when they are read."""

    paths: Sequence[str]  # (n,) of all images
    parts: Sequence[str]  # (n,) of the files; () if all images are whole files
    keys: NDArray[np.bytes_]  # (n,) their content hashes, as `ImageList.content_keys`
    places: NDArray[np.int32]  # (p,) places of the pictures

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[Picture]:
        length = self.keys.dtype.itemsize
        for start in range(
            0, len(self.places), AT_ONCE
        ):  # lists of millions take more than all else of a collection
            for place in self.places[start : start + AT_ONCE].tolist():
                yield (
                    self.paths[place],
                    self.parts[place] if self.parts else WHOLE,
                    self.keys[place].ljust(length, b"\0"),
                )

    @property
    def contents(self) -> NDArray[np.bytes_]:
        """(p,) content hashes of the pictures."""
        return self.keys[self.places]

    def without(self, tried: NDArray[np.bytes_]) -> "Pictures":
        """Drop pictures with one of these contents."""
        return (
            replace(self, places=self.places[~np.isin(self.contents, tried)])
            if len(tried)
            else self
        )


def cached_fingerprints(keys: NDArray[np.bytes_], caches: CacheFolders) -> Fingerprints:
    """Cached fingerprints by content hashes (n,), as `ImageList.content_keys`."""
    with closing(FingerprintCache(caches.fingerprints)) as cache:
        return cache.get_many(keys)


def without_fingerprint(
    paths: Sequence[str], parts: Sequence[str], keys: NDArray[np.bytes_], prints: Fingerprints
) -> Pictures:
    """Pictures without a fingerprint; images that were never read are left out."""
    is_wanted = (keys != b"") & ~prints.is_known
    is_again = is_wanted & recurs(keys.astype("S8").view(np.uint64))
    again = np.flatnonzero(is_again)
    _, first = np.unique(keys[again], return_index=True)
    is_first = is_wanted & ~is_again
    is_first[again[first]] = True
    return Pictures(paths, parts, keys, np.flatnonzero(is_first).astype(np.int32))


def compute_fingerprints(
    pictures: Pictures,
    folder: Path,
    caches: CacheFolders,
    *,
    workers: int | None = None,
    pause_s: Callable[[], float] = lambda: 0.0,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> int:
    """Compute and cache fingerprints; return how many. Unreadable files are skipped.

    Args:
        workers: number of threads; by default that of the processors.
        pause_s: seconds to wait before the next pictures; called again after them.

    Raises:
        Cancelled: `cancel` was set; computed fingerprints are kept.
    """
    cancel, meter, count = cancel or CancelToken(), ProgressMeter(len(pictures), on_progress), 0
    workers = workers or os.cpu_count() or 1

    def fingerprint_in_folder(picture: Picture) -> tuple[bytes, Fingerprint] | None:
        path, part, content = picture
        with suppress(ImageError, OSError):
            return content, fingerprint_of(folder / path, part)
        return None

    with (
        closing(FingerprintCache(caches.fingerprints)) as cache,
        ThreadPoolExecutor(workers, "look") as pool,
    ):
        found = in_order(
            pool, fingerprint_in_folder, _with_pauses(pictures, pause_s, cancel), ahead=AT_ONCE
        )
        some: list[tuple[bytes, Fingerprint]] = []
        try:
            for each in found:
                some += [] if each is None else [each]
                meter.advance()
                if len(some) >= AT_ONCE:
                    cache.put_many(some)
                    count, some = count + len(some), []
        finally:
            cache.put_many(some)
    return count + len(some)


def _with_pauses(
    pictures: Pictures, pause_s: Callable[[], float], cancel: CancelToken
) -> Iterator[Picture]:
    """The pictures, with pauses; raises `Cancelled`."""
    for number, picture in enumerate(pictures):
        while number % AT_ONCE == 0 and (rest_s := pause_s()) > 0:
            cancel.wait(rest_s)
            cancel.raise_if_cancelled()
        cancel.raise_if_cancelled()
        yield picture
