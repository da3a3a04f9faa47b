"""Finds what an import takes: image files, and pages and frames of files that have several."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

from engine.errors import ImageError
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.file_parts import FilePart
from engine.files import FileFailure
from engine.images.find_images import FoundImages, find_images
from engine.images.kinds import IMAGE_SUFFIXES
from engine.images.media_kinds import DOCUMENT_SUFFIXES, VIDEO_SUFFIXES
from engine.images.part_reader import EVERYTHING, PartsWanted
from engine.images.parts_of_file import parts_of
from engine.ordered_pool import in_order

_ANIMATED_SUFFIXES = frozenset({".apng", ".gif", ".png", ".webp"})
SEVERAL_SUFFIXES = (
    DOCUMENT_SUFFIXES | VIDEO_SUFFIXES | _ANIMATED_SUFFIXES | {".tif", ".tiff", ".mpo"}
)
"""Of files that may have several pictures."""
_AHEAD = 16  # files that are looked into before the first is done. Chosen.


def imported_suffixes() -> frozenset[str]:
    """Of files to import from folders, in lower case; videos where PyAV is installed."""
    videos = VIDEO_SUFFIXES if find_spec("av") is not None else frozenset[str]()
    return IMAGE_SUFFIXES | DOCUMENT_SUFFIXES | videos


def find_images_and_parts(
    paths: Sequence[Path],
    *,
    wanted: PartsWanted = EVERYTHING,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> FoundImages:
    """Find image files, documents and videos as `find_images` does, and the parts to import.

    A document or video without a picture is a failure.

    Raises:
        StorageError: one of `paths` is not there, or cannot be accessed.
        Cancelled: stopped.
    """
    cancel = cancel or CancelToken()
    found = find_images(paths, suffixes=imported_suffixes(), on_progress=on_progress, cancel=cancel)
    files = [file.path for file in found.files if file.path.suffix.lower() in SEVERAL_SUFFIXES]
    meter = ProgressMeter(len(files), on_progress)

    def parts_or_reason(path: Path) -> tuple[Path, Sequence[FilePart] | str]:
        try:
            return path, parts_of(path, wanted, cancel)
        except ImageError as error:
            return path, error.message

    with ThreadPoolExecutor(os.cpu_count() or 1, "parts") as pool:
        for path, parts in in_order(pool, parts_or_reason, files, ahead=_AHEAD):
            cancel.raise_if_cancelled()
            meter.advance()
            _take(found, path, parts)
    return found


def _take(found: FoundImages, path: Path, parts: Sequence[FilePart] | str) -> None:
    # one that cannot be read is an image that failed
    is_image = path.suffix.lower() in IMAGE_SUFFIXES
    if isinstance(parts, str) and not is_image:
        found.failures.append(FileFailure(path, parts))
        found.parts[path] = ()
    elif not isinstance(parts, str) and list(parts) != [FilePart()]:
        found.parts[path] = parts


def each_part(found: FoundImages, path: Path) -> Iterator[str]:
    """The texts of the parts of a found file that become images."""
    return (part.text for part in found.parts.get(path, (FilePart(),)))
