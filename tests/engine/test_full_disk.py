"""Recognising a full disk from errors of any library."""

import errno
import os
import sqlite3
from pathlib import Path

import pytest

from engine import full_disk
from engine.errors import StorageError
from engine.full_disk import disk_full, is_full, storage_error


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
        OSError(errno.EDQUOT, os.strerror(errno.EDQUOT)),
        OSError("[Errno 28] No space left on device: 'a.png'"),
        RuntimeError("[enforce fail] . file write failed: No space left on device"),
        sqlite3.OperationalError("database or disk is full"),
        disk_full("a"),
    ],
)
def test_what_says_so(error: Exception) -> None:
    assert is_full(None, error)


@pytest.mark.parametrize(
    "error",
    [OSError("1000 requested and 12 written"), sqlite3.OperationalError("disk I/O error")],
)
def test_what_does_not_say_so_is_believed_where_nothing_is_free(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not is_full(None, error)
    monkeypatch.setattr(full_disk, "free_bytes", lambda _: 8192)
    assert is_full(tmp_path / "a", error)
    monkeypatch.setattr(full_disk, "free_bytes", lambda _: 8 << 30)
    assert not is_full(tmp_path / "a", error)


def test_the_reason_may_lie_behind() -> None:
    error = StorageError("it cannot be kept")
    error.__cause__ = OSError(errno.ENOSPC, "No space left on device")
    assert is_full(None, error)


def test_what_is_something_else(tmp_path: Path) -> None:
    error = PermissionError(errno.EACCES, "Permission denied")
    assert not is_full(tmp_path, error)
    assert (
        str(storage_error(Path("a"), error, "it cannot be kept"))
        == "it cannot be kept: found a: Permission denied"
    )


def test_the_message() -> None:
    error = storage_error(
        Path("a"), OSError(errno.ENOSPC, "No space left on device"), "it cannot be kept"
    )
    assert str(error) == "the disk is full: found a. Free some space, then try again"
    assert storage_error(Path("b"), error, "it cannot be kept") is error


def test_room_is_known_for_files_that_are_not_there_yet(tmp_path: Path) -> None:
    assert 0 <= full_disk.free_bytes(tmp_path / "none" / "a") < 1 << 62
    assert 0 <= full_disk.free_bytes(tmp_path / ("long" * 1000) / "a\0b") < 1 << 62
