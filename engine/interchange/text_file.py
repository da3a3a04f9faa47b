"""Reading a text file that somebody else's program wrote."""

import codecs
from pathlib import Path
from typing import Final

from engine.errors import FormatError, StorageError
from engine.regular_file import MOST_BYTES, TooLargeError, read_regular

WIDE_MARKS: Final = (
    # UTF-32 would be taken for UTF-16 by its first two bytes, so it comes first.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks of the encodings that have more than one byte for each character."""

_MARKS: Final = ((codecs.BOM_UTF8, "utf-8-sig"), *WIDE_MARKS)


_SMALLER: Final = "divide it, or save it as CSV, JSON lines or Parquet"


def read_text(source: Path, *, at_most: int = MOST_BYTES) -> str:
    """Read a whole text file.

    Args:
        source: UTF-8 with or without a byte order mark, or UTF-16/32 with one (spreadsheets write that).
        at_most: bytes; a larger one is refused before it is read.

    Returns:
        The text without the mark; line ends as they are.

    Raises:
        StorageError: the file cannot be read.
        FormatError: it is in another encoding.
    """
    try:
        data = read_regular(source, at_most=at_most)
    except OSError as error:
        reason = error.strerror or str(error)
        remedy = (
            "divide it, or use a table: CSV, JSON lines, Parquet"
            if isinstance(error, TooLargeError)
            else "check the path"
        )
        raise StorageError('"{source}" cannot be read', found=reason, remedy=remedy, source=source) from error
    return decoded(data, source.name)


def decoded(data: bytes, name: str) -> str:
    """The text that the bytes of a file hold.

    Args:
        data: UTF-8 with or without a byte order mark, or UTF-16/32 with one.
        name: of the file, for people.

    Raises:
        FormatError: it is in another encoding.
    """
    encoding = encoding_of(data)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError(
            "{name} is not a text file in UTF-8",
            found="byte 0x{byte:02x} in line {line}",
            remedy="save it again with the encoding UTF-8",
            name=name,
            byte=data[error.start],
            line=line,
        ) from error


def encoding_of(data: bytes) -> str:
    """The encoding that the first bytes of a text tell; UTF-8 where they tell none."""
    return next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
