"""Import of a table with a `child` and a `parent` column: one row for each edge, an empty parent for a root.

A name stands for one class throughout the file, so a class with two parents has two rows. A column `id` is kept as the
child's source id.
"""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from engine.errors import FormatError
from engine.graph.aliases import NO_ALIASES, Aliases
from engine.interchange.imported import (
    ImportedClass,
    ImportedGraph,
    checked,
    clean_aliases_at,
    clean_name_at,
    find_cycle,
)
from engine.interchange.taxonomy_file import taxonomy_text

CHILD: Final = "child"
PARENT: Final = "parent"
ID: Final = "id"
DELIMITERS: Final = (",", ";", "\t", "|")


@dataclass(frozen=True)
class _Row:
    line: int
    child: str
    parent: str  # empty for a root
    source_id: str  # empty where there is none


def read(source: Path) -> ImportedGraph:
    """Read a table of edges.

    A parent without a row of its own is a root in a file that lists no roots; in a file that does list them, by rows
    with an empty parent, it is taken for a slip and refused.

    Args:
        source: text with a header row; columns in any order, others are passed over; comma, semicolon, tab or |.

    Returns:
        One class for each name; its key is the name.

    Raises:
        StorageError: the file cannot be read.
        FormatError: with the line at which it is no such table, names a missing parent or closes a cycle.
    """
    rows = list(_rows(source))
    lines: dict[tuple[str, str], int] = {}
    for row in rows:
        if row.parent:
            lines.setdefault((row.parent, row.child), row.line)
    _check_parents_are_listed(rows, source)
    _check_cycle(lines, source)
    names = dict.fromkeys(name for row in rows for name in (row.parent, row.child) if name)
    ids = _ids(rows, source)
    classes = tuple(ImportedClass(name, name, ids.get(name, NO_ALIASES)) for name in names)
    return checked(ImportedGraph(classes, tuple(lines)), source.name)


def has_header(first_line: str) -> bool:
    """Whether a line of text is the header of such a table."""
    return _delimiter(first_line) is not None


def _rows(source: Path) -> Iterator[_Row]:
    text = taxonomy_text(source)
    header_line = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = _delimiter(header_line)
    if delimiter is None:
        raise FormatError(
            f"{source.name} has no header",
            expected='a first line with the columns "child" and "parent"',
            found=f'"{header_line[:60]}"' if header_line else "an empty file",
            remedy='write "child,parent" above the rows',
        )
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header: dict[str, int] = {}
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if header:
                yield _row(cells, header, f"line {reader.line_num} of {source.name}", reader.line_num)
            else:
                header = {cell.strip().casefold(): column for column, cell in enumerate(cells)}
    except csv.Error as error:
        place = f"line {reader.line_num} of {source.name}"
        raise FormatError(f"{place} cannot be read as a table", found=str(error), remedy="check the quotes") from error


def _delimiter(header_line: str) -> str | None:
    for delimiter in DELIMITERS:
        cells = {cell.strip().strip('"').strip().casefold() for cell in header_line.split(delimiter)}
        if {CHILD, PARENT} <= cells:
            return delimiter
    return None


def _row(cells: list[str], header: dict[str, int], place: str, line: int) -> _Row:
    places = (header.get(name, len(cells)) for name in (CHILD, PARENT, ID))
    child, parent, source_id = (cells[place].strip() if place < len(cells) else "" for place in places)
    if not child:
        raise FormatError(f"{place} has no child", found=f'only the parent "{parent}"', remedy="write the child's name")
    return _Row(line, clean_name_at(place, child), clean_name_at(place, parent) if parent else "", source_id)


def _ids(rows: list[_Row], source: Path) -> dict[str, Aliases]:
    """Source id of each class; none where its rows disagree, since such a column numbers the rows."""
    ids: dict[str, Aliases] = {}
    for row in rows:
        own = clean_aliases_at(f"line {row.line} of {source.name}", Aliases(row.source_id), row.child)
        if own and ids.setdefault(row.child, own) != own:
            ids[row.child] = NO_ALIASES
    return ids


def _check_parents_are_listed(rows: list[_Row], source: Path) -> None:
    if all(row.parent for row in rows):
        return
    listed = {row.child for row in rows}
    for row in rows:
        if row.parent and row.parent not in listed:
            raise FormatError(
                f'line {row.line} of {source.name} names the parent "{row.parent}", which has no row of its own',
                remedy=f'correct the name, or add a row with the child "{row.parent}" and an empty parent',
            )


def _check_cycle(lines: dict[tuple[str, str], int], source: Path) -> None:
    cycle = find_cycle(lines)
    if cycle:
        line = max(lines[edge] for edge in pairwise(cycle))
        raise FormatError(
            f"line {line} of {source.name} makes a class its own ancestor",
            found=" > ".join(cycle),
            remedy="cut one of these edges",
        )
