"""Reading a text or JSON file that another program wrote."""

import codecs
import json
import re
from pathlib import Path
from typing import Any, Final

from engine.errors import FormatError, StorageError, reason_of
from engine.files import MOST_BYTES, TooLargeError, open_regular, read_regular
from engine.interchange import limits

WIDE_MARKS: Final = (
    # UTF-32 would be taken for UTF-16 by its first two bytes, so it comes first.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks of the encodings that have more than one byte for each character."""

_MARKS: Final = ((codecs.BOM_UTF8, "utf-8-sig"), *WIDE_MARKS)


def read_text(source: Path, *, at_most: int = MOST_BYTES) -> str:
    """The text of a file, without a byte order mark; line ends as they are.

    Args:
        source: UTF-8, or UTF-16/32 with a byte order mark (spreadsheets write that).
        at_most: bytes; a larger one is refused before it is read.

    Raises:
        StorageError: the file cannot be read.
        FormatError: it is in another encoding.
    """
    try:
        data = read_regular(source, at_most=at_most)
    except OSError as error:
        raise unreadable(source, error) from error
    return decoded(data, source.name)


def unreadable(source: Path, error: OSError) -> StorageError:
    """The error of a file that the system refuses to read, or that is too large."""
    remedy = "check the path"
    if isinstance(error, TooLargeError):
        remedy = "divide it, or use a table: CSV, JSON lines, Parquet"
    return StorageError('"{source}" cannot be read', found=reason_of(error), remedy=remedy, source=source)


def decoded(data: bytes, name: str) -> str:
    """The text of bytes in UTF-8, or in UTF-16/32 with a byte order mark.

    Raises:
        FormatError: they are in another encoding.
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
    """The encoding by the byte order mark; UTF-8 without one."""
    return next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")


_LOOKED_AT_BYTES: Final = 1 << 16  # at the beginning of a file, to detect its format; chosen


def read_json(source: Path) -> Any:
    """The value of a JSON file.

    Raises:
        StorageError: it cannot be read.
        FormatError: it is no JSON, too large, or nested too deep.
    """
    text = read_text(source, at_most=limits.LARGEST_JSON_BYTES)
    limits.check_json(text, source.name)
    try:
        return json.loads(text)
    except RecursionError as error:
        raise FormatError("{source} is nested too deep", remedy="choose another file", source=source.name) from error
    except ValueError as error:
        raise FormatError("{source} is no JSON file", found=str(error)[:200], source=source.name) from error


def objects_in(value: Any, name: str) -> list[dict[str, Any]]:
    """The objects of a list within an object; [] where there is no such list."""
    found = value.get(name) if isinstance(value, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def object_in(value: dict[str, Any], name: str) -> dict[str, Any]:
    """An object within an object; {} where there is none."""
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def begins_with(source: Path, opening: str, *names: str) -> bool:
    """Whether a `.json` file begins with a bracket, and has one of these fields near its beginning."""
    if not source.is_file() or source.suffix.casefold() != ".json":
        return False
    try:
        with open_regular(source) as file:
            head = file.read(_LOOKED_AT_BYTES).decode("utf-8-sig", "replace").lstrip()
    except OSError:
        return False
    return head.startswith(opening) and any(re.search(rf'"{re.escape(name)}"\s*:', head) for name in names)
