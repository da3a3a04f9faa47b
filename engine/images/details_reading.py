"""Reads the metadata of many image files, a few at a time, since shares are slow."""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.files import FoundFile
from engine.images.details_messages import DetailsBatch, DetailsSummary, FileDetails
from engine.images.photo_details import read_details
from engine.ordered_pool import in_order

AT_ONCE = 256  # files between two reports: a tenth of a second
# Chosen: they wait for the disk most of the time, and for one another when it is quick.
_THREADS = 4


OnDetails = Callable[[DetailsBatch], None]


def read_all_details(
    images: Iterable[tuple[int, Path]],
    on_batch: OnDetails,
    *,
    total: int = 0,
    done_before: int = 0,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> DetailsSummary:
    """Read the details of images, and hand them over in order, some at a time.

    Files without metadata and other files have empty ones; missing files are skipped.

    Raises:
        Cancelled: reported results are complete.
    """
    started_s, read, missing = time.perf_counter(), 0, 0
    meter = ProgressMeter(total, on_progress, already_done=done_before)
    if cancel is not None:
        cancel.raise_if_cancelled()
    with ThreadPoolExecutor(_THREADS) as pool:
        files = in_order(pool, _read_one, images, ahead=AT_ONCE)
        while some := list(islice(files, AT_ONCE)):
            found = tuple(each for each in some if each is not None)
            read, missing = read + len(found), missing + len(some) - len(found)
            on_batch(DetailsBatch(found))
            meter.advance(len(some))
            if cancel is not None:
                cancel.raise_if_cancelled()
    return DetailsSummary(read, missing, time.perf_counter() - started_s)


def _read_one(image: tuple[int, Path]) -> FileDetails | None:
    image_id, path = image
    file = FoundFile.at(path)  # before reading: a change in between shows as another time later
    return None if file is None else FileDetails(image_id, file.modified_ns, read_details(path))
