"""Finds image files in folders. Reads names and sizes; whether a file is sound shows when it is decoded.

Only of a file that a person names, and that may be something else than its suffix says, the first bytes are read.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from engine.errors import ImageError, StorageError
from engine.events import OnProgress, Progress, ProgressMeter, ignore_progress
from engine.files import FileFailure, FoundFile
from engine.images.left_out import LeftOut, unread_kind
from engine.images.read_file import read_start
from engine.images.unreadable import SNIFFED_BYTES, is_other_kind, not_an_image, unread_suffix

IMAGE_SUFFIXES: Final = frozenset(
    {
        *(".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".apng", ".gif", ".bmp", ".dib", ".tif", ".tiff", ".webp"),
        *(".avif", ".ppm", ".pgm", ".pbm", ".pnm", ".jp2", ".j2k"),
    }
)
_DIGITS: Final = re.compile(r"(\d+)")
_MAY_BE_RAW: Final = frozenset({".tif", ".tiff"})
_HIDDEN_NAMES: Final = frozenset({"thumbs.db", "desktop.ini", "__macosx", "$recycle.bin", "@eadir"})


@dataclass
class FoundImages:
    """Image files in natural order, what could not be looked at, and files of folders that are no images."""

    files: list[FoundFile] = field(default_factory=list)
    failures: list[FileFailure] = field(default_factory=list)
    left_out: LeftOut = field(default_factory=LeftOut)


def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Order key that puts `image 9` before `image 10` and ignores case."""
    parts = _DIGITS.split(name.casefold())
    return tuple((0, int(part), "") if index % 2 else (1, 0, part) for index, part in enumerate(parts) if part)


def find_images(paths: Sequence[Path], *, on_progress: OnProgress = ignore_progress) -> FoundImages:
    """Find the image files among files and, recursively, in folders.

    In folders the suffix decides. A file that is named is taken whatever its suffix, unless its suffix or its first
    bytes are those of something else, such as a text or a RAW photo: then it is a failure. Hidden files and folders
    are skipped, a link to a folder above itself is not followed, a file that is found twice counts once.

    Args:
        paths: files and folders.
        on_progress: is told how many files were found so far.

    Returns:
        Files with absolute paths, in natural order within each of `paths`; folders that refused, and named files that
        are no images, are failures; files of other kinds in folders are counted.

    Raises:
        StorageError: one of `paths` is not there, or cannot be looked at.
    """
    meter = ProgressMeter(0, on_progress, unit="files")
    found = FoundImages()
    seen: set[Path] = set()
    for path in paths:
        for entry in _files_at(_existing(path), found):
            if entry.path not in seen:
                seen.add(entry.path)
                found.files.append(entry)
                meter.advance()
    on_progress(Progress(len(found.files), len(found.files), "files"))
    return found


def find_images_in_class_folders(
    root: Path, *, failures: list[FileFailure] | None = None, left_out: LeftOut | None = None
) -> list[tuple[tuple[str, ...], list[FoundFile]]]:
    """Find images below a folder whose sub-folders are classes.

    Args:
        root: the folder; its own name is no class.
        failures: gets the folders and files that refused.
        left_out: counts the files of other kinds.

    Returns:
        For each folder that holds images itself: its folder names below `root` (empty for `root`), and its images,
        in natural order.

    Raises:
        StorageError: `root` is not there or is no folder.
    """
    top = _existing(root)
    if not top.is_dir():
        raise StorageError("class folders were expected", found=f"a file, {root}")
    groups: dict[tuple[str, ...], list[FoundFile]] = {}
    found = FoundImages(failures=[] if failures is None else failures, left_out=left_out or LeftOut())
    for file in _files_at(top, found):
        groups.setdefault(file.path.relative_to(top).parts[:-1], []).append(file)
    return list(groups.items())


def _existing(path: Path) -> Path:
    absolute = Path(os.path.abspath(path))  # noqa: PTH100  # resolve() would replace links by what they point at
    try:
        is_there = absolute.exists()
    except OSError as error:
        raise StorageError("the file or folder cannot be looked at", found=f"{path}: {error.strerror}") from error
    if not is_there:
        raise StorageError("the file or folder is not there", found=str(path), remedy="check the path or reconnect it")
    return absolute


def _files_at(path: Path, found: FoundImages) -> Iterator[FoundFile]:
    if path.is_dir():
        yield from _files_below(path, found)
    elif reason := _why_no_image(path):
        found.failures.append(FileFailure(path, reason))
    else:
        yield from _described(path, found.failures)


def _files_below(top: Path, found: FoundImages) -> Iterator[FoundFile]:
    """Walk one folder: its files first, then its sub-folders, each in natural order; folders may nest to any depth.

    A folder that is its own ancestor by way of a link is left out; with each folder wait the real paths above it.
    """
    waiting: list[tuple[Path, frozenset[str]]] = [(top, frozenset())]
    while waiting:
        folder, above = waiting.pop()
        real = os.path.realpath(folder)
        if real in above:
            continue
        folders = []
        for entry in _entries(folder, found.failures):
            path = folder / entry.name
            if _is_folder(entry):
                folders.append(path)
            elif path.suffix.lower() in IMAGE_SUFFIXES:
                yield from _described(path, found.failures)
            else:
                found.left_out.add(path)
        waiting.extend((path, above | {real}) for path in reversed(folders))


def _entries(folder: Path, failures: list[FileFailure]) -> list[os.DirEntry[str]]:
    """What is not hidden in a folder, in natural order; none of one that refuses."""
    try:
        with os.scandir(folder) as scan:
            return sorted((entry for entry in scan if not _is_hidden(entry.name)), key=_entry_key)
    except OSError as error:
        failures.append(FileFailure(folder, f"the folder cannot be read: {error.strerror}"))
        return []


def _why_no_image(path: Path) -> str:
    """Why a file that is named cannot be an image; empty where it may be one."""
    suffix = path.suffix.lower()
    if suffix in IMAGE_SUFFIXES - _MAY_BE_RAW:
        return ""
    try:
        start = read_start(path, SNIFFED_BYTES)
    except ImageError as error:
        return "" if suffix in _MAY_BE_RAW else str(error)  # like every image, it is listed when its turn comes
    if is_other_kind(start):
        return str(not_an_image(start))
    return str(unread_suffix(kind)) if (kind := unread_kind(path)) else ""


def _described(path: Path, failures: list[FileFailure]) -> Iterator[FoundFile]:
    try:
        status = path.stat()
    except OSError as error:
        failures.append(FileFailure(path, f"the file cannot be read: {error.strerror}"))
        return
    yield FoundFile(path, status.st_size, status.st_mtime_ns)


def _entry_key(entry: os.DirEntry[str]) -> tuple[tuple[tuple[int, int, str], ...], str]:
    return natural_key(entry.name), entry.name


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or name.casefold() in _HIDDEN_NAMES


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
