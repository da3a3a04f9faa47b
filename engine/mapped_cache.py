"""Memory-mapped cache files of named numpy arrays, which may be deleted at any time.

A file has a magic number, a checksum of all that follows it, a JSON header with the type and shape
of each array, and the arrays. Each write takes another file name, because Windows does not replace
a file that is mapped. A file is written completely or not at all.
"""

import contextlib
import errno
import json
import logging
import mmap
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, final

import numpy as np
from blake3 import blake3
from numpy.typing import NDArray

from engine.new_file import clear_abandoned_drafts, new_file, private_folder

_MAGIC = b"protoleaf arrays"
_CHECKSUM_BYTES = 32
_HEADER_START = len(_MAGIC) + _CHECKSUM_BYTES + 8
_LONGEST_HEADER = 10_000  # bytes
_ALIGNMENT = 64  # bytes
_MOST_FILES = 1000  # of one name
_FILE_NAME = re.compile(r"[0-9a-f]{32}-\d{3}")  # without suffix
_STAT_BLOCK_BYTES = 512  # unit of `st_blocks`
_log = logging.getLogger(__name__)

Arrays = dict[str, NDArray[Any]]


class _StaleError(Exception):
    """The arrays changed while they were written."""


@dataclass(frozen=True)
class MappedArrays:
    """The content of a file; the last array comes with its spare rows."""

    path: Path
    arrays: Arrays
    checksum: bytes


@final
class MappedCache:
    """The file of one name and kind, among those of the same kind.

    Args:
        folder: of all files.
        name: of any length and with any characters.
        suffix: of the files of this kind.
        limit_bytes: total size of this kind above which the least recently used files are evicted.
        copy_on_write: whether mapped arrays can be written to; the changes stay in memory.
    """

    def __init__(
        self, folder: Path, name: str, suffix: str, limit_bytes: int, *, copy_on_write: bool = False
    ) -> None:
        self.folder, self._suffix, self._limit_bytes = folder, suffix, limit_bytes
        self._stem = blake3(name.encode("utf-8", "surrogateescape")).digest(length=16).hex()
        self._access = mmap.ACCESS_COPY if copy_on_write else mmap.ACCESS_READ

    def read(self) -> MappedArrays | None:
        """Map the newest file and mark it as used; None where there is none, or a damaged one."""
        path = max(self._own(), key=lambda each: (_used_ns(each), each.name), default=None)
        if path is None:
            return None
        with contextlib.suppress(OSError):  # the folder may be read-only
            os.utime(path)
        try:
            return _mapped(path, self._access)
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            _log.info("the cache file %s cannot be used: %s", path.name, error)
            return None

    def write(
        self, arrays: Arrays, *, spare_rows: int = 0, is_current: Callable[[], bool] = lambda: True
    ) -> bool:
        """Write arrays in place of the newest file; returns whether the disk had room and no error.

        Args:
            arrays: may change while they are written.
            spare_rows: of zeros after the last array; they take no disk space.
            is_current: whether the arrays did not change; else the file is discarded.
        """
        try:
            self.put(arrays, spare_rows=spare_rows, is_current=is_current)
        except _StaleError:
            _log.info("%s changed while it was written, and is not kept", self._suffix)
            return False
        except OSError as error:
            _log.info("%s cannot be kept: %s", self._suffix, error)
            return False
        return True

    def put(
        self, arrays: Arrays, *, spare_rows: int = 0, is_current: Callable[[], bool] = lambda: True
    ) -> None:
        """Write arrays as `write` does; raises `OSError` where the disk has no room, or fails."""
        clear_abandoned_drafts(private_folder(self.folder))
        size_bytes = sum(array.nbytes for array in arrays.values())
        if shutil.disk_usage(self.folder).free < 2 * size_bytes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        path = self._unused_path()
        with new_file(path, replace=True, durable=False) as draft:
            _write(draft.file, arrays, spare_rows)
            if not is_current():
                raise _StaleError
        for other in self._own():
            if other != path:
                _delete(other)
        self._evict()

    def _unused_path(self) -> Path:
        names = (f"{self._stem}-{number:03d}{self._suffix}" for number in range(_MOST_FILES))
        return next(self.folder / name for name in names if not os.path.lexists(self.folder / name))

    def _own(self) -> list[Path]:
        return [path for path in self._of_kind() if path.name.startswith(f"{self._stem}-")]

    def _of_kind(self) -> list[Path]:
        """The cache files of this kind, without other files of its suffix and symbolic links."""
        return [
            path
            for path in self.folder.glob(f"*{self._suffix}")
            if _FILE_NAME.fullmatch(path.name.removesuffix(self._suffix)) and not path.is_symlink()
        ]

    def _evict(self) -> None:
        total_bytes = 0
        for path in sorted(self._of_kind(), key=_used_ns, reverse=True):
            total_bytes += _disk_bytes(path.stat())
            if total_bytes > self._limit_bytes:
                _delete(path)


def _write(file: BinaryIO, arrays: Arrays, spare_rows: int) -> None:
    columns = [(name, array.dtype.str, array.shape, array.nbytes) for name, array in arrays.items()]
    header = json.dumps({"columns": columns, "spare_rows": spare_rows}).encode()
    hasher = blake3(header, max_threads=blake3.AUTO)
    end = _HEADER_START + len(header)
    for array in arrays.values():
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
        hasher.update(data)
        file.seek(_aligned(end))
        file.write(data)
        end = _aligned(end) + len(data)
        row_bytes = array[:1].nbytes
    file.truncate(end + spare_rows * row_bytes)
    file.seek(0)
    file.write(_MAGIC + hasher.digest() + len(header).to_bytes(8, "little") + header)


def _mapped(path: Path, access: int) -> MappedArrays:
    """Map a file; raises one of several errors where it is damaged or of another kind."""
    with path.open("rb") as file:
        whole = memoryview(mmap.mmap(file.fileno(), 0, access=access))
    if bytes(whole[: len(_MAGIC)]) != _MAGIC:
        raise ValueError("it has a bad magic number")
    checksum = bytes(whole[len(_MAGIC) : len(_MAGIC) + _CHECKSUM_BYTES])
    header_bytes = int.from_bytes(whole[_HEADER_START - 8 : _HEADER_START], "little")
    end = _HEADER_START + min(header_bytes, _LONGEST_HEADER)
    header = bytes(whole[_HEADER_START:end])
    found = json.loads(header)
    hasher = blake3(header, max_threads=blake3.AUTO)
    starts = []
    for *_column, size_bytes in found["columns"]:
        starts.append(_aligned(end))
        end = starts[-1] + size_bytes
        hasher.update(whole[starts[-1] : end])
    if hasher.digest() != checksum:
        raise ValueError("its checksum does not match")
    arrays = {
        name: np.ndarray(shape, type_name, whole, start)
        for (name, type_name, shape, _size_bytes), start in zip(
            found["columns"], starts, strict=True
        )
    }
    name, last = arrays.popitem()
    rows, *row_shape = last.shape
    arrays[name] = np.ndarray(
        (rows + found["spare_rows"], *row_shape), last.dtype, whole, starts[-1]
    )
    if starts[-1] + arrays[name].nbytes != len(whole):
        raise ValueError("its size does not match")
    return MappedArrays(path, arrays, checksum)


def _aligned(position: int) -> int:
    return -(-position // _ALIGNMENT) * _ALIGNMENT


def _used_ns(path: Path) -> int:
    """When a file was last used; 0 for one that another process has just deleted."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _disk_bytes(status: os.stat_result) -> int:
    """Space that a file takes, without the unwritten part where the system tells."""
    if hasattr(status, "st_blocks"):
        return status.st_blocks * _STAT_BLOCK_BYTES
    return status.st_size


def _delete(path: Path) -> None:
    with contextlib.suppress(OSError):  # Windows refuses while it is mapped
        path.unlink()
