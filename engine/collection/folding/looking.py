"""Look at pictures that have no fingerprint yet: read them small, on a few threads, and keep what was seen."""

import os
from collections.abc import Iterator, Sequence
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

Picture = tuple[Path, bytes]  # a file and its content hash


def pictures_to_look_at(files: Sequence[tuple[Path, bytes | None]], caches: CacheFolders) -> list[Picture]:
    """Files whose content has no fingerprint, each content once; files that were never read are left out."""
    with closing(FingerprintCache(caches.fingerprints)) as cache:
        is_known = cache.get_many([content for _, content in files]).is_known
    wanted = {content: path for (path, content), known in zip(files, is_known, strict=True) if content and not known}
    return [(path, content) for content, path in wanted.items()]


def look_at(
    pictures: Sequence[Picture],
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
            seen = list(_seen(pool, some))
            cache.put_many(seen)
            count += len(seen)
            meter.advance(len(some))
    return count


def _pool(workers: int | None) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers or os.cpu_count() or 1, thread_name_prefix="look")


def _seen(pool: ThreadPoolExecutor, pictures: Sequence[Picture]) -> Iterator[tuple[bytes, Fingerprint]]:
    for (_, content), found in zip(pictures, pool.map(_print_of, pictures), strict=True):
        if found is not None:
            yield content, found


def _print_of(picture: Picture) -> Fingerprint | None:
    try:
        return fingerprint_of(picture[0])
    except (ImageError, OSError):
        return None
