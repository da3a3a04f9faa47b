"""Search for moved files of a project: make a plan, and apply it.

Files are found by moved folders, then by name and size; a sample of these is verified by content;
the rest is searched by content. Ambiguous matches are reported, never guessed.
"""

import os
import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from string import ascii_uppercase
from typing import final

from engine.collection.embed import open_cache
from engine.collection.models import model_of
from engine.config import CacheFolders
from engine.errors import ModelError, StorageError
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.images.files_on_disk import is_missing, missing_files
from engine.lazy_sequence import LazySequence
from engine.project import Change, ImageId, ImageTable, Project
from engine.relink.by_content import NO_FILE, Search
from engine.relink.by_folder import ByFolder
from engine.relink.records import Doubt, KnownImages, LostImages, Move, RelinkPlan, Way
from engine.relink.seen_files import SeenFiles, name_key

_REMEMBERED_AT_ONCE = 4096
_SHOWN_FILES = 5
_MOST_TRIED = 24
_MOST_NEIGHBOURS = 500


def known_images(project: Project) -> KnownImages:
    """Take a snapshot of a project, with one image for each file."""
    labelled = frozenset((*project.labels.table().image_ids, *project.labels.outdated()))
    files, every = project.images.files(), project.images.table()
    if every.has_parts:  # a file is labelled if one of its images is
        paths = {
            path
            for image_id, path in zip(every.ids, every.paths, strict=True)
            if image_id in labelled
        }
        labelled |= {
            image_id for image_id, path in zip(files.ids, files.paths, strict=True) if path in paths
        }
    return KnownImages(project.path, files, labelled)


def find_moved(
    known: KnownImages,
    folder: Path | None = None,
    *,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> RelinkPlan:
    """Search for missing files in a folder, or near the project; on any thread.

    Each folder is listed once. Files are read only if name, size and path are ambiguous, and to
    verify samples.

    Raises:
        StorageError: the folder does not exist.
        Cancelled: `cancel` was set.
    """
    cancel = cancel or CancelToken()
    table, home = known.table, known.project.parent
    lost = missing_files(home, table.paths, on_progress=on_progress, cancel=cancel)
    images = LostImages(table, lost)
    if not images:
        return RelinkPlan(images=len(table.ids))
    places = (
        (folder,) if folder is not None else nearby_folders(home, (image.path for image in images))
    )
    seen = SeenFiles(images)
    seen.look_through(places, ProgressMeter(0, on_progress, unit="files"), cancel)
    meter = ProgressMeter(0, on_progress, unit="files read")

    def on_read() -> None:
        cancel.raise_if_cancelled()
        meter.advance()

    search = Search(images, seen, _held(known, lost, seen), on_read)
    for image, file in ByFolder(images, seen, cancel).find():
        search.take(image, file, Way.PATH)
    search.find_by_name()
    search.verify()
    search.find_by_content()
    return _plan(known, search, places)


def _held(known: KnownImages, lost: Sequence[int], seen: SeenFiles) -> dict[int, ImageId]:
    """Image of the listed files that are in the project already."""
    reals = {os.path.realpath(folder): number for number, folder in enumerate(seen.files.folders)}
    is_there = bytearray(b"\1") * len(known.table.ids)
    for row in lost:
        is_there[row] = False
    held: dict[int, ImageId] = {}
    folders: dict[str, int | None] = {}
    for row, path in enumerate(known.table.paths):
        if not is_there[row]:
            continue
        folder, separator, name = path.rpartition("/")
        if folder not in folders:
            folders[folder] = reals.get(
                os.path.realpath(known.project.parent / (folder or separator))
            )
        for number in seen.in_folder.get((folders[folder], name_key(name))):
            if seen.files.names[number] == name:
                held[number] = known.table.ids[row]
    return held


def _plan(known: KnownImages, found: Search, places: tuple[Path, ...]) -> RelinkPlan:
    moves, taken, missing = array("q"), array("q"), array("q")
    strangers, doubts, mismatched = list[ImageId](), list[Doubt](), list[Move]()
    seen = found.seen
    for number, file in enumerate(found.files):
        if file != NO_FILE:
            holder = found.held.get(file)
            (taken if holder in known.labelled else moves).append(number)
            if holder is not None and holder not in known.labelled:
                strangers.append(holder)
        elif number in found.doubts:
            files = found.doubts[number]
            shown = sorted(seen.files[each].path for each in files)[:_SHOWN_FILES]
            doubts.append(Doubt(found.images[number], tuple(shown), len(files)))
        elif number in found.mismatched:
            mismatched.append(_move(found, number, found.mismatched[number]))
        else:
            missing.append(number)
    return RelinkPlan(
        len(known.table.ids),
        places,
        _Moves(found, moves),
        tuple(strangers),
        tuple(doubts),
        _Moves(found, taken),
        found.images.some(missing),
        tuple(seen.failures),
        tuple(mismatched),
    )


@final
class _Moves(LazySequence[Move]):
    """Moves of matched images, made when they are read."""

    def __init__(self, found: Search, numbers: Sequence[int]) -> None:
        self._found, self._numbers = found, numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def _at(self, place: int) -> Move:
        number = self._numbers[place]
        return _move(self._found, number, self._found.files[number])


def _move(found: Search, number: int, file_number: int) -> Move:
    image, file = found.images[number], found.seen.files[file_number]
    is_unchanged = (file.size_bytes, file.modified_ns) == (image.size_bytes, image.modified_ns)
    is_verified = image.content_hash is not None and found.seen.is_known(
        file_number, image.content_hash
    )
    return Move(image, file, found.ways[number], is_unchanged or is_verified, is_verified)


def relink(project: Project, plan: RelinkPlan, caches: CacheFolders) -> Change:
    """Apply a plan as one action; images that were changed or removed since are skipped.

    Content hashes at the new paths are added to the cache, so that unchanged files are not read
    again.

    Raises:
        StorageError: the disk is full or fails; nothing was changed.
        ProjectReadOnlyError: the project is open for reading only.
    """
    table = project.images.table()
    unmoved = array(
        "q", (place for place, move in enumerate(plan.moves) if _is_unmoved(table, move))
    )
    moves = (plan.moves[place] for place in unmoved)
    change = project.images.relink(
        ((move.image.image_id, move.file) for move in moves), strangers=plan.strangers
    )
    moves = (plan.moves[place] for place in unmoved)
    known = ((move.file, move.image.content_hash) for move in moves if move.is_same_content)
    files = ((file, content) for file, content in known if content is not None)
    with (
        suppress(ModelError, StorageError),
        open_cache(model_of(project, caches), caches) as cache,
    ):  # optional
        while some := list(islice(files, _REMEMBERED_AT_ONCE)):
            cache.remember_files([file for file, _ in some], [content for _, content in some])
    return change


def _is_unmoved(table: ImageTable, move: Move) -> bool:
    """Whether an image still exists with the path that it had in the plan."""
    row = bisect_left(table.ids, move.image.image_id)
    is_there = row < len(table.ids) and table.ids[row] == move.image.image_id
    return is_there and table.paths[row] == move.image.path


def nearby_folders(project: Path, missing: Iterable[str]) -> tuple[Path, ...]:
    """The project's folder, and other folders to search.

    These are folders below an ancestor of the project or on another drive in which the end of a
    missing path exists, as after both were moved; and siblings of a missing folder, as after it was
    renamed.
    """
    found: dict[Path, None] = {project: None}
    for path in _one_of_each_folder(missing):
        parts = [part for part in path.split("/") if part not in ("", ".")]
        for place in (*_below_ancestors(project, parts), *_renamed_folders(project, path)):
            found.setdefault(place)
    return tuple(place for place in found if not any(other in place.parents for other in found))


def _one_of_each_folder(missing: Iterable[str]) -> Iterator[str]:
    """A path of each folder, spread evenly if there are many."""
    folders = {path.rpartition("/")[0]: path for path in missing}
    paths = list(folders.values())
    step = max(1, len(paths) // _MOST_TRIED)
    yield from paths[::step][:_MOST_TRIED]


def _below_ancestors(project: Path, parts: Sequence[str]) -> Iterator[Path]:
    """Folders below an ancestor of the project or a drive that have the end of a path."""
    drives = [Path(f"{letter}:/") for letter in ascii_uppercase] if sys.platform == "win32" else []
    for root in (*project.parents, *drives):
        for start in range(len(parts) - 1):
            if not is_missing(root.joinpath(*parts[start:])):
                yield root / parts[start]
                break


def _renamed_folders(project: Path, path: str) -> Iterator[Path]:
    """Siblings of the first missing folder of a path in which the rest of it exists."""
    lost = project / path
    above = next((each for each in lost.parents if os.path.isdir(each)), None)  # noqa: PTH112
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
