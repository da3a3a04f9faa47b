"""JSON lines: one object for each image, with the columns of `table_rows`; and JSON as the other formats write it."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from engine.errors import FormatError, StorageError, reason_of
from engine.interchange import limits
from engine.interchange.labelled_images.foreign_labels import ForeignLabels
from engine.interchange.labelled_images.records import LabelledImages, WrittenExport
from engine.interchange.labelled_images.table_rows import READ_COLUMNS, has_columns, labels_in, rows
from engine.interchange.table_text import check_row_count, table_lines
from engine.texts import Message, line_of


def write(images: LabelledImages, file: BinaryIO) -> WrittenExport:
    """Write the objects."""
    file.writelines(encoded({name: plain(value) for name, value in row.items()}) + b"\n" for row in rows(images))
    return WrittenExport(len(images.images))


def read(source: Path) -> ForeignLabels:
    """Read objects with an image and a class each."""
    check_row_count(source)
    return labels_in(_places(source), source)


def fits(source: Path) -> bool:
    """Whether its first line is an object that names an image and a class."""
    if not source.is_file() or source.suffix.casefold() not in {".jsonl", ".ndjson"}:
        return False
    try:
        first = next(_objects(source), None)
    except (FormatError, StorageError):
        return False
    return first is not None and has_columns(tuple(first[1]))


def texts(row: Mapping[str, Any]) -> dict[str, str]:
    """The values of a row as the texts that `label_in` reads; ValueError where one is nested too deep."""
    return {str(name): _text(value) for name, value in row.items()}


def _places(source: Path) -> Iterator[tuple[int, dict[str, str]]]:
    for number, row in _objects(source):
        read = {name: value for name, value in row.items() if name in READ_COLUMNS}
        try:
            yield number, texts(read)
        except ValueError as error:
            raise FormatError(
                "line {number} of {source} cannot be read", found=reason_of(error), number=number, source=source.name
            ) from error


def _objects(source: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with table_lines(source) as lines:
        for number, line in enumerate(limits.at_most(lines, source.name), start=1):
            if line.strip():
                yield number, _object(line, line_of(number, source.name))


def _object(line: str, place: str) -> dict[str, Any]:
    if not line.isascii():
        _check_unicode(line, place)
    try:
        row = json.loads(line)
    except RecursionError as error:
        raise FormatError("{place} is nested too deep", found=line[:60], place=place) from error
    except ValueError as error:
        raise FormatError("{place} is no JSON", found=f"{line[:60]!r}: {error}", place=place) from error
    if not isinstance(row, dict):
        raise FormatError("{place} is no JSON object", found=line[:60], place=place)
    return row


def _check_unicode(line: str, place: str) -> None:
    try:
        line.encode()
    except UnicodeEncodeError as error:
        byte = ord(line[error.start]) & 0xFF  # as `surrogateescape` keeps it
        raise FormatError(
            "{place} is not text in UTF-8",
            found="byte 0x{byte:02x}",
            remedy="save it again with the encoding UTF-8",
            place=place,
            byte=byte,
        ) from error


def _text(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.isoformat()
        case str():
            return value
        case list() | tuple():
            return _shallow("\n".join, map(str, value))
        case _:
            return _shallow(str, value)


def _shallow(as_text: Callable[[Any], str], value: Any) -> str:
    try:
        return as_text(value)
    except RecursionError:
        raise ValueError(Message("a value is nested too deep")) from None


def plain(value: Any) -> Any:
    """A cell as JSON has it: times as ISO 8601."""
    if isinstance(value, datetime):
        return value.isoformat()
    return list(value) if isinstance(value, tuple) else value


def write_items(file: BinaryIO, items: Iterable[bytes]) -> None:
    """Write encoded items of a JSON list or object, one to a line."""
    separator = b"\n"
    for item in items:
        file.write(separator + item)
        separator = b",\n"


def encoded(row: Any) -> bytes:
    """A value as JSON on one line; a file name that is no valid Unicode is written with JSON's escapes."""
    try:
        return json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(row).encode()
