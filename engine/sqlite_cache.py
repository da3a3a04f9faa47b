"""SQLite files with cached values, which may be deleted at any time.

A cache file is recognised by the application id in its header, or, where an early version of the
program made it without one, by its tables. Other files are neither opened for writing nor replaced.
"""

import contextlib
import errno
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, TypeVar, final

from engine.files import open_regular
from engine.new_file import create_file, private_folder
from engine.texts import marked

APPLICATION_ID = 0x50724C43  # "PrLC"
BUSY_TIMEOUT_S = 30.0
# between two attempts to lock a new file; creating the tables takes as long
_RETRY_S = 0.005
_SIDE_FILES = ("-wal", "-shm", "-journal")
_DAMAGED_CODES = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_ID_BYTES = slice(68, 72)  # of the header
# of the limit, to which eviction shrinks, so that not every put evicts
_LOW_WATER_SHARE = 0.9
_MOST_PARAMETERS = 900  # of a query; every SQLite allows 999
_log = logging.getLogger(__name__)

T = TypeVar("T")


class ForeignFileError(OSError):
    """The name of a cache is taken by a file that is not a cache of this program."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            errno.EEXIST,
            marked("this is not a Protoleaf cache; move the file elsewhere"),
            str(path),
        )


@final
class SqliteCache:
    """A SQLite file that several threads and processes may use at once.

    It is opened at the first use, and again after it was deleted or replaced. A damaged file is
    renamed to `*.damaged` and a new one is made. A killed process loses only uncommitted changes.

    Args:
        path: of the file; its folder is made when missing.
        schema: `CREATE ... IF NOT EXISTS` statements, separated by semicolons.
        version: of the schema; all tables of a file of another version are dropped.
        evicted_table: table with the columns key, used_s, size and value, whose least recently
            used rows are evicted; "" for none.
        limit_bytes: sum of its sizes above which rows are evicted.
    """

    def __init__(
        self,
        path: Path,
        schema: str,
        *,
        version: int,
        evicted_table: str = "",
        limit_bytes: int = 0,
    ) -> None:
        self.path = path
        self._schema, self._version = schema, version
        self._evicted_table, self._limit_bytes = evicted_table, limit_bytes
        self._total_bytes = 0  # of the evicted table
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            self._disconnect()

    def use(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` on the connection, in autocommit mode; once more on a new file after damage.

        Raises:
            sqlite3.Error: the file can be neither used nor replaced.
            ForeignFileError: the file is not a cache of this program.
            OSError: its folder cannot be made.
        """
        with self._lock:
            try:
                return work(self._connected())
            except sqlite3.Error as error:
                self._disconnect()
                if not _recover(self.path, error):
                    raise
                return work(self._connected())

    def try_use(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Run `work` as `use` does; None where the cache cannot be used."""
        try:
            return self.use(work)
        except (sqlite3.Error, OSError):
            return None

    def put(self, rows_by_table: Mapping[str, Sequence[tuple[Any, ...]]]) -> None:
        """Insert or replace rows, in one transaction; raises as `use`."""
        if any(rows_by_table.values()):
            self.use(lambda connection: self._put(connection, rows_by_table))

    def try_put(self, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Insert or replace rows of a table, unless the cache cannot be used."""
        with contextlib.suppress(sqlite3.Error, OSError):
            self.put({table: rows})

    def _put(
        self, connection: sqlite3.Connection, rows_by_table: Mapping[str, Sequence[tuple[Any, ...]]]
    ) -> None:
        with _transaction(connection):
            for table, rows in rows_by_table.items():
                if rows:
                    marks = _placeholders(rows[0])
                    statement = f"INSERT OR REPLACE INTO {table} VALUES ({marks})"  # noqa: S608
                    connection.executemany(statement, rows)
        self._total_bytes += sum(row[2] for row in rows_by_table.get(self._evicted_table, ()))
        if self._total_bytes > self._limit_bytes and self._evicted_table:
            self._evict(connection)

    def _evict(self, connection: sqlite3.Connection) -> None:
        table = self._evicted_table
        newest_first = "ORDER BY used_s DESC, rowid DESC"
        connection.execute(
            f"""
            DELETE FROM {table} WHERE rowid IN (
                SELECT rowid FROM (
                    SELECT rowid, sum(size) OVER ({newest_first}) AS total FROM {table}
                ) WHERE total > ?
            )
            """,  # noqa: S608
            (int(self._limit_bytes * _LOW_WATER_SHARE),),
        )
        self._total_bytes = self._sum_of_sizes(connection)

    def _sum_of_sizes(self, connection: sqlite3.Connection) -> int:
        if not self._evicted_table:
            return 0
        statement = f"SELECT coalesce(sum(size), 0) FROM {self._evicted_table}"  # noqa: S608
        return int(connection.execute(statement).fetchone()[0])

    def _connected(self) -> sqlite3.Connection:
        """The open connection; a new one when the file was deleted or replaced."""
        if self._connection is not None and _file_identity(self.path) != self._identity:
            self._disconnect()
        if self._connection is None:
            self._connection = open_cache(self.path, self._schema, version=self._version)
            self._identity = _file_identity(self.path)
            self._total_bytes = self._sum_of_sizes(self._connection)
        return self._connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
        self._connection = None


def select_many(
    connection: sqlite3.Connection, columns: str, table: str, key: str, values: Sequence[object]
) -> Iterator[list[tuple[Any, ...]]]:
    """The rows whose key is one of some values, in chunks."""
    for start in range(0, len(values), _MOST_PARAMETERS):
        chunk = values[start : start + _MOST_PARAMETERS]
        marks = _placeholders(chunk)
        query = f"SELECT {columns} FROM {table} WHERE {key} IN ({marks})"  # noqa: S608
        yield connection.execute(query, chunk).fetchall()


def _placeholders(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def open_cache(path: Path, schema: str, *, version: int) -> sqlite3.Connection:
    """Open a cache file, replacing a damaged one; see `SqliteCache`."""
    private_folder(path.parent)
    _move_links_away(path)
    if not (_is_empty(path) or _is_marked(path) or _has_tables_of(path, schema)):
        raise ForeignFileError(path)
    try:
        return _opened(path, schema, version)
    except sqlite3.DatabaseError as error:
        if not (_is_damage(error) and set_aside(path)):
            raise
        return _opened(path, schema, version)


def _opened(path: Path, schema: str, version: int) -> sqlite3.Connection:
    with contextlib.suppress(FileExistsError):
        create_file(path).close()  # private, which SQLite would not make it; its side files follow
    connection = sqlite3.connect(
        path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
    )
    try:
        _retry_while_busy(lambda: _mark(connection))
        _retry_while_busy(lambda: connection.execute("PRAGMA journal_mode=WAL"))
        connection.execute("PRAGMA synchronous=NORMAL")
        _create_tables(connection, schema, version)
    except BaseException:
        connection.close()
        raise
    return connection


def _mark(connection: sqlite3.Connection) -> None:
    """Set the application id, before anything else is written to a new file."""
    if connection.execute("PRAGMA application_id").fetchone() != (APPLICATION_ID,):
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def _retry_while_busy(work: Callable[[], object]) -> None:
    """Run what SQLite's busy timeout does not cover when several processes open a new file."""
    deadline_s = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            work()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline_s:
                raise
            time.sleep(_RETRY_S)
        else:
            return


def _create_tables(connection: sqlite3.Connection, schema: str, version: int) -> None:
    """Create missing tables, after dropping those of another version."""
    if not _has_version(connection, version):
        with _transaction(connection):
            if not _has_version(connection, version):  # another process may have been first
                tables = "SELECT name FROM sqlite_schema WHERE type = 'table'"
                for (name,) in connection.execute(tables).fetchall():
                    connection.execute(f'DROP TABLE "{name}"')
                connection.execute(f"PRAGMA user_version = {version:d}")
    for statement in schema.split(";"):
        connection.execute(statement)


def _has_version(connection: sqlite3.Connection, version: int) -> bool:
    return bool(connection.execute("PRAGMA user_version").fetchone()[0] == version)


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        # A full disk rolls back by itself, and "cannot roll back" would hide the reason.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _recover(path: Path, error: sqlite3.Error) -> bool:
    """Set a damaged file aside; returns whether opening the cache again will help."""
    if _is_damage(error):
        return set_aside(path)
    was_moved = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_READONLY_DBMOVED
    return was_moved or not path.exists()


def _file_identity(path: Path) -> tuple[int, int] | None:
    """Device and inode of a file; None when there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _is_damage(error: sqlite3.Error) -> bool:
    """Whether an error means a corrupt file; else it may be busy, or the disk full."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED_CODES


def set_aside(path: Path) -> bool:
    """Rename a damaged cache to `*.damaged` and delete its side files; returns whether it could."""
    if not _is_marked(path):
        return False
    _log.info("the cache %s is damaged and is created again", path.name)
    try:
        path.rename(_free_name(path))
    except OSError:
        return False
    for side_file in _with_suffixes(path, _SIDE_FILES):
        with contextlib.suppress(OSError):
            side_file.unlink()
    return True


def _free_name(path: Path) -> Path:
    """`*.damaged`, in place of an earlier cache; numbered where another file has that name."""
    names = (path.with_name(f"{path.name}.damaged{number or ''}") for number in count())
    name = next(each for each in names if not os.path.lexists(each) or _is_marked(each))
    with contextlib.suppress(OSError):
        name.unlink()
    return name


def _move_links_away(path: Path) -> None:
    """Rename symbolic links in the place of the cache: SQLite would write through them."""
    for link in _with_suffixes(path, ("", *_SIDE_FILES)):
        if link.is_symlink():
            link.rename(_free_name(link))


def _with_suffixes(path: Path, suffixes: Iterable[str]) -> list[Path]:
    return [path.with_name(path.name + suffix) for suffix in suffixes]


def _is_empty(path: Path) -> bool:
    """Whether a file is empty or missing."""
    try:
        return path.stat().st_size == 0
    except FileNotFoundError:
        return True


def _is_marked(path: Path) -> bool:
    """Whether a regular file has the header of a cache."""
    try:
        with open_regular(path) as file:
            header = file.read(_HEADER_BYTES)
    except OSError:
        return False
    is_database = len(header) == _HEADER_BYTES and header.startswith(_MAGIC)
    has_id = int.from_bytes(header[_ID_BYTES]) == APPLICATION_ID
    return is_database and has_id and not path.is_symlink()


def _has_tables_of(path: Path, schema: str) -> bool:
    """Whether a file without an application id has tables of this schema only; opened read-only."""
    has_log = path.with_name(path.name + "-wal").exists()
    address = f"{path.absolute().as_uri()}?{'mode=ro' if has_log else 'immutable=1'}"
    try:
        with contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
            is_unmarked = connection.execute("PRAGMA application_id").fetchone() == (0,)
            found = _columns_by_table(connection)
    except sqlite3.Error:
        return False
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(schema)
        expected = _columns_by_table(connection)
    is_expected = all(found[name] <= expected.get(name, set()) for name in found)
    return is_unmarked and bool(found) and is_expected


def _columns_by_table(connection: sqlite3.Connection) -> dict[str, set[str]]:
    """The columns of each table or view; of a trigger, which has none, its name."""
    names = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view', 'trigger')"
    ).fetchall()
    columns = "SELECT name FROM pragma_table_info(?)"
    return {
        name: {column for (column,) in connection.execute(columns, (name,))} or {name}
        for (name,) in names
    }
