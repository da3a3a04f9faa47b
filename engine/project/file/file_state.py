"""The row that tells a project from every other one, and each of its commits from the one before."""

import os
from dataclasses import dataclass, replace
from typing import Final, Self

from blake3 import blake3

from engine.errors import ProjectDamagedError
from engine.project.connection import Connection

IDENTITY_BYTES: Final = 16
_COUNTER_BYTES: Final = 8
MARK_BYTES: Final = IDENTITY_BYTES + _COUNTER_BYTES


@dataclass(frozen=True)
class FileMark:
    """Which project a file is, and how often it was committed to.

    Attributes:
        identity: random, made with the project; copies have the same.
        generation: one more with every commit.
    """

    identity: bytes
    generation: int

    @classmethod
    def new(cls) -> Self:
        """A mark that no other project has."""
        return cls(os.urandom(IDENTITY_BYTES), 0)

    @classmethod
    def from_bytes(cls, mark: bytes) -> Self:
        """Read what `bytes` gave."""
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


def insert_state(connection: Connection, *, is_journal_whole: bool, mark: FileMark | None = None) -> None:
    """Give a file its identity.

    Args:
        connection: the file, of the present version.
        is_journal_whole: whether every row that a person made went through the journal.
        mark: which project it is; by default one that no other project is.
    """
    connection.write(
        "INSERT INTO file_state (row_id, mark, is_journal_whole) VALUES (1, ?, ?)",
        (bytes(mark or FileMark.new()), int(is_journal_whole)),
    )


def has_state(connection: Connection) -> bool:
    """Whether a file says which project it is; versions before 3 did not."""
    return connection.value("SELECT 1 FROM sqlite_schema WHERE name = 'file_state'") is not None


def mark_of(connection: Connection) -> FileMark:
    """Which project a file of any version is.

    Older files get the identity that follows from their first model version, made in some microsecond with the
    project: so a backup made before the file was brought to the present version is known as one of the same project.

    Raises:
        ProjectDamagedError: it does not say.
    """
    if has_state(connection):
        return read_mark(connection)
    born = connection.row(
        "SELECT created_at, backbone_name, backbone_hash FROM model_version ORDER BY version_id LIMIT 1"
    )
    return FileMark.new() if born is None else FileMark(blake3(repr(born).encode()).digest(IDENTITY_BYTES), 0)


def read_mark(connection: Connection) -> FileMark:
    """Read which project a file is.

    Raises:
        ProjectDamagedError: it does not say.
    """
    mark = connection.value("SELECT mark FROM file_state")
    if not isinstance(mark, bytes) or len(mark) != MARK_BYTES:
        raise ProjectDamagedError(
            "the project file does not say which project it is",
            found=str(connection.path),
            remedy="open an earlier copy of the file, or restore a backup; this file is left as it is",
        )
    return FileMark.from_bytes(mark)


def write_mark(connection: Connection, mark: FileMark, digest: bytes | None = None) -> None:
    """Count a commit within its transaction.

    Args:
        connection: the file.
        mark: that of the commit.
        digest: the seal of the file as it will be; None while work goes on.
    """
    connection.write("UPDATE file_state SET mark = ?, digest = ?", (bytes(mark), digest))
