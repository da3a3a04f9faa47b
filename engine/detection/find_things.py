"""Finds the things in image files: they are read and decoded on the cores ahead of the detector."""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple, final

from engine.detection.detector import LetterboxedPicture, ObjectDetector
from engine.detection.messages import MOST_LISTED, DetectionSummary, FoundThings, SearchedFile
from engine.errors import ImageError, ImageUnreachableError
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.file_parts import file_part
from engine.images.opened_file import OpenedFile
from engine.ordered_pool import in_order
from engine.runtime.sessions import usable_cores

_TOGETHER_S = 0.5
"""Results of so many seconds are reported together. Chosen: one transaction holds them."""
_AHEAD = 2  # files that are read or wait, for each thread


class _ReadFile(NamedTuple):
    """A file, and its picture where it could be read."""

    found: FoundThings
    canvas: LetterboxedPicture | None


OnFound = Callable[[list[FoundThings]], None]


def find_things(
    files: Iterable[SearchedFile],
    detector: ObjectDetector,
    on_found: OnFound,
    *,
    total: int = 0,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> DetectionSummary:
    """Find the things in files.

    Files that fail are reported as such, never fatal. What was reported is done: a run that is to
    go on where another one stopped leaves those files out.

    Args:
        files: iterated once, on the calling thread.
        on_found: called on the calling thread about twice a second, also with what was finished
            before a cancel.
        total: of the files; 0 where it is not known.

    Raises:
        Cancelled: `cancel` was set.
        ModelError: the detector fails.
    """
    cancel = cancel or CancelToken()
    meter = ProgressMeter(total, on_progress)
    counts = _Counts()
    waiting: list[FoundThings] = []
    started_s = reported_s = time.monotonic()
    try:
        for found in _found(files, detector, cancel):
            waiting.append(found)
            counts.add(found)
            meter.note, meter.notice = detector.device_name, detector.notice
            meter.advance()
            if time.monotonic() - reported_s >= _TOGETHER_S:
                on_found(waiting)
                waiting, reported_s = [], time.monotonic()
            cancel.raise_if_cancelled()
    finally:
        if waiting:
            on_found(waiting)
    return counts.summary(detector, time.monotonic() - started_s)


def _found(
    files: Iterable[SearchedFile], detector: ObjectDetector, cancel: CancelToken
) -> Iterator[FoundThings]:
    """Detections in each file, in any order.

    On the CPU each thread takes a file from reading to its boxes; with a GPU threads only read.
    """
    is_on_gpu = detector.is_on_gpu
    count = usable_cores() if is_on_gpu else detector.runs_at_once
    with ThreadPoolExecutor(count, thread_name_prefix="detect") as pool:
        pending, ahead = _until_cancelled(files, cancel), _AHEAD * count
        if is_on_gpu:
            read = in_order(
                pool, partial(_read, detector), pending, ahead=ahead + detector.batch_size
            )
            yield from _in_batches(detector, read)
        else:
            yield from in_order(pool, partial(_searched, detector), pending, ahead=ahead)


def _until_cancelled(files: Iterable[SearchedFile], cancel: CancelToken) -> Iterator[SearchedFile]:
    for file in files:
        cancel.raise_if_cancelled()
        yield file


def _read(detector: ObjectDetector, file: SearchedFile) -> _ReadFile:
    try:
        part = file_part(file.part)
        with OpenedFile(file.path, part) as opened:
            canvas = detector.letterboxed(opened.decoder(part, max(detector.facts.takes.size)))
            return _ReadFile(FoundThings(file, content_hash=opened.content_hash), canvas)
    except ImageError as error:
        is_unreachable = isinstance(error, ImageUnreachableError)
        return _ReadFile(
            FoundThings(file, failure=error.message, is_unreachable=is_unreachable), None
        )


def _searched(detector: ObjectDetector, file: SearchedFile) -> FoundThings:
    read = _read(detector, file)
    if read.canvas is None:
        return read.found
    return read.found._replace(detections=tuple(detector.detect_in([read.canvas])[0]))


def _in_batches(detector: ObjectDetector, files: Iterable[_ReadFile]) -> Iterator[FoundThings]:
    failed: list[FoundThings] = []

    def canvases() -> Iterator[tuple[FoundThings, LetterboxedPicture]]:
        for found, canvas in files:
            if canvas is None:
                failed.append(found)
            else:
                yield found, canvas

    for found, detections in detector.in_batches(canvases()):
        yield found._replace(detections=tuple(detections))
        while failed:
            yield failed.pop()
    yield from failed


@final
class _Counts:
    """Counts of a run so far."""

    def __init__(self) -> None:
        self._searched = self._with_things = self._boxes = self._failures = 0
        self._failed: list[tuple[SearchedFile, str]] = []

    def add(self, found: FoundThings) -> None:
        if not found.failure:
            self._searched += 1
            self._with_things += bool(found.detections)
            self._boxes += len(found.detections)
            return
        self._failures += 1
        if len(self._failed) < MOST_LISTED:
            self._failed.append((found.file, found.failure))

    def summary(self, detector: ObjectDetector, seconds: float) -> DetectionSummary:
        return DetectionSummary(
            searched=self._searched,
            with_things=self._with_things,
            boxes=self._boxes,
            failed=tuple(self._failed),
            failure_count=self._failures,
            seconds=seconds,
            images_per_s=self._searched / seconds if seconds else 0.0,
            device_name=detector.device_name,
            notice=detector.notice,
            reason=detector.reason,
        )
