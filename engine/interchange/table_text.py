"""The text of a table that a spreadsheet or another program wrote, and what stands between its cells."""

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from engine.errors import FormatError, StorageError
from engine.interchange.text_file import WIDE_MARKS

SEPARATORS: Final = (",", ";", "\t")
"""What spreadsheets put between cells, depending on the country."""


def table_text(path: Path, called: str = "") -> str:
    """The text of a table; bytes that are no Unicode stay what they are, for names of files may hold such bytes.

    Args:
        path: UTF-8, with or without a byte order mark, or UTF-16 or UTF-32 with one.
        called: what messages call it, "the truth file"; its name by default.

    Raises:
        FormatError: it is no text.
        StorageError: it cannot be read.
    """
    noun = called or path.name
    try:
        content = path.read_bytes()
    except OSError as error:
        raise StorageError(f"{noun} cannot be read", found=f"{path}: {error.strerror}") from error
    for mark, encoding in WIDE_MARKS:
        if content.startswith(mark):
            try:
                return content.decode(encoding)
            except UnicodeDecodeError as error:
                raise FormatError(f"{noun} is not text", found=str(path), remedy="save it as UTF-8") from error
    return content.decode("utf-8-sig", "surrogateescape")


def header_separator(text: str, has_columns: Callable[[Sequence[str]], bool]) -> str | None:
    """What stands between the header's cells; None where they are not the expected ones.

    Args:
        text: of the table; blank lines and a line `sep=;` may stand in front.
        has_columns: whether these names, in small letters, are the expected ones.
    """
    for line in text.splitlines():
        for separator in SEPARATORS:
            cells = next(csv.reader([line], delimiter=separator), [])
            if has_columns([cell.strip().casefold() for cell in cells]):
                return separator
        if not is_preamble([line]):
            return None
    return None


def is_preamble(cells: Sequence[str]) -> bool:
    """Whether a row is blank, or the one by which some spreadsheets are told the separator."""
    return not any(cell.strip() for cell in cells) or cells[0].strip().casefold().startswith("sep=")
