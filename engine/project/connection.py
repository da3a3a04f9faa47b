"""The only access to SQLite: opening modes, transactions, and translated errors."""

import math
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar, final

from engine.errors import (
    InputError,
    ProjectDamagedError,
    ProjectLockedError,
    ProjectReadOnlyError,
    ProtoleafError,
    StorageError,
)
from engine.full_disk import disk_full, is_full
from engine.texts import Message

T = TypeVar("T")
Row = tuple[Any, ...]
Values = Sequence[Any]

BUSY_TIMEOUT_S = 30.0  # a reader holds the writer up only while it copies the file
_BASE_CODE = 0xFF  # SQLite's extended result codes carry the plain one in their lowest byte


class Guard(Protocol):
    """Watches a file that is open for writing; see `engine.project.file.guard`."""

    def check(self) -> None:
        """Before any use outside a transaction."""

    def begin(self, connection: "Connection") -> None:
        """Right after a transaction began."""

    def before_commit(self, connection: "Connection") -> None:
        """Right before it is committed."""

    def after_commit(self) -> None:
        """Right after it was committed."""

    def after_failure(self) -> None:
        """After it was taken back."""


class _WrittenMeanwhileError(Exception):
    """SQLite restarted a copy because the file was written to."""


@final
class Connection:
    """A SQLite connection whose calls raise the errors of `engine.errors`; thread-safe by a lock.

    Args:
        path: for error messages.
        address: for SQLite; a `file:` address for read-only modes.
    """

    def __init__(self, path: Path, address: str) -> None:
        self.path = path
        self.guard: Guard | None = None  # watches the file, unless it is private
        try:
            self._sqlite = sqlite3.connect(
                address,
                uri=True,
                timeout=BUSY_TIMEOUT_S,
                isolation_level=None,
                check_same_thread=False,
            )
        except sqlite3.Error as error:
            raise translated(error, path) from error

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._sqlite.in_transaction

    def rows(self, sql: str, values: Values = ()) -> list[Row]:
        """All rows of a query."""
        return self._execute(sql, values, sqlite3.Cursor.fetchall)

    def each(self, sql: str, values: Values = ()) -> Iterator[Row]:
        """Iterate over the rows of a query, without all of them in memory."""
        self._check()
        try:
            yield from self._sqlite.execute(sql, values)
        except (sqlite3.Error, UnicodeError) as error:
            raise translated(error, self.path) from error

    def row(self, sql: str, values: Values = ()) -> Row | None:
        """First row of a query, or None."""
        return self._execute(sql, values, sqlite3.Cursor.fetchone)

    def value(self, sql: str, values: Values = ()) -> Any:
        """First column of the first row, or None."""
        found = self.row(sql, values)
        return None if found is None else found[0]

    def write(self, sql: str, values: Values = ()) -> int:
        """Run one statement and return the key of the row it inserted, if it did."""
        return self._execute(sql, values, lambda cursor: cursor.lastrowid or 0)

    def _execute(self, sql: str, values: Values, fetch: Callable[[sqlite3.Cursor], T]) -> T:
        self._check()
        try:
            return fetch(self._sqlite.execute(sql, values))
        except (sqlite3.Error, UnicodeError) as error:
            raise translated(error, self.path) from error

    def write_many(self, sql: str, rows: Iterable[Values]) -> None:
        """Run one statement for each row."""
        self._check()
        try:
            self._sqlite.executemany(sql, rows)
        except (sqlite3.Error, UnicodeError) as error:
            raise translated(error, self.path) from error

    def script(self, sql: str) -> None:
        """Run several statements, inside the open transaction if there is one."""
        for statement in sql.split(";"):
            if statement.strip():
                self.write(statement)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit the block atomically. An open transaction is joined."""
        if self.in_transaction:
            yield
            return
        self.write("BEGIN IMMEDIATE")
        guard = self.guard
        try:
            if guard is not None:
                guard.begin(self)
            yield
            if guard is not None:
                guard.before_commit(self)
            self.write("COMMIT")
        except BaseException:
            try:
                self.roll_back()
            finally:
                if guard is not None:
                    guard.after_failure()
            raise
        if guard is not None:
            guard.after_commit()

    @contextmanager
    def one_moment(self) -> Iterator[None]:
        """Let all queries of the block see one snapshot of the file."""
        if self.in_transaction:
            yield
            return
        self.write("BEGIN")
        try:
            yield
        finally:
            self.roll_back()

    def roll_back(self) -> None:
        """Roll back; SQLite has already done so after some errors, such as a full disk."""
        if self.in_transaction:
            self.write("ROLLBACK")

    def _check(self) -> None:
        if self.guard is not None and not self._sqlite.in_transaction:
            self.guard.check()

    def copy_to(self, target: "Connection") -> None:
        """Copy the whole database, as of now, into another connection."""
        try:
            self._sqlite.backup(target._sqlite)  # noqa: SLF001 (same class)
        except sqlite3.Error as error:
            raise translated(error, target.path) from error

    def copy_in_parts_to(
        self, target: "Connection", pages: int, on_part: Callable[[int, int], None]
    ) -> bool:
        """Copy the database over another connection's in parts, between which others may write.

        `on_part` is called after each with copied and total pages; an error of it ends the copying.
        Returns whether the copy is whole: nothing was written meanwhile.
        """
        least_left: float = math.inf

        def take_note(_status: int, left: int, total: int) -> None:
            nonlocal least_left
            on_part(total - left, total)
            if left > least_left:
                raise _WrittenMeanwhileError
            least_left = left

        try:
            other = target._sqlite  # noqa: SLF001
            self._sqlite.backup(other, pages=pages, progress=take_note, sleep=0.001)
        except _WrittenMeanwhileError:
            return False
        except sqlite3.Error as error:
            raise translated(error, target.path) from error
        return True

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """Let all queries of the block see one snapshot; a writer waits to commit."""
        self.write("BEGIN")
        try:
            yield
        finally:
            self.roll_back()

    def close(self) -> None:
        """Close; closing twice is fine."""
        try:
            self._sqlite.close()
        except sqlite3.Error as error:
            raise translated(error, self.path) from error


@contextmanager
def unsafe_target(path: Path) -> Iterator[Connection]:
    """An empty database to copy into, without journal and flushes: deleted on failure."""
    with closing(Connection(path, str(path))) as target:
        target.value("PRAGMA journal_mode = OFF")
        target.write("PRAGMA synchronous = OFF")
        yield target


def translated(error: Exception, path: Path) -> Exception:
    """Convert an error of SQLite; bugs are returned unchanged."""
    if isinstance(error, UnicodeEncodeError):
        return InputError(
            "a text cannot be stored", expected="valid Unicode", found=repr(str(error))
        )
    code = getattr(error, "sqlite_errorcode", None)
    if is_full(path, error):
        return disk_full(path)
    # found by Python
    is_no_text = code is None and isinstance(error, UnicodeDecodeError | sqlite3.OperationalError)
    if is_no_text or (code == sqlite3.SQLITE_ERROR and str(error).startswith(_STRANGE_PARTS)):
        return damaged_error(path, str(error))
    make = None if code is None else _CONSTRAINTS.get(code) or _ERRORS.get(code & _BASE_CODE)
    return error if make is None else make(path, str(error))


def file_and_reason(path: Path, reason: str) -> Message:
    """What was found: a file, and in parentheses what is wrong with it."""
    why = reason if isinstance(reason, Message) else Message(reason)
    return Message("{path} ({reason})", {"path": path, "reason": why})


def damaged_error(path: Path, reason: str) -> ProtoleafError:
    """The error for a project file that is not sound."""
    return ProjectDamagedError(
        "the project file is damaged",
        found=file_and_reason(path, reason),
        remedy="restore a backup or open an earlier copy of the file; the damaged file is left as "
        "it is",
    )


def _locked(path: Path, _reason: str) -> ProtoleafError:
    return ProjectLockedError(
        "the project is busy in another program",
        found=str(path),
        remedy="close it there, then try again",
    )


def _read_only(path: Path, _reason: str) -> ProtoleafError:
    return ProjectReadOnlyError(
        "the project cannot be changed",
        found=str(path),
        remedy="open it for reading only, or copy it to a writable folder",
    )


def _unreachable(path: Path, reason: str) -> ProtoleafError:
    return StorageError(
        "the project file cannot be read or written",
        found=file_and_reason(path, reason),
        remedy="check that its folder is still there and may be written to",
    )


def _too_big(path: Path, _reason: str) -> ProtoleafError:
    return StorageError(
        "a value is too large for the project file; nothing was changed",
        expected="at most 1 GB",
        found=str(path),
        remedy="store it outside the project",
    )


def _not_storable(path: Path, reason: str) -> ProtoleafError:
    return InputError(
        "a value is too long or of a type that project files cannot store; nothing was changed",
        found="{reason} in {path}",
        remedy="shorten or correct it",
        reason=reason,
        path=path,
    )


_STRANGE_PARTS = ("no such table", "no such column", "unsupported file format", "malformed")
_CONSTRAINT_DATATYPE = sqlite3.SQLITE_CONSTRAINT | 12 << 8  # Python does not name it
_CONSTRAINTS = {
    sqlite3.SQLITE_CONSTRAINT_CHECK: _not_storable,
    _CONSTRAINT_DATATYPE: _not_storable,
    sqlite3.SQLITE_CONSTRAINT_NOTNULL: _not_storable,
}
_ERRORS = {
    sqlite3.SQLITE_TOOBIG: _too_big,
    sqlite3.SQLITE_IOERR: _unreachable,
    sqlite3.SQLITE_CANTOPEN: _unreachable,
    sqlite3.SQLITE_PERM: _unreachable,
    sqlite3.SQLITE_CORRUPT: damaged_error,
    sqlite3.SQLITE_NOTADB: damaged_error,
    sqlite3.SQLITE_READONLY: _read_only,
    sqlite3.SQLITE_BUSY: _locked,
    sqlite3.SQLITE_LOCKED: _locked,
}
