"""Search for image files in folders, by names and sizes; damage is found by decoding.

Only of a file that is named by the user, and that may not match its suffix, the first bytes are
read.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TypeVar, final

from engine.errors import ImageError, StorageError, found_at, reason_of
from engine.events import CancelToken, OnProgress, Progress, ProgressMeter, ignore_progress
from engine.file_parts import FilePart
from engine.files import FileFailure, FoundFiles, NotRegularError, require_regular
from engine.images.kinds import IMAGE_SUFFIXES, RAW_SUFFIXES, LeftOut, unread_kind
from engine.images.read_file import not_a_file, read_file
from engine.images.readers import SNIFFED_BYTES, is_other_kind, not_an_image, unread_suffix
from engine.texts import Message

# stored by cameras next to RAW
_DEVELOPED_SUFFIXES = frozenset({".jpg", ".jpeg", ".heic", ".heif", ".hif"})
AnyPath = TypeVar("AnyPath", bound=PurePath)
_DIGITS = re.compile(r"(\d+)")
_HIDDEN_NAMES = frozenset({"thumbs.db", "desktop.ini", "__macosx", "$recycle.bin", "@eadir"})


@dataclass(frozen=True)
class ImageFolder:
    """The images that one folder holds itself."""

    root: Path  # the folder that was searched, absolute
    # of the folders from `root` down to this one; empty for `root`, and for a named file
    names: tuple[str, ...]
    files: FoundFiles = field(default_factory=FoundFiles)  # in natural order

    @property
    def path(self) -> Path:
        """The folder itself, absolute."""
        return self.root.joinpath(*self.names)


@dataclass
class FoundImages:
    """Results of a search; failures are unreadable, or named by the user but no images."""

    # with images, each before its sub-folders, sorted
    folders: list[ImageFolder] = field(default_factory=list)
    named: list[Path] = field(default_factory=list)  # files that were named themselves
    failures: list[FileFailure] = field(default_factory=list)
    left_out: LeftOut = field(default_factory=LeftOut)  # files of other kinds in folders
    # pages and frames of those files that have several, see `engine.images.find_parts`
    parts: dict[Path, Sequence[FilePart]] = field(default_factory=dict)

    @property
    def files(self) -> FoundFiles:
        """All images in order; one that was found twice counts once, where it was found first."""
        files, times = FoundFiles(), Counter(folder.path for folder in self.folders)
        names: dict[Path, set[str]] = {path: set() for path, count in times.items() if count > 1}
        for folder in self.folders:
            known = names.get(folder.path, set())
            files.extend(folder.files.without(known) if known else folder.files)
            known.update(folder.files.names)
        return files

    def class_folders(self) -> list[ImageFolder]:
        """The folders, each of which names a class; raises `StorageError` for a named file."""
        if self.named:
            raise StorageError(
                "class folders were expected", found="a file, {name}", name=self.named[0]
            )
        return self.folders


def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Order key that puts `image 9` before `image 10` and ignores case."""
    parts = _DIGITS.split(name.casefold())
    return tuple(
        (0, int(part), "") if index % 2 else (1, 0, part)
        for index, part in enumerate(parts)
        if part
    )


def find_images(
    paths: Sequence[Path],
    *,
    suffixes: frozenset[str] = IMAGE_SUFFIXES,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> FoundImages:
    """Find the image files among files and, recursively, in folders.

    In folders the suffix decides; of a photo that a camera stored as RAW and as JPEG, the JPEG is
    taken. A named file is taken whatever its suffix, unless its suffix or its first bytes are those
    of another kind, such as a text or a video: then it is a failure. Hidden files and folders are
    skipped, a link to a parent folder itself is not followed.

    Args:
        suffixes: of the files that are taken in folders, in lower case.

    Raises:
        StorageError: one of `paths` is not there, or cannot be accessed.
        Cancelled: stopped, before any file, since each may take long on a slow share.
    """
    search = _Search(ProgressMeter(0, on_progress), cancel or CancelToken(), suffixes=suffixes)
    for path in paths:
        search.add(_existing(path))
    found = search.found
    count = len(found.files)
    on_progress(Progress(count, count))
    return found


def each_image_folder(
    top: Path,
    found: FoundImages,
    *,
    suffixes: frozenset[str] = IMAGE_SUFFIXES,
    cancel: CancelToken | None = None,
) -> Iterator[ImageFolder]:
    """Walk a folder as `find_images` does, in memory that does not grow with its images.

    Args:
        found: takes failures and what was left out; its folders stay empty.
        suffixes: of the files that are taken, in lower case.

    Raises:
        StorageError: the folder is not there, or cannot be accessed.
        Cancelled: stopped, before any file.
    """
    search = _Search(ProgressMeter(0, ignore_progress), cancel or CancelToken(), found, suffixes)
    return search.walk(_existing(top))


@final
class _Search:
    def __init__(
        self,
        meter: ProgressMeter,
        cancel: CancelToken,
        found: FoundImages | None = None,
        suffixes: frozenset[str] = IMAGE_SUFFIXES,
    ) -> None:
        self.found = FoundImages() if found is None else found
        self._meter = meter
        self._cancel = cancel
        self._suffixes = suffixes

    def add(self, path: Path) -> None:
        self._go_on()
        if path.is_dir():
            self.found.folders.extend(self.walk(path))
            return
        self.found.named.append(path)
        if reason := _why_no_image(path, self._suffixes):
            self._fail(path, reason)
        else:
            self.found.folders.extend(self._with_files(ImageFolder(path.parent, ()), [path]))

    def walk(self, top: Path) -> Iterator[ImageFolder]:
        """Walk one folder: its files first, then its sub-folders, each in natural order.

        Folders may nest to any depth.


        A folder that is its own ancestor through a link is skipped; the stack has the real paths
        above each.
        """
        waiting: list[tuple[Path, frozenset[str]]] = [(top, frozenset())]
        while waiting:
            folder, above = waiting.pop()
            real = os.path.realpath(folder)
            if real in above:
                continue
            inner, images = self._sorted_out(folder)
            yield from self._with_files(ImageFolder(top, folder.relative_to(top).parts), images)
            waiting.extend((path, above | {real}) for path in reversed(inner))

    def _sorted_out(self, folder: Path) -> tuple[list[Path], list[Path]]:
        inner, images = [], []
        has_raw = False
        for entry in self._entries(folder):
            path = folder / entry.name
            if self._is_folder(entry):
                inner.append(path)
            elif (suffix := path.suffix.lower()) in self._suffixes:
                images.append(path)
                has_raw = has_raw or suffix in RAW_SUFFIXES
            else:
                self.found.left_out.add(path)
        photos = without_doubles(images) if has_raw else images
        self.found.left_out.raw_doubles += len(images) - len(photos)
        return inner, photos

    def _entries(self, folder: Path) -> list[os.DirEntry[str]]:
        """What is not hidden in a folder, in natural order; none of one that refuses."""
        entries = []
        try:
            with os.scandir(folder) as scan:
                for entry in scan:
                    self._go_on()
                    if (
                        not entry.name.startswith(".")
                        and entry.name.casefold() not in _HIDDEN_NAMES
                    ):
                        entries.append(entry)
        except OSError as error:
            self._fail(
                folder, Message("the folder cannot be read: {why}", {"why": reason_of(error)})
            )
            return []
        return sorted(entries, key=lambda entry: (natural_key(entry.name), entry.name))

    def _is_folder(self, entry: os.DirEntry[str]) -> bool:
        self._go_on()
        with suppress(OSError):
            return entry.is_dir()
        return False

    def _with_files(self, folder: ImageFolder, paths: Sequence[Path]) -> Iterator[ImageFolder]:
        """The folder with those of the files that can be read; nothing where there is none."""
        place = folder.path
        for path in paths:
            self._go_on()
            try:
                status = require_regular(path)
            except NotRegularError as error:
                self._fail(path, not_a_file(error).message)
            except OSError as error:
                self._fail(
                    path, Message("the file cannot be read: {why}", {"why": reason_of(error)})
                )
            else:
                folder.files.add(place, path.name, status.st_size, status.st_mtime_ns)
                self._meter.advance()
        if folder.files:
            yield folder

    def _go_on(self) -> None:
        self._cancel.raise_if_cancelled()
        self._meter.pulse()

    def _fail(self, path: Path, reason: str) -> None:
        self.found.failures.append(FileFailure(path, reason))


def _existing(path: Path) -> Path:
    absolute = Path(os.path.abspath(path))  # noqa: PTH100  # resolve() would follow links
    try:
        is_there = absolute.exists()
    except OSError as error:
        raise StorageError(
            "the file or folder cannot be accessed", found=found_at(path, error)
        ) from error
    if not is_there:
        raise StorageError(
            "the file or folder is not there",
            found=str(path),
            remedy="check the path or reconnect it",
        )
    return absolute


def _why_no_image(path: Path, suffixes: frozenset[str]) -> str:
    """Why a file that is named cannot be an image; empty where it may be one."""
    if path.suffix.lower() in suffixes:
        return ""
    try:
        start = read_file(path, SNIFFED_BYTES)
    except ImageError as error:
        return error.message
    if is_other_kind(start):
        return not_an_image(start).message
    return unread_suffix(kind).message if (kind := unread_kind(path)) else ""


def without_doubles(paths: Sequence[AnyPath]) -> list[AnyPath]:
    """Drop RAW photos with a JPEG of the same name: IMG_1.CR2 next to IMG_1.JPG."""
    developed = {
        path.stem.casefold() for path in paths if path.suffix.lower() in _DEVELOPED_SUFFIXES
    }
    return [
        path
        for path in paths
        if path.suffix.lower() not in RAW_SUFFIXES or path.stem.casefold() not in developed
    ]
