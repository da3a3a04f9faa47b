"""Look at pictures that have no fingerprint yet: read them small, on a few threads, and keep what was seen."""

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Final

from engine.config import CacheFolders
from engine.errors import ImageError
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.images.fingerprint import Fingerprint, fingerprint_of
from engine.images.fingerprint_cache import FingerprintCache

AT_ONCE: Final = 64  # pictures between two writes

Picture = tuple[str, bytes]
"""A file, relative to the project's folder or absolute, and its content hash: no object that memory is searched for."""


def pictures_to_look_at(
    paths: Iterable[str], content_hashes: Sequence[bytes | None], caches: CacheFolders
) -> list[Picture]:
    """Files whose content has no fingerprint, each content once; files that were never read are left out."""
    with closing(FingerprintCache(caches.fingerprints)) as cache:
        is_known = cache.get_many(content_hashes).is_known
    files = zip(paths, content_hashes, is_known, strict=True)
    wanted = {content: path for path, content, known in files if content and not known}
    return [(path, content) for content, path in wanted.items()]


def look_at(
    pictures: Sequence[Picture],
    folder: Path,
    caches: CacheFolders,
    *,
    workers: int | None = None,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> int:
    """Keep the fingerprints of pictures; returns of how many. Files that cannot be read are passed over.

    Raises:
        Cancelled: `cancel` was set; what was seen is kept.
    """
    cancel, meter, count = cancel or CancelToken(), ProgressMeter(len(pictures), on_progress), 0
    with closing(FingerprintCache(caches.fingerprints)) as cache, _pool(workers) as pool:
        rest = iter(pictures)
        while some := list(islice(rest, AT_ONCE)):
            cancel.raise_if_cancelled()
            seen = list(_seen(pool, folder, some))
            cache.put_many(seen)
            count += len(seen)
            meter.advance(len(some))
    return count


def _pool(workers: int | None) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers or os.cpu_count() or 1, thread_name_prefix="look")


def _seen(pool: ThreadPoolExecutor, folder: Path, pictures: Sequence[Picture]) -> Iterator[tuple[bytes, Fingerprint]]:
    for (_, content), found in zip(pictures, pool.map(_print_of, [folder / path for path, _ in pictures]), strict=True):
        if found is not None:
            yield content, found


def _print_of(path: Path) -> Fingerprint | None:
    try:
        return fingerprint_of(path)
    except (ImageError, OSError):
        return None
