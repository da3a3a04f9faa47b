"""Untrusted ZIP archives: limits of their file list and unpacked sizes; safe file names."""

import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO

from engine.errors import FormatError, StorageError
from engine.files import open_regular
from engine.interchange import limits

BROKEN_ARCHIVE = (zipfile.BadZipFile, zlib.error, KeyError, EOFError, RuntimeError)
"""Errors of the standard library for a corrupt archive."""
_END = struct.Struct("<4s4H2LH")
"""The end of central directory record: signature, counts, and size of the central directory."""
_LIST_SIZE = 5  # index of that size in the record
_BEGINNING = b"PK"
_END_MARK = b"PK\x05\x06"
_END64_MARK = b"PK\x06\x06"
_END64_LIST_SIZE = 40  # offset of the size, eight bytes, in the ZIP64 record
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # that an archive can hold
_TAIL_BYTES = 1 << 17  # contain both records; a comment has up to 64 KiB


@contextmanager
def reading(
    source: Path, broken: str, errors: tuple[type[Exception], ...] = BROKEN_ARCHIVE, **fields: str
) -> Iterator[None]:
    """Turn errors of reading a file into FormatError(`broken`) and StorageError."""
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
    """Open an archive.

    Raises:
        FormatError: its list of files is too large.
        zipfile.BadZipFile, OSError: it cannot be read.
    """
    with open_regular(source) as file:
        check_file_count(file, source.name)
        with zipfile.ZipFile(file) as archive:
            yield archive


def check_file_count(file: IO[bytes], name: str) -> None:
    """Check the size of an archive's list of files before it is read.

    Raises:
        FormatError: it is too large.
        OSError: it cannot be read.
    """
    limits.FILE_LIST_BYTES.check(_list_bytes(file), name)


def is_archive(file: IO[bytes]) -> bool:
    """Whether an open file is a ZIP archive; its position stays at the beginning."""
    head = file.read(len(_BEGINNING))
    file.seek(0)
    return head == _BEGINNING


def is_system_file(name: str) -> bool:
    """Whether a member is metadata of an operating system, such as `__MACOSX/._taxa.txt`."""
    parts = PurePosixPath(name).parts
    return not parts or parts[0].casefold() == "__macosx" or parts[-1].startswith(".")


def has_member(source: Path, name: str = "") -> bool:
    """Whether it is an archive (with a member); FormatError if its list of files is too large."""
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
    """Open a member, which is unpacked on reading up to its declared size.

    Raises:
        FormatError: that size is too large.
        KeyError: there is no such member.
    """
    limit.check(archive.getinfo(name).file_size, PurePosixPath(name).name)
    with archive.open(name) as file:
        yield file


def _list_bytes(file: IO[bytes]) -> int:
    """Size of the central directory by the end record; 0 without one."""
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


def entry(name: str, method: int = zipfile.ZIP_DEFLATED) -> zipfile.ZipInfo:
    """A file to be written, with the earliest time: equal exports are equal archives."""
    info = zipfile.ZipInfo(name, _EARLIEST)
    info.compress_type = method
    info.external_attr = 0o644 << 16
    return info


def file_within(folder: Path, name: str, named_by: str) -> Path:
    """Path of a file that another file names, which must be inside of a folder.

    Args:
        folder: contains it, symbolic links resolved.
        name: with "/" as separator.
        named_by: the other file, for errors.

    Raises:
        FormatError: it is outside of the folder, or missing.
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
    """The name, if it is inside of a folder on all systems.

    Raises:
        FormatError: it is not, or is empty.
    """
    windows = PureWindowsPath(name)
    is_relative = not windows.anchor and not PurePosixPath(name).anchor
    if not name or "\0" in name or not is_relative or ".." in windows.parts:
        raise _outside(name, named_by)
    return name


def _outside(name: str, named_by: str) -> FormatError:
    return FormatError(
        "{named_by} names a file outside of its folder",
        expected="one next to {named_by}",
        found=f'"{name[:200]}"',
        remedy="put the file there, and write its name alone",
        named_by=named_by,
    )


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
