"""The seal of a closed project: a digest of all its pages, kept in the file itself.

A project that is closed properly carries a digest of its own bytes. Whoever opens it can tell in milliseconds whether a
single bit is other than it was, which SQLite's own check cannot: it knows the structure but not what the values were.
The first commit takes the seal away, so a file without one was not closed: a copy of an open project, or what a kill
left behind.

The digest leaves out what may change without harm: the page that holds the digest, and the counters of the header that
SQLite's backup sets anew.
"""

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Final

from blake3 import blake3

from engine.project.connection import Connection
from engine.project.file.file_state import FileMark, read_mark, write_mark
from engine.regular_file import open_regular

DIGEST_BYTES: Final = 32
_COUNTERS: Final = (slice(24, 28), slice(40, 44), slice(92, 100))  # change counter, schema cookie, valid for, library
_BLOCK_BYTES: Final = 4 * 1024 * 1024

Read = Callable[[int, int], bytes]
"""Gives bytes of the file: start, size in bytes."""


class Seal(Enum):
    """What the seal of a file says."""

    WHOLE = "whole"
    OPEN = "open"
    BROKEN = "broken"


def put_seal(connection: Connection, read: Read) -> None:
    """Seal a file before it is closed; one that is sealed stays as it is.

    Args:
        connection: open for writing, without a transaction.
        read: the same file.
    """
    if has_seal(connection):
        return
    mark = read_mark(connection).next
    digest = _digest(connection, read, mark)
    with connection.transaction():
        write_mark(connection, mark, digest)


def has_seal(connection: Connection) -> bool:
    """Whether a file carries a seal; whether it holds is another question."""
    return connection.value("SELECT digest FROM file_state") is not None


def seal_of(connection: Connection, read: Read) -> Seal:
    """Compare a file with its seal.

    Args:
        connection: the file, of the present version, not in a transaction.
        read: the same file.
    """
    digest = connection.value("SELECT digest FROM file_state")
    if digest is None:
        return Seal.OPEN
    return Seal.WHOLE if digest == _digest(connection, read, read_mark(connection)) else Seal.BROKEN


def reader_of(path: Path) -> Read:
    """Reads a file that this process does not write to."""

    def read(start: int, size_bytes: int) -> bytes:
        with open_regular(path) as file:
            file.seek(start)
            return file.read(size_bytes)

    return read


def _digest(connection: Connection, read: Read, mark: FileMark) -> bytes:
    page_bytes = int(connection.value("PRAGMA page_size"))
    file_bytes = page_bytes * int(connection.value("PRAGMA page_count"))
    own_page = int(connection.value("SELECT rootpage FROM sqlite_schema WHERE name = 'file_state'"))
    hidden = (own_page - 1) * page_bytes
    sum_of_pages = blake3(bytes(mark))
    sum_of_pages.update(_without_counters(read(0, page_bytes)))
    for start, end in ((page_bytes, hidden), (hidden + page_bytes, file_bytes)):
        for place in range(start, end, _BLOCK_BYTES):
            sum_of_pages.update(read(place, min(_BLOCK_BYTES, end - place)))
    return sum_of_pages.digest(DIGEST_BYTES)


def _without_counters(page: bytes) -> bytes:
    masked = bytearray(page)
    for part in _COUNTERS:
        masked[part] = bytes(part.stop - part.start)
    return bytes(masked)
