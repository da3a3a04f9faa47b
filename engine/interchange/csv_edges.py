"""A table with a `child` and a `parent` column: one row for each edge, an empty parent for a root; in and out.

A name stands for one class throughout such a table, so a class with two parents has two rows. A column `id` is kept as
the child's source id. Where there is a column `parent_id` as well, as in our own exports, the ids tell the classes
apart, several may have one name, and `source_id` holds the source id. Other attributes of classes are read in both, and
so is `identity`, by which a class of this project is known under another name.
"""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Final

from engine.errors import FormatError
from engine.graph.class_attributes import IN_FILES, NO_ATTRIBUTES, ClassAttributes
from engine.graph.identities import NO_IDENTITY, identity_in
from engine.interchange.imported import (
    Edge,
    ImportedClass,
    ImportedGraph,
    attributes_at,
    checked,
    clean_name_at,
    find_cycle,
)
from engine.interchange.table_text import unguarded
from engine.interchange.table_writer import write_table
from engine.interchange.taxonomy_file import table_cells, taxonomy_text
from engine.texts import line_of

CHILD: Final = "child"
PARENT: Final = "parent"
ID: Final = "id"
PARENT_ID: Final = "parent_id"
SOURCE_ID: Final = "source_id"
IDENTITY: Final = "identity"
DELIMITERS: Final = (",", ";", "\t", "|")
BETWEEN_SYNONYMS: Final = " | "
_COLUMNS: Final = (CHILD, PARENT, ID, PARENT_ID, *(each.name for each in IN_FILES), IDENTITY)
HEADER: Final = ",".join(_COLUMNS[:-1])  # how the first line of a table that we write begins
_SYNONYM: Final = re.compile(r"(?:[^\\|]|\\.)+")
_ESCAPED: Final = re.compile(r"\\(.)")
_SEPARATING: Final = re.compile(r"([\\|])")


@dataclass(frozen=True)
class _Row:
    line: int
    child: str
    parent: str  # empty for a root
    key: str
    parent_key: str  # empty for a root
    attributes: ClassAttributes
    identity: str


def read(source: Path) -> ImportedGraph:
    """Read a table of edges with a header; other columns are ignored.

    A parent without a row of its own is a root in a file that lists no roots; in a file that does list them, by rows
    with an empty parent, it is taken for a slip and refused.
    """
    rows = list(_rows(source))
    lines: dict[Edge, int] = {}
    for row in rows:
        if row.parent_key:
            lines.setdefault((row.parent_key, row.key), row.line)
    names = _names(rows, source)
    _check_parents_are_listed(rows, source)
    _check_cycle(lines, names, source)
    rows_of: dict[str, list[_Row]] = {key: [] for key in names}
    for row in rows:
        rows_of[row.key].append(row)
    return checked((_class(key, name, rows_of[key]) for key, name in names.items()), lines, source.name)


def written(graph: ImportedGraph) -> str:
    """A graph as such a table, safe to open in a spreadsheet; attributes of a class are in the first of its rows."""
    names = {each.key: each.name for each in graph.classes}
    parents = graph.parent_keys
    text = io.StringIO()
    rows = list[tuple[str, ...]]()
    for each in graph.classes:
        attributes = [_cell(attribute.of(each.attributes)) for attribute in IN_FILES]
        for parent in parents[each.key] or [""]:
            rows.append((each.name, names.get(parent, ""), each.key, parent, *attributes, each.identity))
            attributes = [""] * len(IN_FILES)
    write_table(text, _COLUMNS, rows, line_end="\n")
    return text.getvalue()


def _cell(value: str | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else BETWEEN_SYNONYMS.join(_SEPARATING.sub(r"\\\1", each) for each in value)


def has_header(first_line: str) -> bool:
    """Whether a line of text is the header of such a table."""
    return _delimiter(first_line) is not None


def _rows(source: Path) -> Iterator[_Row]:
    text = taxonomy_text(source)
    header_line = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = _delimiter(header_line)
    if delimiter is None:
        raise FormatError(
            "{source} has no header",
            expected='a first line with the columns "child" and "parent"',
            found=f'"{header_line[:60]}"' if header_line else "an empty file",
            remedy='write "child,parent" above the rows',
            source=source.name,
        )
    rows = table_cells(text, source.name, delimiter)
    header = [cell.strip().casefold() for cell in next(rows)[1]]
    for line, cells in rows:
        yield _row(dict(zip(header, map(str.strip, cells), strict=False)), header, line, source.name)


def _delimiter(header_line: str) -> str | None:
    for delimiter in DELIMITERS:
        cells = {cell.strip().strip('"').strip().casefold() for cell in header_line.split(delimiter)}
        if {CHILD, PARENT} <= cells:
            return delimiter
    return None


def _row(cells: dict[str, str], header: list[str], line: int, source_name: str) -> _Row:
    place = line_of(line, source_name)
    has_keys = {ID, PARENT_ID}.issubset(header)
    if has_keys:
        cells = {column: unguarded(text) for column, text in cells.items()}
    key, parent_key = cells.get(ID, ""), cells.get(PARENT_ID, "")
    child, parent = cells.get(CHILD, ""), cells.get(PARENT, "")
    if not child:
        raise FormatError(
            "{place} has no child",
            found='only the parent "{parent}"',
            remedy="write the child's name",
            place=place,
            parent=parent,
        )
    name, parent_name = clean_name_at(place, child), clean_name_at(place, parent) if parent else ""
    if has_keys and not key:
        raise FormatError(
            "{place} has no id", found=f'"{name}"', remedy="write one, or take the column parent_id out", place=place
        )
    values: dict[str, str | tuple[str, ...]] = {}
    for each in IN_FILES:
        text = cells.get(each.field_in(cells), "")
        parts = (_ESCAPED.sub(r"\1", part).strip() for part in _SYNONYM.findall(text))
        values[each.name] = tuple(parts) if isinstance(each.default, tuple) else text
    if not (has_keys or SOURCE_ID in header):
        values[SOURCE_ID] = key
    return _Row(
        line,
        name,
        parent_name,
        key=key if has_keys else name,
        parent_key=parent_key if has_keys else parent_name,
        attributes=attributes_at(place, name, **values),
        identity=identity_in(cells.get(IDENTITY, "")),
    )


def _names(rows: list[_Row], source: Path) -> dict[str, str]:
    """Name of each class by its key, in the order of the table."""
    names: dict[str, str] = {}
    named = {row.key: row.child for row in rows}
    for row in rows:
        if row.parent_key:
            names.setdefault(row.parent_key, named.get(row.parent_key, row.parent))
        if names.setdefault(row.key, row.child) != row.child:
            raise FormatError(
                'line {line} of {source} gives the id "{key}" to another class than an earlier line',
                found='"{name}" and "{child}"',
                remedy="give each class its own",
                line=row.line,
                source=source.name,
                key=row.key,
                name=names[row.key],
                child=row.child,
            )
    return names


def _class(key: str, name: str, rows: list[_Row]) -> ImportedClass:
    """A class from all rows in which it is the child; ids that differ are row numbers, and no source id."""
    attributes = NO_ATTRIBUTES
    for row in rows:
        attributes = attributes.filled_in(row.attributes)
    if len({row.attributes.source_id for row in rows} - {""}) > 1:
        attributes = replace(attributes, source_id="")
    return ImportedClass(key, name, attributes, next((row.identity for row in rows if row.identity), NO_IDENTITY))


def _check_parents_are_listed(rows: list[_Row], source: Path) -> None:
    if all(row.parent_key for row in rows):
        return
    listed = {row.key for row in rows}
    for row in rows:
        if row.parent_key and row.parent_key not in listed:
            parent = row.parent or row.parent_key
            raise FormatError(
                'line {line} of {source} names the parent "{parent}", which has no row of its own',
                remedy='correct the name, or add a row with the child "{parent}" and an empty parent',
                line=row.line,
                source=source.name,
                parent=parent,
            )


def _check_cycle(lines: dict[Edge, int], names: dict[str, str], source: Path) -> None:
    cycle = find_cycle(lines)
    if cycle:
        line = max(lines[edge] for edge in pairwise(cycle))
        raise FormatError(
            "line {line} of {source} makes a class its own ancestor",
            found=" > ".join(names[key] for key in cycle),
            remedy="cut one of these edges",
            line=line,
            source=source.name,
        )
