"""JSON lines: one object for each image, with the columns of `table_rows`; null where there is nothing to say."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from engine.errors import FormatError, StorageError
from engine.interchange.labelled_images.records import ForeignLabels, LabelledImages, WrittenExport
from engine.interchange.labelled_images.table_rows import has_columns, labels_in, rows
from engine.interchange.text_file import read_text


def write(images: LabelledImages, file: BinaryIO) -> WrittenExport:
    """Write the objects; a file name that is no valid Unicode stands as JSON's escapes of it."""
    file.writelines(encoded({name: plain(value) for name, value in row.items()}) + b"\n" for row in rows(images))
    return WrittenExport(len(images.images))


def read(source: Path) -> ForeignLabels:
    """Read objects with an image and a class each."""
    return labels_in(((f"line {line}", texts(row)) for line, row in _objects(source)), source.parent)


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
    """A row's values as the texts that `label_in` reads."""
    return {str(name): _text(value) for name, value in row.items()}


def _objects(source: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(read_text(source).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise FormatError(f"line {number} of {source.name} is no JSON", found=f"{line[:60]!r}: {error}") from error
        if not isinstance(row, dict):
            raise FormatError(f"line {number} of {source.name} is no JSON object", found=line[:60])
        yield number, row


def _text(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.isoformat()
        case list() | tuple():
            return "\n".join(map(str, value))
        case _:
            return str(value)


def plain(value: Any) -> Any:
    """A cell as JSON has it: times as ISO 8601."""
    if isinstance(value, datetime):
        return value.isoformat()
    return list(value) if isinstance(value, tuple) else value


def encoded(row: Any) -> bytes:
    """A value as JSON on one line; a file name that is no valid Unicode stands as JSON's escapes of it."""
    try:
        return json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(row).encode()
