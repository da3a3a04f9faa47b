"""Guards an open project file: nothing is acknowledged that is not in the file of this name.

SQLite goes on in a file that was renamed, replaced or deleted, and applies any log next to the
name. So before every use the guard checks whether the name still leads to the opened file and
whether a foreign log appeared, and in every transaction whether the last commit was made by this
program.
"""

import logging
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from typing import final

from engine.config import backups_folder
from engine.errors import ProjectDamagedError, ProjectMovedError, ProtoleafError, StorageError
from engine.project.connection import Connection
from engine.project.file.file_lock import FileLock, copy_bytes
from engine.project.file.file_state import FileMark, put_seal, read_mark, reader_of, write_mark
from engine.project.file.on_disk import (
    JOURNAL_SUFFIX,
    LOG_SUFFIX,
    Identity,
    address,
    identity_of,
    is_hot,
    set_aside,
    side_file,
)

_log = logging.getLogger(__name__)


@final
class FileGuard:
    """Watches a project file that is open for writing, and the name under which it was opened."""

    def __init__(self, path: Path, lock: FileLock) -> None:
        self._path = path
        self._lock = lock
        self._rescued: Path | None = None
        self._foreign_log = side_file(path, LOG_SUFFIX)
        self._journal = side_file(path, JOURNAL_SUFFIX)
        self._own_journal: Identity | None = None
        self._mark: FileMark | None = None
        self._overwritten: ProjectMovedError | None = None

    @property
    def has_stopped(self) -> bool:
        """Whether nothing more can be saved, which an error has reported."""
        return self._overwritten is not None or self._rescued is not None

    def check(self) -> None:
        """Before any use outside a transaction.

        Raises:
            ProjectMovedError: the name does not lead to the opened file, or it was modified.
        """
        if self._overwritten is not None:
            raise self._overwritten
        self._check_place()
        if identity_of(self._foreign_log) is not None:
            self._put_away(self._foreign_log)
        journal = identity_of(self._journal)
        if journal is not None and journal != self._own_journal:
            if is_hot(self._journal):
                self._put_away(self._journal)
            else:
                self._own_journal = journal

    def begin(self, connection: Connection) -> None:
        """Check at the start of a transaction that the last commit was ours, and count the new one.

        The mark is written first, so that a journal left by a kill begins with it and can be
        identified.
        """
        mark = self._present_mark(connection)
        if self._mark is not None and mark != self._mark:
            self._overwritten = _overwritten_error(self._path)
            raise self._overwritten
        self._mark = mark
        write_mark(connection, mark.next)

    def before_commit(self, connection: Connection) -> None:
        """Right before a transaction is committed."""
        if identity_of(self._path) != self._lock.identity:
            connection.roll_back()  # what is rescued must be whole
            self._check_place()

    def after_commit(self) -> None:
        """Right after a transaction was committed: only then it may be acknowledged."""
        assert self._mark is not None, "a transaction begins before it ends"
        self._mark = self._mark.next
        self._own_journal = identity_of(self._journal)
        self._check_place()

    def after_failure(self) -> None:
        """After a transaction was taken back: what it left of its journal is our own."""
        self._own_journal = identity_of(self._journal)

    def _check_place(self) -> None:
        if identity_of(self._path) != self._lock.identity:
            raise self._moved_error()
        self._rescued = None  # it is back, if it was away: another move wants another copy

    def _moved_error(self) -> ProjectMovedError:
        remedy = "move it back, or open it at its new location"
        if self._rescued is None:
            try:
                self._rescued = _rescue(self._path, self._lock)
            except ProtoleafError as error:
                _log.warning("no rescue copy: %s", error)
        if self._rescued is not None:
            remedy = "everything saved until then is in {rescued}: open that, or move the file back"
        return ProjectMovedError(
            "the project file was moved, replaced or deleted while it was open, so nothing more is "
            "saved in it",
            found="another file, or none, at {path}",
            remedy=remedy,
            path=self._path,
            rescued=self._rescued,
        )

    def _present_mark(self, connection: Connection) -> FileMark:
        try:
            return read_mark(connection)
        except ProjectDamagedError as error:
            if self._mark is None:
                raise
            self._overwritten = _overwritten_error(self._path)
            raise self._overwritten from error

    def _put_away(self, path: Path) -> None:
        where = set_aside(path)
        _log.warning(
            "%s appeared next to the open project and belongs to another project; it is now %s",
            path.name,
            where.name,
        )


def _overwritten_error(path: Path) -> ProjectMovedError:
    return ProjectMovedError(
        "another program wrote into the project file while it was open; the last action was not "
        "saved",
        found=str(path),
        remedy="close it, open it again and check its content, or restore a backup",
    )


def _rescue(path: Path, lock: FileLock) -> Path:
    """Copy the opened file next to its old name, or to the backups where that folder is missing.

    The copy is called `birds (rescued 2026-01-02 03-04-05).protoleaf`. Raises `StorageError` if it
    cannot be written or is not whole.
    """
    stamp = datetime.now().astimezone().strftime("%Y-%m-%d %H-%M-%S")
    failure: StorageError | None = None
    for folder in (path.parent, backups_folder()):
        try:
            if folder is not path.parent:
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            return _rescued(path, folder, stamp, lock)
        except (OSError, StorageError) as error:
            failure = StorageError("the project could not be rescued", found=f"{folder} ({error})")
    assert failure is not None, "one of two folders was tried"
    raise failure


def _rescued(path: Path, folder: Path, stamp: str, lock: FileLock) -> Path:
    copy = copy_bytes(lock, folder, f"{path.stem} (rescued {stamp})", path.suffix)
    try:
        _verify(copy, path)
    except BaseException:
        with suppress(OSError):
            copy.unlink(missing_ok=True)
        raise
    return copy


def _verify(copy: Path, path: Path) -> None:
    with closing(Connection(copy, address(copy, "mode=rw"))) as connection:
        if connection.value("PRAGMA integrity_check") != "ok":
            raise StorageError(
                "the rescue copy is not whole",
                found=str(copy),
                remedy="keep it next to {path}",
                path=path,
            )
        put_seal(connection, reader_of(copy))
