"""Finds the images of a project whose files were moved, plans what to do, and takes the plan into the project.

First by folders that were moved as a whole, then by name and size; a sample of these is checked by content, and what is
left is looked for by content. A file that several images could be, or an image that several files could be, is reported
and not guessed.
"""

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from string import ascii_uppercase
from typing import Final

from engine.collection.embed import open_cache
from engine.collection.models import model_of
from engine.collection.relink.by_content import Search
from engine.collection.relink.by_folder import ByFolder
from engine.collection.relink.records import Doubt, KnownImages, MissingImage, Move, RelinkPlan, Way
from engine.collection.relink.seen_files import SeenFiles
from engine.config import CacheFolders
from engine.errors import ModelError, StorageError
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.images.read_file import is_missing, missing_files
from engine.project import Change, ImageId, Project

_SHOWN_FILES: Final = 5
_MOST_TRIED: Final = 24
_MOST_NEIGHBOURS: Final = 500


def known_images(project: Project) -> KnownImages:
    """Read what finding needs of a project."""
    return KnownImages(project.path, project.images.table(), frozenset(project.labels.table().image_ids))


def find_moved(
    known: KnownImages,
    folder: Path | None = None,
    *,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> RelinkPlan:
    """Look for the images whose files are not where they were, in a folder or beside the project; on any thread.

    Each folder is listed once, each file that may be one is looked at once, and read only where its name, its size and
    its place are ambiguous.

    Raises:
        StorageError: the folder is not there.
        Cancelled: `cancel` was set.
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
    meter = ProgressMeter(0, on_progress, unit="files read")

    def on_read() -> None:
        cancel.raise_if_cancelled()
        meter.advance()

    search = Search(images, seen, _held(known, frozenset(lost), seen), on_read)
    by_folder = ByFolder(images, seen, cancel).find()
    claims = Counter(by_folder.values())  # two images may claim a file where only case tells two paths apart
    search.files.update({image: (file, Way.PATH) for image, file in by_folder.items() if claims[file] == 1})
    search.find_by_name()
    search.verify()
    search.find_by_content()
    return _plan(known, search, places)


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


def _plan(known: KnownImages, found: Search, places: tuple[Path, ...]) -> RelinkPlan:
    moves, taken, mismatched = list[Move](), list[Move](), list[Move]()
    strangers, doubts, missing = list[ImageId](), list[Doubt](), list[MissingImage]()
    seen = found.seen
    for number, image in enumerate(found.images):
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


def relink(project: Project, plan: RelinkPlan, caches: CacheFolders) -> Change:
    """Take a plan into the project as one action. Images that changed or left since it was made are passed over.

    The caches note which contents lie at the new places, so that unchanged files need not be read again.

    Raises:
        StorageError: the disk refuses; nothing was changed.
        ProjectReadOnlyError: the project is open for reading only.
    """
    table = project.images.table()
    paths = dict(zip(table.ids, table.paths, strict=True))
    moves = [move for move in plan.moves if paths.get(move.image.image_id) == move.image.path]
    change = project.images.relink([(move.image.image_id, move.file) for move in moves], strangers=plan.strangers)
    known = [(move.file, move.image.content_hash) for move in moves if move.is_same_content]
    files = [(file, content) for file, content in known if content is not None]
    with suppress(ModelError, StorageError), open_cache(model_of(project, caches), caches) as cache:  # only a help
        cache.remember_files([file for file, _ in files], [content for _, content in files])
    return change


def places_beside(project: Path, missing: Sequence[str]) -> tuple[Path, ...]:
    """The project's folder, and others to look through for missing images.

    These are folders from which the end of a missing path leads to a file, seen from a folder above the project or from
    another drive, as when both were moved; and folders in place of one that is gone, as when it was renamed.
    """
    found: dict[Path, None] = {project: None}
    for path in _one_of_each_folder(missing):
        parts = [part for part in path.split("/") if part not in ("", ".")]
        for place in (*_from_above(project, parts), *_in_place_of(project, path)):
            found.setdefault(place)
    return tuple(place for place in found if not any(other in place.parents for other in found))


def _one_of_each_folder(missing: Sequence[str]) -> Iterator[str]:
    """One path of each of the first and last folders."""
    folders = {path.rpartition("/")[0]: path for path in missing}
    paths = list(folders.values())
    step = max(1, len(paths) // _MOST_TRIED)
    yield from paths[::step][:_MOST_TRIED]


def _from_above(project: Path, parts: Sequence[str]) -> Iterator[Path]:
    """Folders named in a path that are there, with the file, below a folder above the project or another drive."""
    drives = [Path(f"{letter}:/") for letter in ascii_uppercase] if sys.platform == "win32" else []
    for root in (*project.parents, *drives):
        for start in range(len(parts) - 1):
            if not is_missing(root.joinpath(*parts[start:])):
                yield root / parts[start]
                break


def _in_place_of(project: Path, path: str) -> Iterator[Path]:
    """Folders beside the first part of a path that is gone, from which the rest of the path leads to a file."""
    lost = project / path
    above = next((parent for parent in lost.parents if os.path.isdir(parent)), None)  # noqa: PTH112 (never raises)
    if above is None:
        return
    rest = lost.relative_to(above).parts[1:]
    if not rest:
        return
    for neighbour in _folders_in(above):
        if not is_missing(neighbour.joinpath(*rest)):
            yield neighbour


def _folders_in(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as scan:
            folders = [entry.path for entry in scan if entry.is_dir()]
    except OSError:
        return []
    return [Path(path) for path in sorted(folders)[:_MOST_NEIGHBOURS]]
