"""Zip archives from outside: how many files they hold, and how much a file becomes when it is unpacked."""

import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, Final

from engine.errors import FormatError, StorageError
from engine.files import open_regular
from engine.interchange import limits

BROKEN_ARCHIVE: Final = (zipfile.BadZipFile, zlib.error, KeyError, EOFError, RuntimeError)
"""Errors of the standard library while a broken archive is read."""
_END: Final = struct.Struct("<4s4H2LH")
"""The record at the end of an archive: its mark, numbers, and the size of the list of its files."""
_LIST_SIZE: Final = 5  # its index in that record
_BEGINNING: Final = b"PK"
_END_MARK: Final = b"PK\x05\x06"
_END64_MARK: Final = b"PK\x06\x06"
_END64_LIST_SIZE: Final = 40  # offset of that size, eight bytes, in the record of a larger archive
_TAIL_BYTES: Final = 1 << 17  # hold both records; a comment takes up to 64 KiB


@contextmanager
def reading(
    source: Path, broken: str, errors: tuple[type[Exception], ...] = BROKEN_ARCHIVE, **fields: str
) -> Iterator[None]:
    """Turn errors while a file is read into FormatError, with `broken` as its message, and StorageError."""
    try:
        yield
    except errors as error:
        found = str(error).split("\n", 1)[0][:200]
        raise FormatError(broken, found=found, source=source.name, **fields) from error
    except OSError as error:
        raise StorageError(
            "{source} cannot be read", found=str(error), remedy="check the path", source=source.name
        ) from error


@contextmanager
def opened_archive(source: Path) -> Iterator[zipfile.ZipFile]:
    """An archive whose list of files is small enough.

    Raises:
        FormatError: it is not.
        zipfile.BadZipFile, OSError: it cannot be read.
    """
    with open_regular(source) as file:
        check_file_count(file, source.name)
        with zipfile.ZipFile(file) as archive:
            yield archive


def check_file_count(file: IO[bytes], name: str) -> None:
    """Refuse an archive whose list of files takes too much memory, before that list is read.

    Raises:
        FormatError: it does.
        OSError: it cannot be read.
    """
    limits.FILE_LIST_BYTES.check(_list_bytes(file), name)


def is_archive(file: IO[bytes]) -> bool:
    """Whether a file that is open at its beginning begins as an archive does; it stays there."""
    head = file.read(len(_BEGINNING))
    file.seek(0)
    return head == _BEGINNING


def is_system_file(name: str) -> bool:
    """Whether a file of an archive was put there by an operating system, as `__MACOSX/._taxa.txt`."""
    parts = PurePosixPath(name).parts
    return not parts or parts[0].casefold() == "__macosx" or parts[-1].startswith(".")


def has_member(source: Path, name: str = "") -> bool:
    """Whether it is an archive, with this file if one is named; FormatError where its list of files is too large."""
    try:
        with open_regular(source) as file:
            if not file.peek(len(_BEGINNING)).startswith(_BEGINNING):
                return False
        with opened_archive(source) as archive:
            return not name or name in archive.NameToInfo
    except (OSError, zipfile.BadZipFile, ValueError, RuntimeError):
        return False


@contextmanager
def member(
    archive: zipfile.ZipFile, name: str, limit: limits.Limit = limits.TABLE_BYTES
) -> Iterator[IO[bytes]]:
    """A file of an archive, unpacked while it is read, up to the size that the archive declares.

    Raises:
        FormatError: that size is too large.
        KeyError: there is no such file.
    """
    limit.check(archive.getinfo(name).file_size, PurePosixPath(name).name)
    with archive.open(name) as file:
        yield file


def _list_bytes(file: IO[bytes]) -> int:
    """Size of the list of files, by the archive's end record; 0 without one."""
    size = file.seek(0, 2)
    file.seek(max(0, size - _TAIL_BYTES))
    tail = file.read(_TAIL_BYTES)
    file.seek(0)
    place = tail.rfind(_END_MARK)
    if place < 0 or len(tail) < place + _END.size:
        return 0
    large = tail.rfind(_END64_MARK, 0, place)
    if large >= 0:
        return int.from_bytes(
            tail[large + _END64_LIST_SIZE : large + _END64_LIST_SIZE + 8], "little"
        )
    return int(_END.unpack_from(tail, place)[_LIST_SIZE])


def file_within(folder: Path, name: str, named_by: str) -> Path:
    """A file that another file names, and that must lie in its folder: a list from outside leads nowhere else.

    Args:
        folder: in which, or below which, it must lie, links followed.
        name: with "/" between its parts.
        named_by: the other file, for errors.

    Raises:
        FormatError: it lies elsewhere, or is missing.
    """
    checked_name(name, named_by)
    if not _real(folder / name).is_relative_to(_real(folder)):
        raise _outside(name, named_by)
    if not (folder / name).is_file():
        raise FormatError(
            "{named_by} names a file that is not there", found=f'"{name[:200]}"', named_by=named_by
        )
    return folder / name


def checked_name(name: str, named_by: str) -> str:
    """The name, if it leads out of a folder on no system.

    Raises:
        FormatError: it does, or is empty.
    """
    windows = PureWindowsPath(name)
    is_relative = not windows.anchor and not PurePosixPath(name).anchor
    if not name or "\0" in name or not is_relative or ".." in windows.parts:
        raise _outside(name, named_by)
    return name


def _outside(name: str, named_by: str) -> FormatError:
    return FormatError(
        "{named_by} names a file outside of its folder",
        expected="one beside {named_by}",
        found=f'"{name[:200]}"',
        remedy="put the file there, and write its name alone",
        named_by=named_by,
    )


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
