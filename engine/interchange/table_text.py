"""The text of a table that a spreadsheet or another program wrote, line by line, and what stands between its cells."""

import csv
import io
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import IO, Final

from engine.errors import FormatError, StorageError
from engine.interchange import limits
from engine.interchange.text_file import WIDE_MARKS
from engine.regular_file import open_regular

SEPARATORS: Final = (",", ";", "\t")
"""What spreadsheets put between cells, depending on the country."""
_CHUNK_BYTES: Final = 1 << 20  # looked through at once
_MARK_BYTES: Final = 4  # of the longest byte order mark


@contextmanager
def table_lines(path: Path, called: str = "") -> Iterator[Iterator[str]]:
    """The lines of a table; bytes that are no Unicode stay what they are, for names of files may hold such bytes.

    Args:
        path: UTF-8, with or without a byte order mark, or UTF-16 or UTF-32 with one.
        called: what messages call it, "the truth file"; its name by default.

    Raises:
        FormatError: it is no text, or larger than tables are.
        StorageError: it cannot be read.
    """
    noun = called or path.name
    with _opened(path, noun) as file:
        head = file.peek(_MARK_BYTES)
        wide = next((encoding for mark, encoding in WIDE_MARKS if head.startswith(mark)), "")
        errors = "strict" if wide else "surrogateescape"
        with closing(text_lines(file, noun, wide or "utf-8-sig", errors=errors)) as lines:
            yield lines


def text_lines(file: IO[bytes], name: str, encoding: str, *, errors: str = "strict") -> Generator[str]:
    """The lines of a text with their ends, each when it is asked for.

    Args:
        file: open for reading; whoever opened it closes it after this.
        name: of the file, for people.
        encoding, errors: as Python knows them.

    Raises:
        FormatError: it is no such text, or a line is longer than lines are.
        StorageError: it cannot be read.
    """
    number = 0
    try:
        text = io.TextIOWrapper(file, encoding, errors, newline="")
    except LookupError as error:
        raise FormatError("{name} is in an encoding that is not known", found=encoding[:60], name=name) from error
    try:
        while line := text.readline(limits.LONGEST_LINE + 1):
            number += 1
            if len(line) > limits.LONGEST_LINE:
                raise FormatError(
                    "line {number:,} of {name} is too long",
                    expected="at most {limit:,} characters",
                    number=number,
                    name=name,
                    limit=limits.LONGEST_LINE,
                )
            yield line
    except UnicodeError as error:
        place = f"{name}, after line {number:,}: {str(error)[:200]}"
        raise FormatError("{name} is not text", found=place, remedy="save it as UTF-8", name=name) from error
    except OSError as error:
        raise _unreadable(name, error) from error
    finally:
        text.detach()


def check_row_count(path: Path, separator: str = "", called: str = "") -> None:
    """Refuse a table of too many rows before any is held: it takes seconds to count them.

    Args:
        path: see `table_lines`.
        separator: what stands between the cells; "" where each line is a row.
        called: what messages call it.

    Raises:
        FormatError: there are too many.
        StorageError: it cannot be read.
        csv.Error: it is no table.
    """
    noun = called or path.name
    with _opened(path, noun) as file:
        is_short = not has_more(file, b"\n", limits.MOST_RECORDS)
    if not is_short:  # some of these lines may stand within cells
        with table_lines(path, called) as lines:
            all_rows: Iterable[object] = csv.reader(lines, delimiter=separator) if separator else lines
            for _ in limits.at_most(all_rows, noun):
                pass


def has_more(file: IO[bytes], mark: bytes, most: int) -> bool:
    """Whether some bytes occur more often than so many times from here on; one between two chunks is passed over."""
    count = 0
    while count <= most and (chunk := file.read(_CHUNK_BYTES)):
        count += chunk.count(mark)
    return count > most


def header_separator(lines: Iterable[str], has_columns: Callable[[Sequence[str]], bool]) -> str | None:
    """What stands between the header's cells; None where they are not the expected ones.

    Args:
        lines: of the table; blank lines and a line `sep=;` may stand in front.
        has_columns: whether these names, in small letters, are the expected ones.

    Raises:
        csv.Error: it is no table.
    """
    for line in islice(lines, limits.MOST_LINES_ABOVE):
        for separator in SEPARATORS:
            cells = next(csv.reader([line], delimiter=separator), [])
            if has_columns([cell.strip().casefold() for cell in cells]):
                return separator
        if not is_preamble([line]):
            return None
    return None


def first_line(path: Path, called: str = "") -> str:
    """The first line that is not blank, without its end; "" where there is none."""
    with table_lines(path, called) as lines:
        found = (line for line in islice(lines, limits.MOST_LINES_ABOVE) if not is_preamble([line]))
        return next(found, "").rstrip("\r\n")


def is_preamble(cells: Sequence[str]) -> bool:
    """Whether a row is blank, or the one by which some spreadsheets are told the separator."""
    return not any(cell.strip() for cell in cells) or cells[0].strip().casefold().startswith("sep=")


@contextmanager
def _opened(path: Path, noun: str) -> Iterator[BufferedReader]:
    try:
        file = open_regular(path)
    except OSError as error:
        raise _unreadable(noun, error, path) from error
    with file:
        limits.check_bytes(os.fstat(file.fileno()).st_size, noun)
        yield file


def _unreadable(noun: str, error: OSError, path: Path | None = None) -> StorageError:
    reason = error.strerror or str(error)
    return StorageError("{noun} cannot be read", found=reason if path is None else f"{path}: {reason}", noun=noun)
