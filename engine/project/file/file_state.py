"""The mark that distinguishes a project and each of its commits, and the seal of a closed one.

A properly closed project carries a checksum of its own bytes, which is verified in milliseconds. It
finds a single changed bit, which SQLite's own check cannot: that knows the structure but not the
values. The first commit removes it, so a file without one was not closed: a copy of an open
project, or the result of a kill. The checksum excludes what may change without harm: its own page,
and the counters of the header that SQLite's backup resets.
"""

import os
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Self

from blake3 import blake3

from engine.errors import ProjectDamagedError
from engine.files import open_regular
from engine.project.connection import Connection

IDENTITY_BYTES = 16
_COUNTER_BYTES = 8
MARK_BYTES = IDENTITY_BYTES + _COUNTER_BYTES


@dataclass(frozen=True)
class FileMark:
    """Which project a file is, and how often it was committed to."""

    identity: bytes  # random, made with the project; copies have the same
    generation: int  # one more with every commit

    @classmethod
    def new(cls) -> Self:
        """A mark that no other project has."""
        return cls(os.urandom(IDENTITY_BYTES), 0)

    @classmethod
    def from_bytes(cls, mark: bytes) -> Self:
        """Read the bytes of a mark."""
        return cls(mark[:IDENTITY_BYTES], int.from_bytes(mark[IDENTITY_BYTES:MARK_BYTES], "big"))

    def __bytes__(self) -> bytes:
        return self.identity + self.generation.to_bytes(_COUNTER_BYTES, "big")

    @property
    def next(self) -> "FileMark":
        """The mark of the next commit."""
        return replace(self, generation=self.generation + 1)

    @property
    def project_id(self) -> str:
        """The identity as text."""
        return self.identity.hex()


def insert_state(
    connection: Connection, *, is_journal_whole: bool, mark: FileMark | None = None
) -> None:
    """Set the identity of a file, by default a new one, and whether its journal is complete."""
    connection.write(
        "INSERT INTO file_state (row_id, mark, is_journal_whole) VALUES (1, ?, ?)",
        (bytes(mark or FileMark.new()), int(is_journal_whole)),
    )


def has_state(connection: Connection) -> bool:
    """Whether a file knows which project it is; versions before 3 did not."""
    return connection.value("SELECT 1 FROM sqlite_schema WHERE name = 'file_state'") is not None


def mark_of(connection: Connection) -> FileMark:
    """Which project a file of any version is.

    Older files derive their identity from their first model version, created with the
    project: so a backup from before the migration is recognised as one of the same project.
    """
    if has_state(connection):
        return read_mark(connection)
    born = connection.row(
        "SELECT created_at, backbone_name, backbone_hash FROM model_version"
        " ORDER BY version_id LIMIT 1"
    )
    return (
        FileMark.new()
        if born is None
        else FileMark(blake3(repr(born).encode()).digest(IDENTITY_BYTES), 0)
    )


def read_mark(connection: Connection) -> FileMark:
    """Read the mark of a file of the current version; raises `ProjectDamagedError` if missing."""
    mark = connection.value("SELECT mark FROM file_state")
    if not isinstance(mark, bytes) or len(mark) != MARK_BYTES:
        raise ProjectDamagedError(
            "the project file does not identify its project",
            found=str(connection.path),
            remedy="open an earlier copy of the file, or restore a backup; this file is left as "
            "it is",
        )
    return FileMark.from_bytes(mark)


def write_mark(connection: Connection, mark: FileMark, digest: bytes | None = None) -> None:
    """Count a commit within its transaction; `digest` seals the file, None while it is open."""
    connection.write("UPDATE file_state SET mark = ?, digest = ?", (bytes(mark), digest))


DIGEST_BYTES = 32
_COUNTERS = (
    slice(24, 28),
    slice(40, 44),
    slice(92, 100),
)  # change counter, schema cookie, valid for, library
_BLOCK_BYTES = 4 * 1024 * 1024

Read = Callable[[int, int], bytes]  # gives bytes of the file: start, size in bytes


class Seal(Enum):
    """State of the seal of a file."""

    WHOLE = "whole"
    OPEN = "open"
    BROKEN = "broken"


def put_seal(connection: Connection, read: Read) -> None:
    """Seal a file before it is closed, outside a transaction, unless it is sealed."""
    if has_seal(connection):
        return
    mark = read_mark(connection).next
    digest = _digest(connection, read, mark)
    with connection.transaction():
        write_mark(connection, mark, digest)


def has_seal(connection: Connection) -> bool:
    """Whether a file carries a seal, intact or broken."""
    return digest_of(connection) is not None


def digest_of(connection: Connection) -> bytes | None:
    """The digest that a file is sealed with; None while work goes on."""
    digest: bytes | None = connection.value("SELECT digest FROM file_state")
    return digest


def seal_of(connection: Connection, read: Read) -> Seal:
    """Compare a file of the present version, outside a transaction, with its seal."""
    digest = digest_of(connection)
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


_ROW = re.compile(
    rb"[\x1d\x3d]\x01"  # bytes of the record; number of the row
    rb"\x05\x00\x3c[\x08\x09][\x00\x4c]"  # header: row_id, 24 bytes of mark, flag, digest or none
    rb"(.{16}\x00\x00.{6})",  # more commits are impossible
    re.DOTALL,
)
_ROW_BYTES = 7 + MARK_BYTES  # what the pattern matches


def marks_in(path: Path) -> list[FileMark]:
    """Marks of projects in the bytes of a file, with their highest generation; [] on errors."""
    generations: dict[bytes, int] = {}
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return []
        with open_regular(path) as file:
            before = b""
            while block := file.read(_BLOCK_BYTES):
                content = before + block
                for found in _ROW.finditer(content):
                    mark = FileMark.from_bytes(found[1])
                    generations[mark.identity] = max(
                        mark.generation, generations.get(mark.identity, 0)
                    )
                before = content[-_ROW_BYTES + 1 :]
    except OSError:
        return []
    return [FileMark(identity, generation) for identity, generation in generations.items()]
