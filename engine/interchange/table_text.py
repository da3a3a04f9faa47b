"""Tables of text from spreadsheets and other programs: lines, separators, and cells that no spreadsheet runs."""

import io
import os
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import IO, Final

from engine.errors import FormatError, StorageError, reason_of
from engine.files import open_regular
from engine.interchange import limits
from engine.interchange.archives import BROKEN_ARCHIVE


def text_lines(
    file: IO[bytes], name: str, encoding: str, *, errors: str = "strict"
) -> Generator[str]:
    """The lines of a text with their ends, read one by one; the caller closes the file afterwards.

    Raises:
        FormatError: it is not in this encoding, or a line is too long.
        StorageError: it cannot be read.
    """
    number = 0
    try:
        text = io.TextIOWrapper(file, encoding, errors, newline="")
    except LookupError as error:
        raise FormatError(
            "{name} is in an encoding that is not known", found=encoding[:60], name=name
        ) from error
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
        raise FormatError(
            "{name} is not text", found=place, remedy="save it as UTF-8", name=name
        ) from error
    except BROKEN_ARCHIVE as error:
        raise FormatError("{name} is broken", found=str(error)[:200], name=name) from error
    except OSError as error:
        raise _unreadable(name, error) from error
    finally:
        text.detach()


def is_preamble(cells: Sequence[str]) -> bool:
    """Whether a row is blank, or the line `sep=;` of some spreadsheets."""
    return not any(cell.strip() for cell in cells) or cells[0].strip().casefold().startswith("sep=")


@contextmanager
def opened_file(
    path: Path, noun: str, limit: limits.Limit = limits.TABLE_BYTES
) -> Iterator[BufferedReader]:
    """A file, open at its beginning; refused if it is too large, or with StorageError where it cannot be read."""
    try:
        file = open_regular(path)
    except OSError as error:
        raise _unreadable(noun, error, path) from error
    with file:
        limit.check(os.fstat(file.fileno()).st_size, noun)
        yield file


def _unreadable(noun: str, error: OSError, path: Path | None = None) -> StorageError:
    found = "{reason}" if path is None else "{path}: {reason}"
    return StorageError(
        "{noun} cannot be read", found=found, noun=noun, path=path, reason=reason_of(error)
    )


APOSTROPHE: Final = "'"
_RUNS: Final = re.compile(r"'*\s*[=+\-@\t\r\n＝＋－＠]")  # noqa: RUF001 (spreadsheets read the wide signs as well)


def guarded(text: str) -> str:
    """A text as it may stand in a table: with an apostrophe before it where a spreadsheet would run it."""
    return APOSTROPHE + text if _RUNS.match(text) else text


def unguarded(cell: str) -> str:
    """The text that `guarded` was given; a cell that no apostrophe guards stays as it is."""
    return cell[1:] if cell.startswith(APOSTROPHE) and _RUNS.match(cell) else cell


def storable(text: str) -> str:
    """A text that UTF-8 with `surrogateescape` can write, and that is read back as the same bytes.

    Windows allows unpaired surrogates in file names; the handler knows only those which stand for bytes.
    """
    if text.isascii():
        return text
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
    return text
