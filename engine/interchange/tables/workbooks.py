"""Reads the sheets of workbooks: Excel (.xlsx, .xls) and LibreOffice (.ods).

The library stores a sheet as a full grid, from the first filled cell to the last: a file of a
kilobyte with a cell in the farthest corner would take all memory. So a workbook is unpacked here
first, within limits, and its cells are counted.
"""

import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time
from typing import IO, final
from xml.parsers import expat

from engine.errors import FormatError
from engine.interchange import limits
from engine.interchange.archives import BROKEN_ARCHIVE, check_file_count
from engine.interchange.tables.recognise import Row

WORKBOOK_SUFFIXES = (".xlsx", ".xlsm", ".xls", ".ods")
_OLD_EXCEL = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # magic number of Excel 97
_CONTENT = "content.xml"  # of a LibreOffice workbook
_EXCEL = "xl/workbook.xml"
_REFERENCE = re.compile(rb"""\br\s*=\s*["']([A-Za-z]{0,3})(\d+)["']""")
_ODD_REFERENCE = re.compile(rb"""\br\s*=\s*(?:"[^"]*&|'[^']*&)""")
_ROW = re.compile(rb"<(?:\w+:)?row\b")
_CELL = re.compile(rb"<(?:\w+:)?c\b")
_ROW_END = re.compile(rb"</(?:\w+:)?row\b")
_LETTERS = 26
_DIGITS = 9  # of a row's number that are read; sheets have a million rows
_TAGS_OF_CELL = 6  # more than a cell with a value has
_CELLS_OF_MERGED = 20  # memory of a merged range, in cells, at most
_CELL_TAGS = frozenset({"table:table-cell", "table:covered-table-cell"})


def is_workbook(file: IO[bytes]) -> bool:
    """Whether an open file is a workbook; its position stays at the beginning."""
    head = file.read(len(_OLD_EXCEL))
    file.seek(0)
    if head == _OLD_EXCEL:
        return True
    if not head.startswith(b"PK"):
        return False
    try:
        with zipfile.ZipFile(file) as archive:
            names = archive.NameToInfo
            return _EXCEL in names or (_CONTENT in names and "mimetype" in names)
    except (*BROKEN_ARCHIVE, ValueError):
        return False
    finally:
        file.seek(0)


def sheets_of(file: IO[bytes], name: str) -> Iterator[tuple[str, Iterable[Row]]]:
    """Read the names and rows of the visible sheets.

    Args:
        file: open at its beginning.
        name: for errors.

    Raises:
        FormatError: it cannot be read, has a password, or is too large.
    """
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetVisibleEnum

    data = _checked(file, name)
    try:
        with CalamineWorkbook.from_filelike(io.BytesIO(data)) as book:
            for sheet in book.sheets_metadata:
                if sheet.visible == SheetVisibleEnum.Visible:
                    found = book.get_sheet_by_name(sheet.name)
                    first_column = (found.start or (0, 0))[1]
                    merged = {
                        (top, left - first_column): bottom
                        for (top, left), (bottom, right) in found.merged_cell_ranges or ()
                        if left == right
                    }
                    yield sheet.name, list(_rows(found.iter_rows(), merged))
    except PasswordError as error:
        raise _unreadable(name, "it has a password") from error
    except (CalamineError, ValueError, OSError) as error:
        raise _unreadable(name, str(error)[:200]) from error


def _rows(rows: Iterable[Sequence[object]], merged: Mapping[tuple[int, int], int]) -> Iterator[Row]:
    """Rows that are not blank; vertically merged cells all have the text of the first.

    Args:
        rows: of the sheet.
        merged: last row of merged cells, by row and column of the first, all from 0.
    """
    above: dict[int, tuple[int, str]] = {}  # last row and text of merged cells, by column
    for number, row in enumerate(rows, start=1):
        cells = [_text(cell) for cell in row]
        for at, cell in enumerate(cells):
            bottom, text = above.get(at, (0, ""))
            cells[at] = cell or (text if number <= bottom else "")
            if (last := merged.get((number - 1, at))) is not None:
                above[at] = last + 1, cell
        if any(cell.strip() for cell in cells):
            yield number, cells


def _text(cell: object) -> str:
    """Format a cell: 12.0 as 12, a date without its midnight."""
    match cell:
        case bool():
            return "true" if cell else "false"
        case float() if cell.is_integer():
            return str(int(cell))
        case datetime() if cell.time() == time():
            return cell.date().isoformat()
        case datetime() | date() | time():
            return cell.isoformat()
        case _:
            return str(cell)


def _checked(file: IO[bytes], name: str) -> bytes:
    """Copy a workbook whose cells fit in memory, without compression."""
    head = file.read(len(_OLD_EXCEL))
    file.seek(0)
    if head == _OLD_EXCEL:
        data = file.read(limits.WORKBOOK_BYTES.most + 1)
        limits.WORKBOOK_BYTES.check(len(data), name)
        return data
    unpacked = io.BytesIO()
    try:
        check_file_count(file, name)
        with zipfile.ZipFile(file) as archive, zipfile.ZipFile(unpacked, "w") as copy:
            size_bytes = 0
            for each in archive.infolist():
                if not each.filename.endswith((".xml", ".rels", "mimetype")):
                    continue
                size_bytes += each.file_size
                limits.WORKBOOK_BYTES.check(size_bytes, name)
                part = archive.read(each)  # no more than the declared size
                is_content = each.filename == _CONTENT and _EXCEL not in archive.NameToInfo
                _check_cells(part, name, is_content=is_content)
                copy.writestr(each.filename, part)
    except BROKEN_ARCHIVE as error:
        raise _unreadable(name, str(error)[:200]) from error
    return unpacked.getvalue()


def _check_cells(part: bytes, name: str, *, is_content: bool) -> None:
    if b"<!DOCTYPE" in part:
        raise _unreadable(name, "a document type")
    cells = _cells_of_ods(part, name) if is_content else _cells_of_excel(part)
    cells = max(
        cells, part.count(b"<") // _TAGS_OF_CELL, _CELLS_OF_MERGED * part.count(b"mergeCell")
    )
    limits.WORKBOOK_CELLS.check(cells, name)


def _cells_of_excel(part: bytes) -> int:
    """Upper bound of the grid of a sheet, by references and number of its cells."""
    if _ODD_REFERENCE.search(part):
        return limits.WORKBOOK_CELLS.most + 1
    rows, columns = len(_ROW.findall(part)), 0
    for letters, digits in _REFERENCE.findall(part):
        rows = max(rows, int(digits[:_DIGITS]))
        columns = max(columns, _column_number(letters))
    return rows * max(columns, *(len(_CELL.findall(row)) for row in _ROW_END.split(part)), 1)


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters.upper():
        number = number * _LETTERS + letter - ord("A") + 1
    return number


def _cells_of_ods(part: bytes, name: str) -> int:
    """The cells of the largest sheet, with repeated ones."""
    counter = _CellCounter()
    try:
        counter.parse(part)
    except (expat.ExpatError, ValueError) as error:
        raise _unreadable(name, str(error)) from error
    return counter.most


@final
class _CellCounter:
    """Counts the cells of LibreOffice sheets up to the last filled one."""

    def __init__(self) -> None:
        self.most = 0  # of one sheet
        self._rows = 0  # of the current sheet, with blank ones
        self._width = 0  # of its widest row
        self._times = 1  # repetitions of the current row
        self._at = 0  # cells of the row so far
        self._filled = 0  # index of its last filled cell

    def parse(self, part: bytes) -> None:
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.Parse(part, True)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "table:table":
            self._rows = self._width = 0
        elif tag == "table:table-row":
            self._at = self._filled = 0
            self._times = int(attributes.get("table:number-rows-repeated", "1"))
        elif tag in _CELL_TAGS:
            self._at += int(attributes.get("table:number-columns-repeated", "1"))
            if "office:value-type" in attributes:
                self._filled = self._at
        elif tag == "text:p":
            self._filled = self._at

    def _end(self, tag: str) -> None:
        if tag != "table:table-row":
            return
        self._rows += self._times
        if self._filled:
            self._width = max(self._width, self._filled)
            self.most = max(self.most, self._rows * self._width)


def _unreadable(name: str, found: str) -> FormatError:
    return FormatError(
        "the workbook {name} cannot be read",
        expected="a workbook of Excel or LibreOffice without a password",
        found=found,
        remedy="open it, and save its sheet as CSV",
        name=name,
    )
