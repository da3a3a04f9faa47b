"""JSON lines: one object for each image with the columns of `table_rows`; helpers for JSON."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from datetime import datetime
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

from engine.errors import FormatError, StorageError, reason_of
from engine.interchange import limits
from engine.interchange.labelled_images.box_formats import unread_boxes_error
from engine.interchange.labelled_images.foreign_labels import ForeignLabels
from engine.interchange.labelled_images.label_tables import LabelRows
from engine.interchange.labelled_images.records import LabelledImages, WrittenExport
from engine.interchange.labelled_images.table_rows import MODEL, PERSON, rows
from engine.interchange.tables.dialects import TablePurpose
from engine.interchange.tables.read_table import SAMPLE_ROWS
from engine.interchange.tables.recognise import layout_of
from engine.interchange.text_file import (
    JsonObject,
    encoding_of_text,
    opened_file,
    read_json,
    text_lines,
)
from engine.texts import Message, line_of

SUFFIXES = frozenset({".jsonl", ".ndjson", ".manifest"})
_METADATA = "-metadata"  # suffix of the label's name


def write(images: LabelledImages, file: BinaryIO) -> WrittenExport:
    """Write the objects."""
    file.writelines(
        encoded({name: plain(value) for name, value in row.items()}) + b"\n" for row in rows(images)
    )
    return WrittenExport(len(images.images))


def read(source: Path, given: Mapping[str, str] | None = None) -> ForeignLabels:
    """Read objects with an image and a class; `given` is the field by role, set by the user."""
    objects = _objects(source)
    first = list(islice(objects, SAMPLE_ROWS))
    columns = tuple(dict.fromkeys(str(name) for _, row in first for name in row))
    sample = [(number, _cells(row, columns, number, source)) for number, row in first]
    rows_below = ((number, _cells(row, columns, number, source)) for number, row in objects)
    return LabelRows(source, columns, sample, given).labels(chain(sample, rows_below))


def fits(source: Path) -> bool:
    """Whether it has lines of objects that name an image and a class."""
    return source.is_file() and source.suffix.casefold() in SUFFIXES and has_labels(source)


def has_labels(source: Path) -> bool:
    """Whether the first objects of a file name an image and a class."""
    try:
        first = [row for _, row in islice(_objects(source), SAMPLE_ROWS)]
    except (FormatError, StorageError):
        return False
    columns = tuple(dict.fromkeys(str(name) for row in first for name in row))
    return layout_of(columns, (), TablePurpose.LABELS) is not None


def texts(row: Mapping[str, Any]) -> dict[str, str]:
    """Values of a row as texts for `label_in`; ValueError if one is nested too deep."""
    return {str(name): _text(value) for name, value in row.items()}


def _cells(row: Mapping[str, Any], columns: Sequence[str], number: int, source: Path) -> list[str]:
    try:
        return [_text(row.get(name)) for name in columns]
    except ValueError as error:
        raise FormatError(
            "line {number} of {source} cannot be read",
            found=reason_of(error),
            number=number,
            source=source.name,
        ) from error


def _objects(source: Path) -> Iterator[tuple[int, JsonObject]]:
    if source.suffix.casefold() == ".json":
        yield from enumerate(_rows_of(read_json(source), source), start=1)
        return
    with ExitStack() as stack:
        file = stack.enter_context(opened_file(source, source.name))
        encoding = encoding_of_text(file, source.name)
        lines = stack.enter_context(closing(text_lines(file, source.name, encoding)))
        for number, line in enumerate(limits.at_most(lines, source.name), start=1):
            if line.strip():
                yield number, _of_manifest(_object(line, line_of(number, source.name)), source)


def _rows_of(document: Any, source: Path) -> list[JsonObject]:
    """Objects of a list, or the values of an object."""
    rows = list(document.values()) if isinstance(document, dict) else document
    if not isinstance(rows, list) or not all(isinstance(each, dict) for each in rows):
        raise FormatError("{place} is not a JSON object", place=source.name)
    return rows


def _of_manifest(row: JsonObject, source: Path) -> JsonObject:
    """Flatten an object of a SageMaker Ground Truth manifest; others are unchanged."""
    kind = next(
        (name for name in row if name.endswith(_METADATA) and isinstance(row[name], dict)), ""
    )
    if "source-ref" not in row or not kind:
        return row
    facts = row[kind]
    names = facts.get("class-name")
    if isinstance(known := facts.get("class-map"), dict):
        chosen = row.get(kind.removesuffix(_METADATA))
        if not isinstance(chosen, list):
            raise unread_boxes_error(source, "SageMaker Ground Truth")
        names = [known.get(str(each)) for each in chosen]
    by = PERSON if facts.get("human-annotated", "yes") == "yes" else MODEL
    return {"source-ref": row["source-ref"], "class-name": names, "decided_by": by}


def _object(line: str, place: str) -> JsonObject:
    try:
        row = json.loads(line)
    except RecursionError as error:
        raise FormatError("{place} is nested too deep", found=line[:60], place=place) from error
    except ValueError as error:
        raise FormatError(
            "{place} is not JSON", found=f"{line[:60]!r}: {error}", place=place
        ) from error
    if not isinstance(row, dict):
        raise FormatError("{place} is not a JSON object", found=line[:60], place=place)
    return row


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
        case list() | tuple() if not any(isinstance(each, dict) for each in value):
            return _shallow("\n".join, map(str, value))
        case _:
            as_json = partial(json.dumps, default=str, ensure_ascii=False)
            as_text = as_json if isinstance(value, dict | list | tuple) else str
            return _shallow(as_text, value)


def _shallow(as_text: Callable[[Any], str], value: Any) -> str:
    try:
        return as_text(value)
    except RecursionError:
        raise ValueError(Message("a value is nested too deep")) from None


def plain(value: Any) -> Any:
    """A cell as a JSON value; times in ISO 8601."""
    if isinstance(value, datetime):
        return value.isoformat()
    return list(value) if isinstance(value, tuple) else value


def write_items(file: BinaryIO, items: Iterable[bytes]) -> None:
    """Write encoded items of a JSON list or object, one per line."""
    separator = b"\n"
    for item in items:
        file.write(separator + item)
        separator = b",\n"


def encoded(row: Any) -> bytes:
    """Encode a value as JSON on one line; names of invalid Unicode as escapes."""
    try:
        return json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(row).encode()
