"""Finds the images of a project whose files were moved, and says what it would do; nothing is changed.

First by folders that were moved as a whole, then by name and size; a sample of what was found so is checked by content,
and what is left is looked for by content. A file that several images could
be, or an image that several files could be, is reported and not guessed.
"""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from engine.collection.relink.by_content import Found, find_by_content, find_by_name
from engine.collection.relink.by_folder import ByFolder
from engine.collection.relink.places import places_beside
from engine.collection.relink.records import Doubt, KnownImages, MissingImage, Move, RelinkPlan, Way
from engine.collection.relink.seen_files import SeenFiles
from engine.collection.relink.verification import verify
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.images.read_file import missing_files
from engine.project import ImageId, Project

_SHOWN_FILES: Final = 5


def known_images(project: Project) -> KnownImages:
    """Read what finding needs of a project, so that it need not be asked again."""
    return KnownImages(project.path, project.images.table(), frozenset(project.labels.table().image_ids))


def find_moved(
    known: KnownImages,
    folder: Path | None = None,
    *,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> RelinkPlan:
    """Look for the images whose files are not where they were. Runs on any thread; changes nothing.

    Each folder is listed once, each file that may be one is looked at once, and read only where its name, its size and
    its place do not tell.

    Args:
        known: what the project knows.
        folder: where to look; by default beside the project.
        on_progress: called with what was looked at so far.
        cancel: stops at once.

    Raises:
        StorageError: the folder is not there.
        Cancelled: asked to stop.
    """
    cancel = cancel or CancelToken()
    table, home = known.table, known.project.parent
    lost = missing_files(home, table.paths, on_progress=on_progress, cancel=cancel)
    images = [_missing(known, row) for row in lost]
    if not images:
        return RelinkPlan(images=len(table.ids))
    places = (folder,) if folder is not None else places_beside(home, [image.path for image in images])
    seen = SeenFiles(images)
    seen.look_through(places, ProgressMeter(0, on_progress, unit="files"), cancel)
    found = Found(_held(known, frozenset(lost), seen))
    _find(images, seen, found, on_progress, cancel)
    return _plan(known, images, seen, found, places)


def _missing(known: KnownImages, row: int) -> MissingImage:
    table = known.table
    return MissingImage(
        table.ids[row], table.paths[row], table.sizes_bytes[row], table.modified_ns[row], table.content_hashes[row]
    )


def _held(known: KnownImages, lost: frozenset[int], seen: SeenFiles) -> dict[int, ImageId]:
    """The seen files that are in the project already, each with its image."""
    files: dict[tuple[str, str], int] = {}
    reals = [os.path.realpath(folder) for folder in seen.folders]
    for number, file in enumerate(seen.files):
        files[reals[file.folder], file.name] = number
    held: dict[int, ImageId] = {}
    folders: dict[str, str] = {}
    for row, path in enumerate(known.table.paths):
        if row in lost:
            continue
        folder, separator, name = path.rpartition("/")
        if folder not in folders:
            folders[folder] = os.path.realpath(known.project.parent / (folder or separator))
        seen_number = files.get((folders[folder], name))
        if seen_number is not None:
            held[seen_number] = known.table.ids[row]
    return held


def _find(
    images: Sequence[MissingImage], seen: SeenFiles, found: Found, on_progress: OnProgress, cancel: CancelToken
) -> None:
    for image, file in _each_once(ByFolder(images, seen, cancel).find()).items():
        found.files[image] = file, Way.PATH
    find_by_name(images, _left(images, found), seen, found)
    meter = ProgressMeter(0, on_progress, unit="files read")

    def on_read(_file: int) -> None:
        cancel.raise_if_cancelled()
        meter.advance()

    verify(images, seen, found, on_read)
    find_by_content(images, _left(images, found), seen, found, on_read)


def _each_once(files: Mapping[int, int]) -> dict[int, int]:
    """Without the files that two images claim, as they may where only case tells two paths apart."""
    claims = Counter(files.values())
    return {image: file for image, file in files.items() if claims[file] == 1}


def _left(images: Sequence[MissingImage], found: Found) -> list[int]:
    return [number for number in range(len(images)) if number not in found.files]


def _plan(
    known: KnownImages, images: Sequence[MissingImage], seen: SeenFiles, found: Found, places: tuple[Path, ...]
) -> RelinkPlan:
    moves: list[Move] = []
    taken: list[Move] = []
    strangers: list[ImageId] = []
    doubts: list[Doubt] = []
    missing: list[MissingImage] = []
    mismatched: list[Move] = []
    for number, image in enumerate(images):
        if number in found.files:
            move = _move(image, seen, *found.files[number])
            holder = found.held.get(found.files[number][0])
            (taken if holder in known.labelled else moves).append(move)
            if holder is not None and holder not in known.labelled:
                strangers.append(holder)
        elif number in found.doubts:
            files = found.doubts[number]
            doubts.append(Doubt(image, tuple(sorted(seen.path(file) for file in files)[:_SHOWN_FILES]), len(files)))
        elif number in found.mismatched:
            mismatched.append(_move(image, seen, *found.mismatched[number]))
        else:
            missing.append(image)
    return RelinkPlan(
        len(known.table.ids), places, tuple(moves), tuple(strangers), tuple(doubts), tuple(taken), tuple(missing),
        tuple(seen.failures), tuple(mismatched),
    )  # fmt: skip


def _move(image: MissingImage, seen: SeenFiles, number: int, way: Way) -> Move:
    file = seen.files[number]
    is_unchanged = (file.size_bytes, file.modified_ns) == (image.size_bytes, image.modified_ns)
    is_verified = image.content_hash is not None and seen.is_known(number, image.content_hash)
    return Move(image, seen.found(number), way, is_unchanged or is_verified, is_verified)
