"""Find the images of a source in ImageNet's layout, in a folder or a zip archive.

Known layouts are ILSVRC-12 (`train/<id>/*.JPEG`), Tiny ImageNet (`train/<id>/images/*.JPEG` or
without `images`, and `val/<id>/`) and a folder that holds the `<id>` folders directly, each also
below further folders. All splits that have class folders are used together; images outside of class
folders (the unlabelled `val` and `test`) are not.
"""

import re
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import final

import numpy as np
from numpy.typing import NDArray

from engine.errors import ImageError, InputError, StorageError
from engine.images.find_images import find_images
from engine.images.kinds import IMAGE_SUFFIXES
from engine.images.read_file import read_file

CLASS_ID = re.compile(r"n\d{8}")
SPLITS = frozenset({"train", "val"})
_LAYOUT = "folders named by WordNet id with images, such as train/n01443537/*.JPEG"


class DataSetImages(ABC):
    """Images in class folders.

    Args:
        paths: paths of images, those outside of class folders included.

    Attributes:
        folders: ids of the class folders, sorted.
        names: of the images, sorted: the path from the split on ("train/n01443537/a.JPEG"). They
            are the same for a folder and for an archive of it.
        folder_positions: (n,) int64, position in `folders` of each image.

    Raises:
        InputError: no image is in a class folder.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        found = sorted((name, path) for path in paths if (name := _name_in_source(path)))
        if not found:
            raise InputError(
                "the source is not in ImageNet's layout",
                expected=_LAYOUT,
                found="no image in such a folder",
                remedy="choose the folder, or the zip archive, that holds the class folders",
            )
        self.names = tuple(name for name, _ in found)
        self._paths = tuple(path for _, path in found)
        keys = [_class_id(PurePosixPath(name).parts) for name in self.names]
        self.folders = tuple(sorted(set(keys)))
        place = {key: position for position, key in enumerate(self.folders)}
        self.folder_positions: NDArray[np.int64] = np.array(
            [place[key] for key in keys], dtype=np.int64
        )

    @property
    def images_per_folder(self) -> float:
        """Mean number of images in a class folder."""
        return len(self.names) / len(self.folders)

    def read(self, position: int) -> bytes:
        """Read the file of an image. Thread-safe.

        Args:
            position: in `names`.

        Raises:
            ImageError: it cannot be read.
        """
        return self._read(self._paths[position])

    @abstractmethod
    def _read(self, path: str) -> bytes: ...


@contextmanager
def open_source(path: Path) -> Iterator[DataSetImages]:
    """Open a folder or a zip archive.

    Args:
        path: of the folder or the archive.

    Yields:
        Its images; readable until the context ends.

    Raises:
        StorageError: it is not there or cannot be read.
        InputError: it is neither a folder nor a zip archive, or not in ImageNet's layout.
    """
    if not path.is_file():
        yield _FolderSource(path)
        return
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise InputError(
            "the source is not in ImageNet's layout",
            expected="a folder or a zip archive",
            found=f'the file "{path.name}"',
            remedy="unpack it first, then choose the folder",
        ) from error
    except OSError as error:
        raise StorageError(
            f'"{path}" cannot be read', found=error.strerror or str(error)
        ) from error
    with archive:
        yield _ArchiveSource(archive)


@final
class _FolderSource(DataSetImages):
    def __init__(self, root: Path) -> None:
        self._root = root
        found = find_images([root])
        if found.failures:
            raise StorageError(
                "a part of the source cannot be read",
                found=f"{found.failures[0].path}, {found.failures[0].reason}",
                remedy="without it the data set would be another one; make it readable",
            )
        folders = found.class_folders()
        super().__init__(
            "/".join((*folder.names, file.path.name)) for folder in folders for file in folder.files
        )

    def _read(self, path: str) -> bytes:
        return read_file(self._root / path)


@final
class _ArchiveSource(DataSetImages):
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        super().__init__(name for name in archive.namelist() if _is_image(PurePosixPath(name)))

    def _read(self, path: str) -> bytes:
        try:
            return self._archive.read(path)
        except (
            OSError,
            zipfile.BadZipFile,
            zipfile.LargeZipFile,
            EOFError,
            ValueError,
            RuntimeError,
        ) as error:
            raise ImageError(
                "the image cannot be read from the archive", found=str(error)
            ) from error


def _is_image(path: PurePosixPath) -> bool:
    hidden = any(part.startswith(".") or part == "__MACOSX" for part in path.parts)
    return not hidden and path.suffix.lower() in IMAGE_SUFFIXES


def _class_id(parts: tuple[str, ...]) -> str:
    """The innermost folder named by an id, or an empty string; the last part is the file."""
    return next((part for part in reversed(parts[:-1]) if CLASS_ID.fullmatch(part)), "")


def _name_in_source(path: str) -> str:
    parts = PurePosixPath(path).parts
    key = _class_id(parts)
    if not key:
        return ""
    start = parts.index(key)
    return "/".join(parts[start - 1 :] if start and parts[start - 1] in SPLITS else parts[start:])
