"""Reader of project archives: description, project only (for a merge), or everything.

An archive is untrusted: only the project and its photos are extracted, under safe names, and no
more bytes than declared.
"""

import os
import shutil
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, final

import numpy as np
from numpy.typing import DTypeLike, NDArray

from engine.archive.layout import (
    ABOUT,
    CONTENTS,
    EMBEDDINGS,
    MOST_EMBEDDINGS,
    ArchiveFacts,
    facts_from,
    folded,
    not_readable,
    portable_part,
)
from engine.collection.importing.data_set import imported_into
from engine.collection.models import model_of
from engine.config import ARCHIVE_SUFFIX, CacheFolders
from engine.errors import FormatError, ProtoleafError, StorageError, reason_of
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.files import FileFailure, open_regular
from engine.full_disk import disk_full, writing
from engine.images.kinds import IMAGE_SUFFIXES
from engine.images.media_kinds import DOCUMENT_SUFFIXES, VIDEO_SUFFIXES
from engine.images.read_file import HASH_BYTES
from engine.interchange.archives import BROKEN_ARCHIVE, checked_name, is_archive, opened_archive
from engine.new_file import ORDINARY_FILE, create_file
from engine.new_folder import new_folder, scratch_folder
from engine.project import Project
from engine.texts import Message, marked

MEDIA_SUFFIXES = IMAGE_SUFFIXES | DOCUMENT_SUFFIXES | VIDEO_SUFFIXES
"""Suffixes of files that are extracted, so that no executable is."""
MOST_RATIO = 250
"""Maximum compression ratio (ZIP bomb). Chosen: a project full of zeros has about 100."""
_SMALL_BYTES = 1 << 20  # size up to which the ratio is not checked
_LARGEST_ABOUT_BYTES = 100_000  # of the description; ours have some hundred
_PART_BYTES = 1 << 20  # chunk size. Chosen: little memory, and a quick cancel
_ENCRYPTED = 1  # a flag of ZIP entries


@dataclass(frozen=True)
class UnpackedProject:
    """Result of unpacking.

    Attributes:
        project: the project file.
        photos: number of extracted photos.
        missing: number of photos that are not in the archive.
        failures: damaged photos.
    """

    project: Path
    photos: int
    missing: int
    failures: tuple[FileFailure, ...] = ()


def is_project_archive(path: Path) -> bool:
    """Whether a file is a ZIP archive by its magic number."""
    try:
        with open_regular(path) as file:
            return is_archive(file)
    except OSError:
        return False


def archive_facts(path: Path) -> tuple[ArchiveFacts, int]:
    """Description and unpacked size of an archive.

    Raises:
        FormatError: it is not a project archive, or a dangerous one.
        StorageError: it cannot be read.
    """
    with _opened(path) as archive:
        return archive.facts, archive.size_bytes


@contextmanager
def project_in(path: Path) -> Iterator[Path]:
    """Extract the project file of an archive into a temporary folder.

    Raises:
        FormatError: it is not a project archive, or a dangerous one.
        StorageError: it cannot be read, or the disk is full.
    """
    with scratch_folder() as folder, _opened(path) as archive:
        target = folder / archive.facts.project
        with writing(target, "the project cannot be taken out of the copy"):
            _check_space(folder, archive.info(archive.facts.project).file_size)
            archive.extract(archive.facts.project, target, CancelToken())
        yield target


def unpack_project(
    path: Path,
    folder: Path,
    caches: CacheFolders,
    *,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> UnpackedProject:
    """Unpack a project and its photos into a new folder, atomically; skip damaged photos.

    Raises:
        FormatError: it is not a project archive, or a dangerous one.
        ProjectDamagedError, ProjectTooNewError: the project cannot be read.
        InputError: the folder is not empty.
        StorageError: it cannot be read, or the disk is full or fails.
        Cancelled: `cancel` was set; nothing is left.
    """
    cancel = cancel or CancelToken()
    with _opened(path) as archive, new_folder(folder) as draft:
        _check_space(draft, archive.size_bytes)
        project = archive.facts.project
        with writing(folder, "the copy cannot be unpacked", "choose another place"):
            archive.extract(project, draft / project, cancel)
            with Project.open(draft / project, for_writing=False) as opened:
                photos = _Photos(archive, draft, cancel)
                photos.extract(opened, on_progress)
                _import_embeddings(archive, opened, caches)
            cancel.raise_if_cancelled()
    return UnpackedProject(folder / project, photos.count, photos.missing, tuple(photos.failures))


def free_folder(archive: Path) -> Path:
    """Path of a new folder next to an archive, with its name."""
    number, folder = 1, archive.with_name(archive.name.removesuffix(ARCHIVE_SUFFIX))
    stem = folder.name
    while os.path.lexists(folder):
        number += 1
        folder = folder.with_name(f"{stem} ({number})")
    return folder


def _check_space(folder: Path, needed_bytes: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed_bytes:
        raise disk_full(folder, needed_bytes=needed_bytes, free_bytes=free)


@contextmanager
def _opened(path: Path) -> Iterator["_Archive"]:
    """Open and validate an archive."""
    if not path.exists():
        raise StorageError('there is no "{path}"', remedy="check the path", path=path)
    try:
        with opened_archive(path) as archive:
            yield _Archive(archive, path.name)
    except BROKEN_ARCHIVE as error:
        raise not_readable(path.name, reason_of(error)) from error
    except OSError as error:
        raise StorageError(
            "{path} cannot be read", found=reason_of(error), remedy="check the path", path=path
        ) from error


@final
class _Archive:
    """An open archive with validated entries."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._archive = archive
        self.name = name
        self.files: dict[str, zipfile.ZipInfo] = {}
        for info in archive.infolist():
            self._check(info)
            if not info.is_dir():
                self.files[info.filename] = info
        self.size_bytes = sum(info.file_size for info in self.files.values())
        self.facts = self._facts()

    def _check(self, info: zipfile.ZipInfo) -> None:
        checked_name(info.filename, self.name)
        if info.filename in self.files:
            raise self._refused(marked("it has two files of one name"), info)
        if stat.S_ISLNK(info.external_attr >> 16):
            raise self._refused(marked("it has a link to another file"), info)
        if info.flag_bits & _ENCRYPTED:
            raise self._refused(marked("it is encrypted"), info)
        if info.file_size > _SMALL_BYTES and info.file_size > MOST_RATIO * info.compress_size:
            raise self._refused(marked("a small file in it would become a very large one"), info)

    def _refused(self, reason: str, info: zipfile.ZipInfo) -> FormatError:
        return not_readable(
            self.name,
            Message("{reason} ({file})", {"reason": Message(reason), "file": info.filename}),
        )

    def _facts(self) -> ArchiveFacts:
        about = self.files.get(ABOUT)
        if about is None or about.file_size > _LARGEST_ABOUT_BYTES:
            raise not_readable(self.name)
        facts = facts_from(self._archive.read(about), self.name)
        if facts.project not in self.files:
            raise not_readable(self.name, marked("there is no project in it"))
        return facts

    def info(self, name: str) -> zipfile.ZipInfo:
        return self.files[name]

    def open(self, name: str) -> IO[bytes]:
        return self._archive.open(self.files[name])

    def extract(self, name: str, target: Path, cancel: CancelToken) -> None:
        """Extract an entry; raises one of `BROKEN_ARCHIVE` on a checksum mismatch."""
        with self.open(name) as source, create_file(target, mode=ORDINARY_FILE) as file:
            while part := source.read(_PART_BYTES):
                cancel.raise_if_cancelled()
                file.write(part)


@final
class _Photos:
    """Extracts the photos of a project."""

    def __init__(self, archive: _Archive, draft: Path, cancel: CancelToken) -> None:
        self.count = self.missing = 0
        self.failures: list[FileFailure] = []
        self._archive, self._draft, self._cancel = archive, draft, cancel

    def extract(self, project: Project, on_progress: OnProgress) -> None:
        table = project.images.table()
        times = dict(zip(table.paths, table.modified_ns, strict=True))
        meter = ProgressMeter(len(times), on_progress)
        for path, modified_ns in times.items():
            self._cancel.raise_if_cancelled()
            self._extract_one(path, modified_ns)
            meter.advance()

    def _extract_one(self, path: str, modified_ns: int) -> None:
        if not self._may_be_photo(path) or path not in self._archive.files:
            self.missing += 1
            return
        target = self._draft / path
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._archive.extract(path, target, self._cancel)
        except (*BROKEN_ARCHIVE, FileExistsError) as error:
            if not isinstance(error, FileExistsError):
                target.unlink(missing_ok=True)
            self.failures.append(FileFailure(Path(path), reason_of(error)))
            return
        with suppress(OSError, OverflowError):
            os.utime(target, ns=(modified_ns, modified_ns))  # so that the file counts as unchanged
        self.count += 1

    def _may_be_photo(self, path: str) -> bool:
        """Whether a path is portable, has an allowed suffix, and is not a file of the project."""
        is_portable = "/".join(map(portable_part, path.split("/"))) == path
        project = folded(self._archive.facts.project)
        is_of_project = folded(path) == project or folded(path).startswith(f"{project}-")
        return (
            is_portable
            and not is_of_project
            and PurePosixPath(path).suffix.casefold() in MEDIA_SUFFIXES
        )


def _import_embeddings(archive: _Archive, project: Project, caches: CacheFolders) -> None:
    """Import the embeddings for this project only; if it fails, they are computed again."""
    with suppress(ProtoleafError, ValueError, *BROKEN_ARCHIVE):
        model = model_of(project, caches)
        if archive.facts.embedding != model.embedding_identity:
            return
        hashes = _rows(archive, CONTENTS, np.uint8, HASH_BYTES)
        vectors = _rows(archive, EMBEDDINGS, np.dtype("<f2"), model.card.embedding_width)
        if len(hashes) == len(vectors) and np.isfinite(vectors).all():
            with imported_into(project, model, caches) as store:
                store.put_many([each.tobytes() for each in hashes], vectors)


def _rows(archive: _Archive, name: str, kind: DTypeLike, width: int) -> NDArray[Any]:
    """An array (n, width) of the archive; ValueError if it is missing or too large."""
    found = np.dtype(kind)
    info = archive.files.get(name)
    if info is None or info.file_size > MOST_EMBEDDINGS * width * found.itemsize:
        raise ValueError(name)
    with archive.open(name) as file:
        return np.frombuffer(file.read(), dtype=found).reshape(-1, width)
