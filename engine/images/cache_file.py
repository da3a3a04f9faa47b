"""SQLite files that hold caches: a damaged one of ours is set aside and started anew; a file of others stays as it is.

A cache bears a mark in its header (SQLite's application_id). Earlier ones, which have none, are known by their tables.
"""

import contextlib
import errno
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Final

from engine.files import open_regular
from engine.new_file import create_file, private_folder
from engine.texts import marked

APPLICATION_ID: Final = 0x50724C43  # "PrLC"
BUSY_TIMEOUT_S: Final = 30.0  # another process writes for less than this, or is stuck. Chosen.
_TURN_S: Final = (
    0.005  # between two tries to have a turn. Chosen: making the tables takes about as long.
)
_SIDE_FILES: Final = ("-wal", "-shm", "-journal")
# What SQLite calls a file that is not, or no longer, a sound database.
_DAMAGED_CODES: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_MAGIC: Final = b"SQLite format 3\0"
_HEADER_BYTES: Final = 100
_MARK: Final = slice(68, 72)  # where the application_id lies in the header
_log = logging.getLogger(__name__)


class ForeignFileError(OSError):
    """Something that is no cache of ours lies under a cache's name."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            errno.EEXIST,
            marked("this is not a Protoleaf cache; move the file elsewhere"),
            str(path),
        )


def open_cache(path: Path, schema: str, *, version: int) -> sqlite3.Connection:
    """Open a cache file in autocommit mode, made anew when it is missing, damaged or of another version.

    A file without our mark is neither opened for writing nor replaced.

    Several processes may have it open at once (WAL). A killed process loses only what it had not committed.

    Raises:
        sqlite3.Error: the file can be neither used nor replaced.
        ForeignFileError: the file is no cache of ours.
        OSError: its folder cannot be made.
    """
    private_folder(path.parent)
    _take_links_away(path)
    if not (_is_new(path) or _is_marked(path) or _has_tables_of(path, schema)):
        raise ForeignFileError(path)
    try:
        return _opened(path, schema, version)
    except sqlite3.DatabaseError as error:
        if not (is_damage(error) and set_aside(path)):
            raise
        return _opened(path, schema, version)


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Do everything in the block, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if (
            connection.in_transaction
        ):  # a full disk ends it by itself, and "cannot roll back" would hide the reason
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def recover(path: Path, error: sqlite3.Error) -> bool:
    """Set a damaged cache aside; whether opening it again will help, as where it was deleted."""
    if is_damage(error):
        return set_aside(path)
    return (
        getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_READONLY_DBMOVED
        or not path.exists()
    )


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


def set_aside(path: Path) -> bool:
    """Rename a damaged cache of ours to `*.damaged`, and drop its side files; whether that was done."""
    if not _is_marked(path):
        return False
    _log.info("the cache %s is damaged; it is started anew", path.name)
    try:
        path.rename(_free_name(path))
    except OSError:
        return False
    for suffix in _SIDE_FILES:
        with contextlib.suppress(OSError):
            path.with_name(path.name + suffix).unlink()
    return True


def _free_name(path: Path) -> Path:
    """`*.damaged`, in place of an earlier cache of ours; numbered where something else is called so."""
    names = (path.with_name(f"{path.name}.damaged{number or ''}") for number in count())
    name = next(each for each in names if not os.path.lexists(each) or _is_marked(each))
    with contextlib.suppress(OSError):
        name.unlink()
    return name


def _take_links_away(path: Path) -> None:
    """A cache is a file of ours: SQLite would write through a symbolic link of its name, and stop at one beside it."""
    for suffix in ("", *_SIDE_FILES):
        link = path.with_name(path.name + suffix)
        if link.is_symlink():
            link.rename(_free_name(link))


def _is_new(path: Path) -> bool:
    try:
        return path.stat().st_size == 0
    except FileNotFoundError:
        return True


def _is_marked(path: Path) -> bool:
    """Whether the header of a file, no link to one, says that it is a cache of ours."""
    try:
        with open_regular(path) as file:
            header = file.read(_HEADER_BYTES)
    except OSError:
        return False
    is_database = len(header) == _HEADER_BYTES and header.startswith(_MAGIC)
    return is_database and int.from_bytes(header[_MARK]) == APPLICATION_ID and not path.is_symlink()


def _has_tables_of(path: Path, schema: str) -> bool:
    """Whether an unmarked file holds tables and columns of this cache, and nothing else; it is only read."""
    has_log = path.with_name(path.name + "-wal").exists()
    address = f"{path.absolute().as_uri()}?{'mode=ro' if has_log else 'immutable=1'}"
    try:
        with contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
            is_unmarked = connection.execute("PRAGMA application_id").fetchone() == (0,)
            found = _tables(connection)
    except sqlite3.Error:
        return False
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(schema)
        ours = _tables(connection)
    return (
        is_unmarked and bool(found) and all(found[name] <= ours.get(name, set()) for name in found)
    )


def _tables(connection: sqlite3.Connection) -> dict[str, set[str]]:
    """The columns of each table or view."""
    names = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view', 'trigger')"
    ).fetchall()
    columns = "SELECT name FROM pragma_table_info(?)"
    return {
        name: {column for (column,) in connection.execute(columns, (name,))} or {name}
        for (name,) in names
    }


def _opened(path: Path, schema: str, version: int) -> sqlite3.Connection:
    with contextlib.suppress(FileExistsError):
        create_file(path).close()  # private, which SQLite would not make it; its side files follow
    connection = sqlite3.connect(
        path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
    )
    try:
        _take_turns(connection, _mark)
        _take_turns(connection, lambda each: each.execute("PRAGMA journal_mode=WAL"))
        connection.execute("PRAGMA synchronous=NORMAL")
        _make_tables(connection, schema, version)
    except BaseException:
        connection.close()
        raise
    return connection


def _mark(connection: sqlite3.Connection) -> None:
    """Mark a cache, before anything else is written to a new one."""
    if connection.execute("PRAGMA application_id").fetchone() != (APPLICATION_ID,):
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def _take_turns(
    connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], object]
) -> None:
    """Do what several that open a new file at once cannot do together: SQLite's busy timeout does not wait here."""
    deadline_s = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            work(connection)
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
        if (
            connection.execute("PRAGMA user_version").fetchone()[0] == version
        ):  # another process was first
            return
        tables = connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table'"
        ).fetchall()
        for (name,) in tables:
            connection.execute(f'DROP TABLE "{name}"')
        for statement in schema.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {version:d}")
