"""Open tables: text, a workbook, or one table in a ZIP archive; preview their columns."""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path, PurePosixPath
from typing import IO

from engine.errors import FormatError, StorageError, UsageError
from engine.interchange import limits
from engine.interchange.archives import is_archive, is_system_file, opened_archive, reading
from engine.interchange.table_writer import unguarded
from engine.interchange.tables.dialects import TablePurpose
from engine.interchange.tables.recognise import (
    ColumnLayout,
    Row,
    cell_at,
    layout_of,
    partial_layout,
)
from engine.interchange.tables.workbooks import WORKBOOK_SUFFIXES, is_workbook, sheets_of
from engine.interchange.text_file import (
    SURROGATES,
    UTF_8,
    WESTERN,
    encoding_of_text,
    opened_file,
    text_lines,
)
from engine.texts import Message, enumerated, line_of, marked

SEPARATORS = ("\t", ",", ";", "|")
SAMPLE_ROWS = 50
TITLE_ROWS = 20
"""Rows that are searched for the header, which may be below titles and notes. Chosen."""
TABLE_FILES = frozenset({".csv", ".tsv", ".txt", ".tab", *WORKBOOK_SUFFIXES})

PREVIEW_ROWS = 4
_FEWEST_COLUMNS = 2  # of a table; one column is a list
RANK = "rank:"  # prefix of a rank in `ColumnPreview.meanings`
LANGUAGE = "language:"  # prefix of a language code there
LINE = marked("line {number} of {name}")
Fits = Callable[[Sequence[str], Sequence[Row]], bool]
"""Whether a row may be the header, by the rows below it."""


@dataclass(frozen=True)
class Table:
    """An open table; its rows can be iterated once."""

    name: str  # of its file, perhaps with that of its sheet, for messages
    columns: tuple[str, ...]  # of the header; () without rows
    rows: Iterator[Row]  # below the header, without blank ones
    sample: tuple[Row, ...]  # the first of these
    header_line: int = 1
    encoding: str = ""  # of its text; "" for a workbook
    place: str = LINE  # template of a row in messages

    def place_of(self, number: int) -> str:
        """A row in messages."""
        return Message(self.place, {"number": number, "name": self.name, "source_name": self.name})

    @property
    def all_rows(self) -> Iterator[Row]:
        """The rows with the header, for a table without one."""
        return chain([(self.header_line, self.columns)] if self.columns else [], self.rows)


@contextmanager
def opened_table(
    source: Path,
    fits: Fits = lambda _columns, _rows: True,
    *,
    called: str = "",
    fallback: str = WESTERN,
    limit: limits.Limit = limits.TABLE_BYTES,
) -> Iterator[Table]:
    """Open a table: CSV, or text with tabs, semicolons or bars; a workbook; a ZIP archive of one.

    The header is the first row that fits, else the first row. The sheet of a workbook is the first
    one with a header.

    Args:
        source: its file.
        fits: see `Fits`.
        called: its name in messages; the file's by default.
        fallback: encoding of text that is not UTF-8; "surrogateescape" preserves invalid bytes.
        limit: of its unpacked bytes.

    Raises:
        FormatError: it is not a table, or exceeds a limit of `engine.interchange.limits`.
        StorageError: it cannot be read.
    """
    noun = called or source.name
    with ExitStack() as stack:
        file: IO[bytes] = stack.enter_context(opened_file(source, noun, limit))
        if not is_workbook(file) and is_archive(file):
            with reading(source, "{source} is not an archive that can be read"):
                archive = stack.enter_context(opened_archive(source))
                noun = _only_table(archive.namelist(), noun)
                limit.check(archive.getinfo(noun).file_size, noun)
                file = stack.enter_context(archive.open(noun))
        if is_workbook(file):
            yield _first_fitting(sheets_of(file, noun), fits, noun)
        else:
            encoding = encoding_of_text(file, noun, fallback)
            errors = SURROGATES if encoding == UTF_8 and fallback == SURROGATES else "strict"
            lines = stack.enter_context(closing(text_lines(file, noun, encoding, errors=errors)))
            yield text_table(lines, noun, fits, encoding)


def table_of(name: str, rows: Iterable[Row], fits: Fits, *, encoding: str = "") -> Table | None:
    """Make a table of rows from the first one that fits as header; None without one."""
    rest = iter(rows)
    first = list(islice(rest, TITLE_ROWS + SAMPLE_ROWS))
    at = _header_place([cells for _, cells in first], first, fits)
    if at is None:
        return None
    line, columns = first[at]
    below = first[at + 1 :]
    rows_below = limits.at_most(chain(below, rest), name)
    return Table(
        name,
        tuple(cell.strip() for cell in columns),
        rows_below,
        tuple(below[:SAMPLE_ROWS]),
        line,
        encoding,
    )


def _header_place(cells: Sequence[Sequence[str]], rows: Sequence[Row], fits: Fits) -> int | None:
    """Index of the header, which has more cells than the titles above it."""
    widest = 0
    for at, row in enumerate(cells[:TITLE_ROWS]):
        filled = sum(bool(cell.strip()) for cell in row)
        if filled > widest and fits(row, rows[at + 1 : at + 1 + SAMPLE_ROWS]):
            return at
        widest = max(widest, filled)
    return None


def _first_fitting(sheets: Iterable[tuple[str, Iterable[Row]]], fits: Fits, noun: str) -> Table:
    first: Table | None = None
    for name, rows in sheets:
        held = list(limits.at_most(rows, noun))
        if found := table_of(f"{noun}, {name}", held, fits):
            return found
        first = first or _without_header(f"{noun}, {name}", held)
    return first or Table(noun, (), iter(()), ())


def text_table(lines: Iterator[str], noun: str, fits: Fits, encoding: str = "") -> Table:
    """Make a table of text with the separator that fits the header."""
    first = list(islice(lines, TITLE_ROWS + SAMPLE_ROWS))
    separators: list[tuple[int, str]] = []
    for separator in SEPARATORS:
        try:
            rows = list(text_rows(first, noun, separator, is_strict=False))
        except FormatError:
            continue  # too long cells indicate the wrong separator
        at = _header_place([cells for _, cells in rows], rows, fits)
        separators += [] if at is None else [(len(rows[at][1]), separator)]
    widest = max((width for width, _ in separators), default=0)
    separator = next((each for width, each in separators if width == widest), "")
    read = text_rows(chain(first, lines), noun, separator or _likely_separator(first))
    found = table_of(noun, read, fits, encoding=encoding) if separator else None
    return found or _without_header(noun, read, encoding)


def _without_header(noun: str, rows: Iterable[Row], encoding: str = "") -> Table:
    """Make a table with the first row as header."""
    found = table_of(noun, rows, lambda _columns, _rows: True, encoding=encoding)
    return found or Table(noun, (), iter(()), (), encoding=encoding)


def _likely_separator(lines: Sequence[str]) -> str:
    """The most frequent separator in the first line with text."""
    line = next((each for each in lines if not is_preamble([each])), "")
    return max(SEPARATORS, key=line.count)


def is_preamble(cells: Sequence[str]) -> bool:
    """Whether a row is blank, or `sep=;`, which some spreadsheets write."""
    return not any(cell.strip() for cell in cells) or cells[0].strip().casefold().startswith("sep=")


def text_rows(
    lines: Iterable[str], noun: str, separator: str, quote: str = '"', *, is_strict: bool = True
) -> Iterator[Row]:
    """Parse rows to line numbers and cells, without blank rows and guarding apostrophes.

    With tabs, a quote may be part of the text, as in GBIF's tables: only quoted cells are unquoted.

    Args:
        lines: with their line ends.
        noun: name of the table, for errors.
        separator: of cells.
        quote: of cells; "" for none.
        is_strict: whether unclosed quotes are errors.

    Raises:
        FormatError: a row is invalid.
    """
    has_quotes = bool(quote) and separator != "\t"
    reader = csv.reader(
        lines,
        delimiter=separator,
        quotechar=quote or None,
        strict=is_strict,
        quoting=csv.QUOTE_MINIMAL if has_quotes else csv.QUOTE_NONE,
    )
    try:
        for cells in reader:
            if not is_preamble(cells):
                plain = cells if has_quotes else (_unquoted(cell, quote) for cell in cells)
                yield reader.line_num, [unguarded(cell) for cell in plain]
    except csv.Error as error:
        place = line_of(reader.line_num, noun)
        raise FormatError(
            "{place} cannot be read as a table",
            found=str(error),
            remedy="check the quotes",
            place=place,
        ) from error


def _unquoted(cell: str, quote: str) -> str:
    is_quoted = bool(quote) and len(cell) > 1 and cell.startswith(quote) and cell.endswith(quote)
    return cell[1:-1].replace(2 * quote, quote) if is_quoted else cell


def _only_table(names: Sequence[str], noun: str) -> str:
    tables = [
        each
        for each in names
        if not is_system_file(each) and PurePosixPath(each).suffix.casefold() in TABLE_FILES
    ]
    if len(tables) != 1:
        raise FormatError(
            "{noun} does not specify which of its files is the table",
            expected="an archive of one table",
            found=enumerated(tables[:5]) or "no table",
            remedy="unpack it, and choose the table",
            noun=noun,
        )
    return tables[0]


@dataclass(frozen=True)
class ColumnPreview:
    """The first rows of a table, and the recognised roles of its columns.

    Attributes:
        columns: their names.
        rows: cells of the first rows, one for each column.
        meanings: of each column: role, `RANK` and rank, `LANGUAGE` and code, or "" if it is unused.
        is_clear: whether all needed columns are recognised.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    meanings: tuple[str, ...]
    is_clear: bool

    @property
    def header(self) -> str:
        """Key of tables with these columns."""
        return "\t".join(self.columns)


def preview_columns(
    source: Path, purpose: TablePurpose, given: Mapping[str, str] | None = None
) -> ColumnPreview | None:
    """Preview the columns of a file; None if it is not a table with a header.

    Args:
        source: a file or folder.
        purpose: of reading it.
        given: column by role or rank, set by the user.

    Raises:
        UsageError: a role or column in `given` does not exist.
    """
    if not source.is_file() or source.suffix.casefold() not in TABLE_FILES:
        return None

    def fits(columns: Sequence[str], rows: Sequence[Row]) -> bool:
        try:
            return layout_of(columns, rows, purpose, given) is not None
        except UsageError:  # another separator may have the column
            return False

    try:
        with opened_table(source, fits) as table:
            layout = partial_layout(table.columns, table.sample, purpose, given)
            if len(table.columns) < _FEWEST_COLUMNS or not layout.has_header:
                return None
            count = range(len(table.columns))
            rows = tuple(
                tuple(cell_at(cells, at) for at in count)
                for _, cells in table.sample[:PREVIEW_ROWS]
            )
            is_clear = layout_of(table.columns, table.sample, purpose, given) is not None
            return ColumnPreview(table.columns, rows, _meanings(layout, len(count)), is_clear)
    except (FormatError, StorageError):
        return None


def _meanings(layout: ColumnLayout, count: int) -> tuple[str, ...]:
    found = [""] * count
    for code, at in layout.vernacular:
        found[at] = LANGUAGE + code
    for rank, at in layout.ranks:
        found[at] = RANK + rank
    for role, at in layout.columns.items():
        found[at] = found[at] or role.value
    return tuple(found)
