"""Writer of project archives: project, photos or reduced ones, and embeddings."""

import os
import shutil
import zipfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from engine import __version__
from engine.archive.adapted_copy import adapt_copy
from engine.archive.archived_files import ArchivedFile, ReducedFile, archived_files, reduced_file
from engine.archive.layout import (
    ABOUT,
    CONTENTS,
    EMBEDDINGS,
    MOST_EMBEDDINGS,
    ArchiveFacts,
    portable_part,
)
from engine.collection.embed import open_cache
from engine.collection.models import model_of
from engine.collection.outputs import ARCHIVE, check_file
from engine.config import PROJECT_SUFFIX, CacheFolders
from engine.errors import ModelError, StorageError, found_at
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.file_parts import file_part
from engine.files import FileFailure, open_regular
from engine.full_disk import disk_full, writing
from engine.images.read_file import HASH_BYTES
from engine.images.reduced_photo import REDUCED_SIDE
from engine.interchange.archives import entry
from engine.new_file import clear_abandoned_drafts, output_file
from engine.new_folder import HIDDEN_PREFIX, ScratchFolder
from engine.ordered_pool import in_order
from engine.project import Project
from engine.project.clock import ANONYMOUS, now_text, person_name

REDUCED_BYTES = 150_000  # estimated size of a reduced photo
REDUCED_SHARE = 0.7  # estimated size of a small photo, of its original
_PART_BYTES = 1 << 20  # chunk size. Chosen: little memory, and a quick cancel
_THREADS = max(1, min(8, os.cpu_count() or 1))  # that reduce photos. Chosen: the disk limits

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class WrittenArchive:
    """Result of packing.

    Attributes:
        files: number of photos, with reduced ones.
        reduced: number of reduced photos.
        missing: number of photos whose files do not exist.
        size_bytes: of the archive.
        failures: photos that cannot be read.
    """

    files: int
    reduced: int
    missing: int
    size_bytes: int
    failures: tuple[FileFailure, ...] = ()


def archive_bytes(project: Project, *, is_reduced: bool) -> int:
    """Estimated size of an archive."""
    table = project.images.table()
    sizes = dict(zip(table.paths, zip(table.sizes_bytes, table.parts, strict=True), strict=True))
    photos = (
        min(int(size * REDUCED_SHARE), REDUCED_BYTES)
        if is_reduced and not file_part(part).picture.text
        else size
        for size, part in sizes.values()
    )
    return sum(photos) + project.path.stat().st_size


def pack_project(
    project: Project,
    caches: CacheFolders,
    out: Path,
    *,
    is_reduced: bool = False,
    is_overwriting: bool = False,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> WrittenArchive:
    """Write a project and its photos into one file, atomically.

    Args:
        is_reduced: photos become JPEGs of `REDUCED_SIDE` pixels; videos and documents are not
            changed.
        is_overwriting: also replace a file that is not an earlier archive.

    Raises:
        TakenError, InputError: see `check_file`.
        StorageError: the disk is full or fails.
        Cancelled: `cancel` was set; nothing is left.
    """
    check_file(out, ARCHIVE, project=project, is_overwriting=is_overwriting)
    folder = out.absolute().parent
    with writing(out, "the copy cannot be written", "choose another place"):
        _check_space(out, project, is_reduced=is_reduced)
        clear_abandoned_drafts(folder)
        with closing(
            _Packing(project, caches, folder, cancel or CancelToken(), is_reduced=is_reduced)
        ) as packing:
            with output_file(out) as file:
                packing.write(file, on_progress)
                # a file may have been created meanwhile
                check_file(out, ARCHIVE, project=project, is_overwriting=is_overwriting)
            return packing.written(out.stat().st_size)


def _check_space(out: Path, project: Project, *, is_reduced: bool) -> None:
    # with a temporary copy of the project
    needed = archive_bytes(project, is_reduced=is_reduced) + project.path.stat().st_size
    free = shutil.disk_usage(out.absolute().parent).free
    if free < needed:
        raise disk_full(out, needed_bytes=needed, free_bytes=free)


class _Packing:
    """State of packing one archive."""

    def __init__(
        self,
        project: Project,
        caches: CacheFolders,
        folder: Path,
        cancel: CancelToken,
        *,
        is_reduced: bool,
    ) -> None:
        self._project = project
        self._caches = caches
        self._cancel = cancel
        self._is_reduced = is_reduced
        self._scratch = ScratchFolder(folder, prefix=HIDDEN_PREFIX)
        self._name = portable_part(project.path.stem) + PROJECT_SUFFIX
        self._count = self._missing = 0
        self._failures: list[FileFailure] = []
        self._reduced: list[tuple[ReducedFile, int]] = []  # without their data, with its size

    def close(self) -> None:
        self._scratch.remove()

    def written(self, size_bytes: int) -> WrittenArchive:
        """The result."""
        return WrittenArchive(
            self._count, len(self._reduced), self._missing, size_bytes, tuple(self._failures)
        )

    def write(self, out: IO[bytes], on_progress: OnProgress) -> None:
        """Write all entries; photos come first, since the copy of the project has their sizes."""
        copy = self._scratch.path / self._name
        self._project.backups.copy_to(copy, cancel=self._cancel)
        files = archived_files(self._project, self._name)
        identity, arrays = self._embedded()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(entry(ABOUT, zipfile.ZIP_STORED), self._facts(identity).encoded())
            self._add_photos(archive, files, ProgressMeter(len(files), on_progress))
            adapt_copy(copy, files, self._reduced)
            with open_regular(copy) as source:
                self._add(archive, entry(self._name), source)
            for name, values in arrays.items():
                archive.writestr(entry(name, zipfile.ZIP_STORED), values.tobytes())

    def _facts(self, embedding: str) -> ArchiveFacts:
        return ArchiveFacts(
            self._name,
            self._project.images.count,
            REDUCED_SIDE if self._is_reduced else 0,
            _signature(),
            now_text(),
            f"Protoleaf {__version__}",
            embedding,
        )

    def _embedded(self) -> tuple[str, Arrays]:
        """Identity of the embeddings, their content hashes and values; "" without any."""
        if self._project.images.count > MOST_EMBEDDINGS:
            return "", {}
        try:
            model = model_of(self._project, self._caches)
        except ModelError:
            return "", {}
        contents = list(dict.fromkeys(self._project.images.table().contents()))
        keys = [key for key in contents if key is not None and len(key) == HASH_BYTES]
        with open_cache(model, self._caches, self._project) as cache:
            vectors, is_found = cache.get_many(keys)
        if not is_found.any():
            return "", {}
        hashes = np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(-1, HASH_BYTES)
        return model.embedding_identity, {
            CONTENTS: hashes[is_found],
            EMBEDDINGS: vectors[is_found].astype("<f2"),
        }

    # -- photos

    def _add_photos(
        self, archive: zipfile.ZipFile, files: list[ArchivedFile], meter: ProgressMeter
    ) -> None:
        with ThreadPoolExecutor(_THREADS) as pool:
            work = reduced_file if self._is_reduced else ReducedFile
            for made in in_order(pool, work, files, ahead=2 * _THREADS):
                self._cancel.raise_if_cancelled()
                self._add_photo(archive, made)
                meter.advance()

    def _add_photo(self, archive: zipfile.ZipFile, made: ReducedFile) -> None:
        file = made.file
        if made.failure is not None:
            self._failures.append(made.failure)
        elif made.data:
            archive.writestr(entry(file.name, zipfile.ZIP_STORED), made.data)
            self._reduced.append((replace(made, data=b""), len(made.data)))
            self._count += 1
        elif not file.source.exists():
            self._missing += 1
        else:
            self._add_whole(archive, file)

    def _add_whole(self, archive: zipfile.ZipFile, file: ArchivedFile) -> None:
        try:
            source = open_regular(file.source)
        except OSError as error:
            self._failures.append(FileFailure(file.source, str(error.strerror or error)))
            return
        with source:
            self._add(archive, entry(file.name, zipfile.ZIP_STORED), source)
        self._count += 1

    def _add(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo, source: IO[bytes]) -> None:
        with archive.open(info, "w", force_zip64=True) as target:
            while part := _read_part(source):
                self._cancel.raise_if_cancelled()
                target.write(part)


def _signature() -> str:
    """The user's name, or ""."""
    name = person_name()
    return "" if name == ANONYMOUS else name


def _read_part(source: IO[bytes]) -> bytes:
    try:
        return source.read(_PART_BYTES)
    except OSError as error:
        raise StorageError("a photo cannot be read", found=found_at(source.name, error)) from error
