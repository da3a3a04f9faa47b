"""Reads SQLite's rollback journal: whose unfinished commit is it?

A journal holds the pages of a file as they were before the commit that was being made. Our commits change the mark of
the file first (`engine.project.file.guard`), so the first page in a journal of ours is the one that holds it.
"""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.project.file.file_state import FileMark
from engine.project.file.set_aside import JOURNAL_MAGIC
from engine.regular_file import open_regular

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
