"""Reads image files: their bytes once for hashing and decoding; memory budget."""

import ctypes
import errno
import hashlib
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import final

from blake3 import blake3

from engine.errors import ImageError, ImageMissingError, ImageUnreachableError, reason_of
from engine.files import NotRegularError, open_regular

MAX_FILE_BYTES = 2 * 1024**3
"""Larger files are refused: a file is held in memory as a whole (decision 110). Chosen."""
_GONE = frozenset(
    getattr(errno, name)
    for name in (
        *(
            "ENOENT",
            "ENOTDIR",
            "ENODEV",
            "ENXIO",
            "ESTALE",
            "ENOTCONN",
            "EHOSTDOWN",
            "EHOSTUNREACH",
            "ENETDOWN",
        ),
        *(
            "ENETUNREACH",
            "ETIMEDOUT",
            "ECONNABORTED",
            "ECONNRESET",
            "ENOLINK",
            "EREMOTEIO",
            "ENOMEDIUM",
        ),
    )
    if hasattr(errno, name)
)
"""Errors of a moved file, and of a share or a stick that was disconnected."""


def file_size(path: Path) -> int:
    """Bytes of a file; 0 where they are unknown: reading it then raises the reason."""
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return 0


def not_a_file(error: NotRegularError) -> ImageError:
    """Build the error for a folder, a device or a pipe that is called as images are."""
    what = "this is a folder" if error.errno == errno.EISDIR else "this is a device or a pipe"
    return ImageError(what, expected="an image file")


def read_file(path: Path, size_bytes: int = -1) -> bytes:
    """Read an image file, or its first bytes.

    Raises:
        ImageUnreachableError: it cannot be read; an `ImageMissingError` when it is not there.
        ImageError: it is a folder or a device, is empty, or is too large.
    """
    with refusals(), open_regular(path) as file:
        _refuse_large(os.fstat(file.fileno()).st_size)
        data = file.read(size_bytes)
    if not data:
        raise ImageError("the file is empty")
    return data


@contextmanager
def refusals() -> Iterator[None]:
    """Convert an error of reading a file to an `ImageError`, as `read_file` does."""
    try:
        yield
    except NotRegularError as error:
        raise not_a_file(error) from error
    except OSError as error:
        if error.errno in _GONE:
            raise ImageMissingError(
                "the file is not there", remedy="put it back, or find moved images again"
            ) from error
        raise ImageUnreachableError("the file cannot be read", found=reason_of(error)) from error
    except ValueError as error:
        raise ImageError("the file's name cannot be used", found=str(error)) from error
    except MemoryError as error:
        raise ImageUnreachableError("there is not enough memory to read this file") from error


def _refuse_large(size_bytes: int) -> None:
    if size_bytes > MAX_FILE_BYTES:
        raise ImageError(
            "the file is too large",
            expected="at most {limit} MB",
            found=f"{size_bytes // 1024**2} MB",
            limit=MAX_FILE_BYTES // 1024**2,
        )


# 128 bits: that two of a billion images agree by chance happens less than once in 10^20
HASH_BYTES = 16
_PART_BYTES = 1024**2  # read at a time: a file is not held whole. Chosen.


def content_hash(data: bytes | memoryview) -> bytes:
    """BLAKE3 of the bytes, 16 bytes long: short to store, without accidental collisions.

    Hashes of earlier versions (BLAKE2b) stay valid: they are looked up by path, size and time of
    the file.
    """
    return blake3(data).digest(length=HASH_BYTES)


def file_hash(path: Path) -> bytes:
    """The content hash of a file, read in chunks; raises `OSError` where it cannot be read."""
    with open_regular(path) as file:
        hasher = blake3()
        while part := file.read(_PART_BYTES):
            hasher.update(part)
    return hasher.digest(length=HASH_BYTES)


def file_hashes(path: Path) -> frozenset[bytes]:
    """The content hashes of a file, today's and that of earlier versions, as `file_hash`."""
    today, earlier = blake3(), hashlib.blake2b(digest_size=HASH_BYTES)
    with open_regular(path) as file:
        while part := file.read(_PART_BYTES):
            today.update(part)
            earlier.update(part)
    return frozenset((today.digest(length=HASH_BYTES), earlier.digest()))


@final
class MemoryBudget:
    """A semaphore of bytes: threads wait until their share fits, first come, first served.

    More than the whole budget is admitted alone. A thread with a share must not take another one.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._held_bytes = 0
        # held by the thread whose turn is next, so that a large one is not passed by
        self._entrance = threading.Lock()
        self._room = threading.Condition()

    @property
    def held_bytes(self) -> int:
        return self._held_bytes

    @contextmanager
    def holding(self, size_bytes: int) -> Iterator[None]:
        """Wait for room for so many bytes, and hold it inside the block."""
        with self._entrance, self._room:
            self._room.wait_for(
                lambda: not self._held_bytes or self._held_bytes + size_bytes <= self._limit_bytes
            )
            self._held_bytes += size_bytes
        try:
            yield
        finally:
            with self._room:
                self._held_bytes -= size_bytes
                self._room.notify_all()


FILES = MemoryBudget(256 * 1024**2)
"""For the bytes of image files, from reading until decoding. Taken before `PIXELS`, never after."""
PIXELS = MemoryBudget(768 * 1024**2)  # for decoded pixels


def return_freed_memory() -> None:
    """Give the pages that the C library keeps for later back to the system; on Linux only.

    WORKAROUND: glibc keeps memory freed by other threads, tens of megabytes after a collection was
    loaded, hundreds after large pictures were decoded. Can go when the C library returns it.
    """
    if sys.platform.startswith("linux"):
        with suppress(OSError, AttributeError):
            ctypes.CDLL("libc.so.6").malloc_trim(0)
