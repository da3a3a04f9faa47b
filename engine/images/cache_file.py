"""SQLite files that hold caches: whatever is wrong with one, it is set aside and started anew."""

import contextlib
import logging
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from engine.new_file import create_file, private_folder

BUSY_TIMEOUT_S: Final = 30.0  # another process writes for less than this, or is stuck. Chosen.
_TURN_S: Final = 0.005  # between two tries to have a turn. Chosen: making the tables takes about as long.
_SIDE_FILES: Final = ("-wal", "-shm", "-journal")
# What SQLite calls a file that is not, or no longer, a sound database.
_DAMAGED_CODES: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_log = logging.getLogger(__name__)


def open_cache(path: Path, schema: str, *, version: int) -> sqlite3.Connection:
    """Open a cache file in autocommit mode, made anew when it is missing, damaged or of another version.

    Several processes may have it open at once (WAL). A killed process loses only what it had not committed.

    Raises:
        sqlite3.Error: the file can be neither used nor replaced.
        OSError: its folder cannot be made.
    """
    private_folder(path.parent)
    _take_link_away(path)
    try:
        return _opened(path, schema, version)
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        set_aside(path)
        return _opened(path, schema, version)


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Do everything in the block, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:  # a full disk ends it by itself, and "cannot roll back" would hide the reason
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def recover(path: Path, error: sqlite3.Error) -> bool:
    """Set a damaged cache aside; whether opening it again will help, as where it was deleted."""
    if is_damage(error):
        set_aside(path)
        return True
    return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_READONLY_DBMOVED or not path.exists()


def file_identity(path: Path) -> tuple[int, int] | None:
    """Device and number of a file, which another one that took its place does not have; None when there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def is_damage(error: sqlite3.Error) -> bool:
    """Whether an error means damage of the file, not that it is busy or the disk full."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in _DAMAGED_CODES


def set_aside(path: Path) -> None:
    """Rename a damaged cache file to `*.damaged`, replacing an earlier one, and drop its side files."""
    _log.info("the cache %s is damaged; it is started anew", path.name)
    with contextlib.suppress(OSError):
        path.replace(path.with_name(path.name + ".damaged"))
    for suffix in _SIDE_FILES:
        with contextlib.suppress(OSError):
            path.with_name(path.name + suffix).unlink()


def _take_link_away(path: Path) -> None:
    """A cache is a file of ours: SQLite would write through a symbolic link of its name, and stop at one beside it."""
    if any(path.with_name(path.name + suffix).is_symlink() for suffix in ("", *_SIDE_FILES)):
        set_aside(path)


def _opened(path: Path, schema: str, version: int) -> sqlite3.Connection:
    with contextlib.suppress(FileExistsError):
        create_file(path).close()  # private, which SQLite would not make it; its side files follow
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    try:
        _use_wal(connection)
        connection.execute("PRAGMA synchronous=NORMAL")
        _make_tables(connection, schema, version)
    except BaseException:
        connection.close()
        raise
    return connection


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch to WAL; several that open a new file at once take turns, which SQLite's busy timeout does not do here."""
    deadline_s = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline_s:
                raise
            time.sleep(_TURN_S)
        else:
            return


def _make_tables(connection: sqlite3.Connection, schema: str, version: int) -> None:
    """Make the tables unless they are there; a cache of another version is emptied, not migrated."""
    if connection.execute("PRAGMA user_version").fetchone()[0] == version:
        return
    with transaction(connection):
        if connection.execute("PRAGMA user_version").fetchone()[0] == version:  # another process was first
            return
        tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        for (name,) in tables:
            connection.execute(f'DROP TABLE "{name}"')
        for statement in schema.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {version:d}")
