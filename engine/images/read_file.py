"""Reads an image file's bytes, once; hashing and decoding share them."""

import errno
import os
from pathlib import Path
from typing import Final

from engine.errors import ImageError, ImageMissingError, ImageUnreachableError
from engine.files import NotRegularError, open_regular

MAX_FILE_BYTES: Final = 2 * 1024**3
"""Larger files are refused: a file is held in memory as a whole (decision 32). Chosen."""
_GONE: Final = frozenset(
    getattr(errno, name)
    for name in (
        *("ENOENT", "ENOTDIR", "ENODEV", "ENXIO", "ESTALE", "ENOTCONN", "EHOSTDOWN", "EHOSTUNREACH", "ENETDOWN"),
        *("ENETUNREACH", "ETIMEDOUT", "ECONNABORTED", "ECONNRESET", "ENOLINK", "EREMOTEIO", "ENOMEDIUM"),
    )
    if hasattr(errno, name)
)
"""What systems say of a file that was moved, and of a share or a stick that was there a moment ago."""


def file_size(path: Path) -> int:
    """Bytes of a file; 0 where it cannot be told: reading it then says why."""
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
    try:
        with open_regular(path) as file:
            _refuse_large(os.fstat(file.fileno()).st_size)
            data = file.read(size_bytes)
    except NotRegularError as error:
        raise not_a_file(error) from error
    except OSError as error:
        if error.errno in _GONE:
            raise ImageMissingError(
                "the file is not there", remedy="put it back, or find moved images again"
            ) from error
        raise ImageUnreachableError("the file cannot be read", found=error.strerror or str(error)) from error
    except ValueError as error:
        raise ImageError("the file's name cannot be used", found=str(error)) from error
    except MemoryError as error:
        raise ImageUnreachableError("there is not enough memory to read this file") from error
    if not data:
        raise ImageError("the file is empty")
    return data


def _refuse_large(size_bytes: int) -> None:
    if size_bytes > MAX_FILE_BYTES:
        raise ImageError(
            "the file is too large",
            expected="at most {limit} MB",
            found=f"{size_bytes // 1024**2} MB",
            limit=MAX_FILE_BYTES // 1024**2,
        )
