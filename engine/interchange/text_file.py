"""Read text and JSON files of other programs; detect their encodings."""

import codecs
import io
import json
import os
import re
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import IO, Any

from engine.errors import FormatError, StorageError, reason_of
from engine.files import MOST_BYTES, TooLargeError, open_regular, read_regular
from engine.interchange import limits
from engine.interchange.archives import BROKEN_ARCHIVE

JsonObject = dict[str, Any]

UTF_8 = "utf-8"
WESTERN = "cp1252"  # of Windows programs in Western countries
MAC_ROMAN = "mac_roman"
SURROGATES = "surrogateescape"  # preserves bytes that are not UTF-8
_WIDE_MARKS = (
    # UTF-32 begins with the two bytes of UTF-16, so it comes first.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks of UTF-16 and UTF-32."""
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), *_WIDE_MARKS)
LOOKED_AT_BYTES = 1 << 16
"""Read for format detection; some files begin with licences of some kilobytes. Chosen."""
_CHUNK_BYTES = 1 << 20
_FEW = 0.1  # share of zero bytes at even or odd positions of UTF-16, at most
_MANY = 0.3  # and at the other positions, at least
_NO_WESTERN = re.compile(rb"[\x80-\xff]{5,}|[\x00-\x08\x0e-\x1a\x81\x8d\x8f\x90\x9d]")
"""Isolated accented letters are Western; whole words of such bytes, or control bytes, are not."""
_UTF_8_LETTER = re.compile(rb"[\xc3-\xf4][\x80-\xbf]{1,3}")
"""In a file with such a letter, invalid bytes are damage, not another encoding."""


def files_below(folder: Path) -> Iterator[Path]:
    """Files in a folder and below, sorted by name, except in hidden folders."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(place, name) for name in sorted(names))


def words(text: str) -> tuple[str, ...]:
    """The words of a constant, such as the columns of a standard."""
    return tuple(text.split())


def read_text(source: Path, *, at_most: int = MOST_BYTES) -> str:
    """Read a text file, without its byte order mark and with its line ends.

    Args:
        source: in an encoding of `encoding_of_text`.
        at_most: bytes; a larger file is refused before it is read.

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
    """The error for a file that cannot be opened, or is too large."""
    remedy = "check the path"
    if isinstance(error, TooLargeError):
        remedy = "divide it, or use a table: CSV, JSON lines, Parquet"
    return StorageError(
        '"{source}" cannot be read', found=reason_of(error), remedy=remedy, source=source
    )


def decoded(data: bytes, name: str) -> str:
    """Decode bytes; see `encoding_of_text`.

    Raises:
        FormatError: they are in another encoding.
    """
    encoding = encoding_of_text(io.BytesIO(data), name)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise _no_text(name, data, error.start) from error


@contextmanager
def opened_file(
    path: Path, noun: str, limit: limits.Limit = limits.TABLE_BYTES
) -> Iterator[BufferedReader]:
    """Open a file; FormatError if it is too large, StorageError if it cannot be read."""
    try:
        file = open_regular(path)
    except OSError as error:
        raise _unreadable_table(noun, error, path) from error
    with file:
        limit.check(os.fstat(file.fileno()).st_size, noun)
        yield file


def _unreadable_table(noun: str, error: OSError, path: Path | None = None) -> StorageError:
    found = "{reason}" if path is None else "{path}: {reason}"
    return StorageError(
        "{noun} cannot be read", found=found, noun=noun, path=path, reason=reason_of(error)
    )


def text_lines(
    file: IO[bytes], name: str, encoding: str, *, errors: str = "strict"
) -> Generator[str]:
    """Iterate over the lines of a text with their ends; the caller closes the file.

    Raises:
        FormatError: it is in another encoding, or a line is too long.
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
        raise FormatError("{name} is damaged", found=str(error)[:200], name=name) from error
    except OSError as error:
        raise _unreadable_table(name, error) from error
    finally:
        text.detach()


def encoding_of_text(file: IO[bytes], name: str, fallback: str = WESTERN) -> str:
    """Detect the encoding of a text: by BOM, zero bytes of UTF-16, valid UTF-8, else the fallback.

    Args:
        file: is read whole, and left at its beginning.
        name: for errors.
        fallback: Windows-1252 (Mac Roman with line ends of old Macs), "surrogateescape" to preserve
            invalid bytes, or a declared encoding.

    Raises:
        FormatError: it is not text, or in another encoding.
    """
    head = file.read(LOOKED_AT_BYTES)
    file.seek(0)
    encoding = encoding_of(head)
    if encoding != UTF_8 or not head:
        return encoding
    if b"\0" in head:
        return _utf_16(head, name)
    bad = _first_not_utf_8(file)
    file.seek(0)
    if bad is None or fallback == SURROGATES:
        return UTF_8
    if fallback != WESTERN:
        return fallback  # the declared encoding
    data, place = bad
    if _NO_WESTERN.search(data, max(0, place - 2)) or _UTF_8_LETTER.search(data[:place]):
        raise _no_text(name, data, place)
    is_of_mac = b"\r" in head and b"\n" not in head
    return MAC_ROMAN if is_of_mac else WESTERN


def _utf_16(head: bytes, name: str) -> str:
    """Detect UTF-16 without a BOM by the zero bytes of most scripts."""
    even, odd = (head[start::2].count(0) / max(1, len(head[start::2])) for start in (0, 1))
    if min(even, odd) > _FEW or max(even, odd) < _MANY:
        raise _no_text(name, head, head.index(b"\0"))
    return "utf-16-be" if even > odd else "utf-16-le"


def _first_not_utf_8(file: IO[bytes]) -> tuple[bytes, int] | None:
    """A chunk and the index in it of the first byte that is not UTF-8; None if all are."""
    decoder = codecs.getincrementaldecoder(UTF_8)()
    while True:
        chunk = file.read(_CHUNK_BYTES)
        before = decoder.getstate()[0]
        try:
            decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            return before + chunk, error.start
        if not chunk:
            return None


def _no_text(name: str, data: bytes, place: int) -> FormatError:
    return FormatError(
        "{name} is not a text file in UTF-8",
        found="byte 0x{byte:02x} in line {line}",
        remedy="save it again with the encoding UTF-8",
        name=name,
        byte=data[place],
        line=data.count(b"\n", 0, place) + 1,
    )


def encoding_of(data: bytes) -> str:
    """The encoding by the byte order mark, else UTF-8."""
    return next((name for mark, name in _MARKS if data.startswith(mark)), UTF_8)


def read_json(source: Path) -> Any:
    """Read a JSON file.

    Raises:
        StorageError: it cannot be read.
        FormatError: see `json_value`.
    """
    return json_value(read_text(source, at_most=limits.LARGEST_JSON_BYTES), source.name)


def json_value(text: str, name: str, limit: limits.Limit = limits.JSON_VALUES) -> Any:
    """Parse JSON.

    Raises:
        FormatError: it is invalid, nested too deeply, or has too many values.
    """
    limit.check(sum(map(text.count, ",[{")), name)
    try:
        return json.loads(text)
    except RecursionError as error:
        raise FormatError(
            "{name} is nested too deeply", remedy="write it flat", name=name
        ) from error
    except ValueError as error:
        raise FormatError(
            "{name} is not JSON", found=str(error)[:200], remedy="choose a JSON file", name=name
        ) from error


def objects_in(value: Any, name: str) -> list[JsonObject]:
    """The objects in a list of an object; [] without such a list."""
    found = value.get(name) if isinstance(value, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def object_in(value: JsonObject, name: str) -> JsonObject:
    """An object in an object; {} without one."""
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def head_of(source: Path) -> bytes:
    """The first bytes of a file, for format detection; empty if it cannot be read."""
    try:
        with open_regular(source) as file:
            return file.read(LOOKED_AT_BYTES)
    except OSError:
        return b""


def begins_with(source: Path, opening: str, *names: str) -> bool:
    """Whether a .json file begins with a bracket and has one of these fields near it."""
    if source.suffix.casefold() != ".json":
        return False
    head = head_of(source).decode("utf-8-sig", "replace").lstrip()
    return head.startswith(opening) and any(
        re.search(rf'"{re.escape(name)}"\s*:', head) for name in names
    )
