"""Files from outside are opened here: regular files alone, for reading a pipe waits forever and a device never ends.

A list, a sidecar, a graph or a folder of photos may name anything on the computer: a named pipe, `/dev/zero`, a socket,
`/proc/kmsg`. Such a name is refused before it is opened, because opening some devices already does something.
"""

import errno
import os
import stat
from functools import cache
from io import BufferedReader
from pathlib import Path
from typing import Final

from engine.files import size_text

MOST_BYTES: Final = 1024**3
"""Of a file that is read as a whole, unless its reader permits more or less. Chosen."""
_KINDS: Final = (
    (stat.S_ISDIR, errno.EISDIR, "a folder, not a file"),
    (stat.S_ISFIFO, errno.EINVAL, "a pipe, not a file"),
    (stat.S_ISSOCK, errno.EINVAL, "a socket, not a file"),
    (stat.S_ISCHR, errno.EINVAL, "a device, not a file"),
    (stat.S_ISBLK, errno.EINVAL, "a device, not a file"),
)
_OPENING: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
"""`O_NONBLOCK` says nothing of regular files; a pipe that takes a file's place after the look does not hold us up."""


class NotRegularError(OSError):
    """A name that stands for no regular file; `strerror` says what it is."""


class TooLargeError(OSError):
    """A file that is larger than its reader permits; `strerror` gives both sizes."""


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file for reading.

    Raises:
        NotRegularError: it is a folder, a pipe, a socket, a device or a file of the system's kernel.
        OSError: it cannot be opened.
    """
    require_regular(path)
    descriptor = os.open(path, _OPENING)
    try:
        _require(os.fstat(descriptor), path)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: Path, *, at_most: int = MOST_BYTES) -> bytes:
    """Read a regular file as a whole.

    Args:
        at_most: bytes; a larger one is refused before it is read.

    Raises:
        NotRegularError: as `open_regular`.
        TooLargeError: it is larger, or grows while it is read.
        OSError: it cannot be read.
    """
    with open_regular(path) as file:
        _require_size(os.fstat(file.fileno()).st_size, at_most, path)
        data = file.read(at_most + 1)
    _require_size(len(data), at_most, path)
    return data


def require_regular(path: Path) -> os.stat_result:
    """Refuse a name that a library must not open.

    Raises:
        NotRegularError: as `open_regular`.
        OSError: nothing is there, or it cannot be looked at.
    """
    status = path.stat()
    _require(status, path)
    return status


def _require(status: os.stat_result, path: Path) -> None:
    for is_kind, number, reason in _KINDS:
        if is_kind(status.st_mode):
            raise NotRegularError(number, reason, str(path))
    if status.st_dev in _kernel_devices():
        raise NotRegularError(errno.EINVAL, "made up by the system, not a file on a disk", str(path))


def _require_size(size_bytes: int, at_most: int, path: Path) -> None:
    if size_bytes > at_most:
        reason = f"{size_text(size_bytes)}, and at most {size_text(at_most)} are read"
        raise TooLargeError(errno.EFBIG, reason, str(path))


@cache
def _kernel_devices() -> frozenset[int]:
    """The file systems that the kernel makes up: their files have no size, and some never end."""
    folders = [folder for folder in ("/proc", "/sys", "/dev") if os.path.ismount(folder)]
    return frozenset(Path(folder).stat().st_dev for folder in folders)
