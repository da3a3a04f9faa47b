"""Logs that lie beside a project before it is opened: its own are for SQLite to finish, all others are set aside.

A kill in the middle of a commit leaves a journal, and the file is whole only together with it. But a journal, or a
write-ahead log of an older version of the program, also stays behind when somebody puts a backup in the file's place,
and SQLite would apply it to that without asking. A log that does not belong is renamed, never applied, never deleted.
"""

import logging
import os
import shutil
import struct
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.errors import ProtoleafError
from engine.files import open_regular
from engine.new_folder import scratch_folder
from engine.project.connection import Connection, Row
from engine.project.file.file_state import FileMark, Seal, has_seal, mark_of, read_mark, reader_of, seal_of
from engine.project.file.on_disk import (
    JOURNAL_MAGIC,
    JOURNAL_SUFFIX,
    LOG_SUFFIX,
    address,
    has_write_ahead_log,
    is_hot,
    set_aside,
    side_file,
)
from engine.project.schema import SCHEMA_VERSION
from engine.project.soundness import faults

_HEADER: Final = struct.Struct(">8sIIIII")  # magic, records, nonce, pages before, sector size, page size
_PAGE_NUMBER: Final = struct.Struct(">I")
_SMALLEST_PAGE_BYTES: Final = 512
_LARGEST_PAGE_BYTES: Final = 65536


@dataclass(frozen=True)
class JournalStart:
    """The beginning of a journal.

    Attributes:
        record_count: how many pages it holds, as far as they were flushed.
        page_bytes: size of a page of its file.
        page_number: which page its first record holds, counted from 1.
        page: what that page held before the commit.
    """

    record_count: int
    page_bytes: int
    page_number: int
    page: bytes

    def mark_of(self, identity: bytes) -> FileMark | None:
        """The mark of a project in the first page; None where the page holds no mark of this project."""
        place = self.page.find(identity)
        mark = self.page[place:] if place >= 0 else b""
        return FileMark.from_bytes(mark) if len(mark) >= len(bytes(FileMark(identity, 0))) else None


def read_journal_start(path: Path) -> JournalStart | None:
    """Read the beginning of a journal; None where it is no journal or holds no whole page."""
    try:
        with open_regular(path) as file:
            header = file.read(_HEADER.size)
            if len(header) < _HEADER.size:
                return None
            magic, record_count, _nonce, _pages, sector_bytes, page_bytes = _HEADER.unpack(header)
            if magic != JOURNAL_MAGIC or not _SMALLEST_PAGE_BYTES <= page_bytes <= _LARGEST_PAGE_BYTES:
                return None
            file.seek(min(sector_bytes, _LARGEST_PAGE_BYTES))
            record = file.read(_PAGE_NUMBER.size + page_bytes)
    except OSError:
        return None
    if len(record) < _PAGE_NUMBER.size + page_bytes:
        return None
    (page_number,) = _PAGE_NUMBER.unpack_from(record)
    return JournalStart(record_count, page_bytes, page_number, record[_PAGE_NUMBER.size :])


_log = logging.getLogger(__name__)
_STEPS: Final = "SELECT step_id, text, done_at FROM journal_step ORDER BY step_id"
_PAGES_OF_A_SEAL: Final = 2  # sealing changes the header and the row with the mark, and nothing that anybody made
_EMPTY_LOG_BYTES: Final = 32  # a write-ahead log's header without any page


def settle_logs(path: Path) -> tuple[Path, ...]:
    """Leave a project with no other logs than its own, before SQLite opens it for writing.

    Args:
        path: the project file, locked.

    Returns:
        The new paths of logs that were set aside.

    Raises:
        StorageError: a log that does not belong cannot be renamed.
    """
    own = own_log(path)
    found = [log for suffix in (LOG_SUFFIX, JOURNAL_SUFFIX) if _would_be_applied(log := side_file(path, suffix))]
    foreign = [set_aside(log) for log in found if log != own]
    for log in foreign:
        _log.warning("a log that does not belong to %s was set aside as %s", path.name, log.name)
    if own is not None and own not in found:
        own.rename(side_file(path, JOURNAL_SUFFIX))  # the file was renamed after the kill, and its journal was not
    return tuple(foreign)


def own_log(path: Path) -> Path | None:
    """The log without which a project is not whole; None where the file alone is the truth.

    Args:
        path: the project file, which nobody writes to now.

    Returns:
        Its journal or write-ahead log; the journal may still have an earlier name of the project.
    """
    log, journal = side_file(path, LOG_SUFFIX), side_file(path, JOURNAL_SUFFIX)
    if has_write_ahead_log(path):
        return log if _would_be_applied(log) and _fits(path, log) else None
    if is_hot(journal) and _is_own(path, journal):
        return journal
    candidates = () if _has_seal(path) else _journals_without_file(path)
    return next((each for each in candidates if is_hot(each) and _is_own(path, each)), None)


@contextmanager
def private_copy(path: Path, log: Path | None) -> Iterator[Path]:
    """Copy the bare bytes of a project, and one log, to a place of one's own, for SQLite to bring together there."""
    with scratch_folder() as folder:
        copy = folder / "copy.protoleaf"
        shutil.copyfile(path, copy)
        if log is not None:
            suffix = LOG_SUFFIX if log.name.endswith(LOG_SUFFIX) else JOURNAL_SUFFIX
            shutil.copyfile(log, side_file(copy, suffix))
        yield copy


def _would_be_applied(log: Path) -> bool:
    if log.name.endswith(JOURNAL_SUFFIX):
        return is_hot(log)
    with suppress(OSError):
        return log.stat().st_size > _EMPTY_LOG_BYTES
    return False


def _has_seal(path: Path) -> bool:
    """Whether the file was closed; whether its seal holds takes reading all of it, which opening does anyway."""
    try:
        with closing(_bare(path)) as connection:
            return has_seal(connection)
    except ProtoleafError:
        return False


def _is_sealed(path: Path) -> bool:
    """Whether the file is whole as it is, without any log: its seal holds."""
    try:
        with closing(_bare(path)) as connection:
            return seal_of(connection, reader_of(path)) is Seal.WHOLE
    except ProtoleafError:
        return False


def _is_own(path: Path, journal: Path) -> bool:
    """Whether the journal is of the commit before, or in the middle of, which the file is."""
    start = read_journal_start(journal)
    mark = _bare_mark(path)
    if start is None or mark is None:
        return start is not None and _fits(path, journal)
    before = start.mark_of(mark.identity)
    if before is None:
        return mark.generation == 0 and _is_of_migration(path, journal, mark)
    if _is_sealed(path) and start.record_count > _PAGES_OF_A_SEAL:
        return mark == before and _fits(path, journal)
    return mark in (before, before.next) and _fits(path, journal)


def _journals_without_file(path: Path) -> Iterator[Path]:
    """Journals in the project's folder whose own file is gone."""
    try:
        with os.scandir(path.parent) as entries:
            names = sorted(entry.name for entry in entries if entry.name.endswith(JOURNAL_SUFFIX))
    except OSError:
        return
    for name in names:
        if not path.with_name(name.removesuffix(JOURNAL_SUFFIX)).exists():
            yield path.with_name(name)


def _bare(path: Path) -> Connection:
    """The file as it is, without any log."""
    return Connection(path, address(path, "mode=ro&immutable=1"))


def _bare_mark(path: Path) -> FileMark | None:
    try:
        with closing(_bare(path)) as connection:
            return read_mark(connection)
    except ProtoleafError:
        return None


def _fits(path: Path, log: Path) -> bool:
    """Whether file and log together make a sound project that has all the history that the file alone has.

    A log that was applied to another state of the file leaves pages that do not fit one another.
    """
    try:
        alone = [] if log.name.endswith(JOURNAL_SUFFIX) else _history(path, None)
        with private_copy(path, log) as copy, closing(Connection(path, address(copy, "mode=rw"))) as together:
            if int(together.value("PRAGMA user_version")) == SCHEMA_VERSION:
                return not faults(together, seal_of(together, reader_of(copy)))
            is_sound = together.value("PRAGMA integrity_check") == "ok"
            return is_sound and together.rows(_STEPS)[: len(alone)] == alone
    except (ProtoleafError, OSError):
        return False


def _is_of_migration(path: Path, journal: Path, mark: FileMark) -> bool:
    """Whether the journal takes back the migration by which the file got its mark: older files had none."""
    try:
        with private_copy(path, journal) as copy, closing(Connection(path, address(copy, "mode=rw"))) as before:
            is_older = int(before.value("PRAGMA user_version")) < SCHEMA_VERSION
            is_sound = before.value("PRAGMA integrity_check") == "ok"
            return is_older and is_sound and mark_of(before).identity == mark.identity
    except (ProtoleafError, OSError):
        return False


def _history(path: Path, log: Path | None) -> list[Row]:
    with private_copy(path, log) as copy, closing(Connection(path, address(copy, "mode=rw"))) as connection:
        return connection.rows(_STEPS)
