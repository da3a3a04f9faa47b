"""A disk of a few megabytes for one process and its children, in a private mount namespace."""

import ctypes
import os
from pathlib import Path

_NEW_MOUNTS = 0x00020000  # CLONE_NEWNS
_NEW_USER = 0x10000000  # CLONE_NEWUSER
_PRIVATE = (1 << 18) | (1 << 14)  # MS_PRIVATE | MS_REC
_CLUSTER_BYTES = 4096


class NoSmallDiskError(Exception):
    """The system does not permit mounting."""


def mount_small_disk(folder: Path, size_bytes: int) -> None:
    """Mount a small disk on a folder of this process, until it ends.

    Raises:
        NoSmallDiskError: the system does not permit it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    library = ctypes.CDLL(None, use_errno=True)
    is_root = os.geteuid() == 0
    if not hasattr(library, "unshare") or library.unshare(
        _NEW_MOUNTS | (0 if is_root else _NEW_USER)
    ):
        raise NoSmallDiskError(os.strerror(ctypes.get_errno()))
    options = f"size={size_bytes}".encode()
    if library.mount(b"none", b"/", None, _PRIVATE, None) or library.mount(
        b"none", os.fsencode(folder), b"tmpfs", 0, options
    ):
        raise NoSmallDiskError(os.strerror(ctypes.get_errno()))


def leave_free(folder: Path, free_bytes: int) -> Path:
    """Fill a disk up to a number of free bytes, in whole clusters; return the file."""
    filler = folder / "filler"
    facts = os.statvfs(folder)
    clusters = max(0, facts.f_bavail * facts.f_frsize - free_bytes) // _CLUSTER_BYTES
    with filler.open("wb") as file:
        for _ in range(clusters):
            file.write(bytes(_CLUSTER_BYTES))
    return filler
