"""The table that predictions are compared with: what somebody else knows, or a file of predictions of ours."""

import csv
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.errors import FormatError, GraphError, UnknownClassError
from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import NO_CLASS
from engine.graph.names import split_path
from engine.interchange import limits
from engine.interchange.predictions_file import UNKNOWN_NAME
from engine.interchange.spreadsheet_cells import guarded, unguarded
from engine.interchange.table_text import check_row_count, first_line, header_separator, is_preamble, table_lines

IMAGE: Final = "image"
CLASS: Final = "class"
PATH: Final = "path"
_SHOWN: Final = 60
_CALLED: Final = "the truth file"


def read_truth(path: Path, graph: CategoryGraph) -> dict[str, int]:
    """Read a table with the columns image and class.

    The class is a name or path, empty or "unknown" for none of the classes. Where a column `path` ends in the class, as
    in our own files, it tells classes of one name apart, also a class that is called "unknown".

    Args:
        path: UTF-8, with or without a byte order mark, or UTF-16 with one; comma, semicolon or tab between the cells,
            after a line `sep=;` too. Names of files may be any bytes.
        graph: the project's classes.

    Returns:
        Class by image; `NO_CLASS` for none. The images are named as in the file, with the apostrophe taken away that
        keeps a spreadsheet from running them.

    Raises:
        FormatError: columns are missing or a class is not in the graph; names the line.
        StorageError: the file cannot be read.
    """
    try:
        separator = _separator(path)
        check_row_count(path, separator, _CALLED)
        with table_lines(path, _CALLED) as lines:
            rows = _Rows(lines, separator)
            return {row.image: _class_of(graph, row, has_paths=rows.has_paths) for row in rows}
    except csv.Error as error:
        raise FormatError("the truth file is not a CSV file", found=f"{path}: {error}") from error


@dataclass(frozen=True)
class _Row:
    line: int
    image: str
    class_text: str
    path_text: str


class _Rows:
    """The rows below the header, one at a time."""

    def __init__(self, lines: Iterator[str], separator: str) -> None:
        self._table = csv.reader(lines, delimiter=separator)
        header_cells = next(cells for cells in self._table if not is_preamble(cells))
        self._columns = {cell.strip().casefold(): place for place, cell in reversed([*enumerate(header_cells)])}
        self.has_paths = PATH in self._columns

    def __iter__(self) -> Iterator[_Row]:
        for cells in limits.at_most(self._table, _CALLED):
            if cells:
                yield _Row(self._table.line_num, *(unguarded(self._cell(cells, name)) for name in (IMAGE, CLASS, PATH)))

    def _cell(self, cells: list[str], name: str) -> str:
        place = self._columns.get(name, len(cells))
        return cells[place] if place < len(cells) else ""


def _separator(path: Path) -> str:
    with table_lines(path, _CALLED) as lines:
        separator = header_separator(lines, {IMAGE, CLASS}.issubset)
    if separator is None:
        raise FormatError(
            "the truth file lacks columns",
            expected=f"{IMAGE},{CLASS}",
            found=_shown(first_line(path, _CALLED)) or "an empty file",
            remedy="write these names above the columns, with commas, semicolons or tabs between the cells",
        )
    return separator


def _shown(line: str) -> str:
    """The header as a message may show it."""
    return ", ".join(cell.strip() for cell in line[:_SHOWN].split(",")).encode("utf-8", "backslashreplace").decode()


def _class_of(graph: CategoryGraph, row: _Row, *, has_paths: bool) -> int:
    name = unicodedata.normalize("NFC", row.class_text).strip()
    if not name or (has_paths and name == UNKNOWN_NAME and not row.path_text.strip()):
        return NO_CLASS
    is_path_of_class = split_path(row.path_text)[-1:] == (name,)  # and no file's, as a column of that name may hold
    is_named = name != UNKNOWN_NAME or is_path_of_class or any(graph.name(each) == name for each in graph.fitting(name))
    if not is_named:  # it may be a synonym, as in WordNet, but here it is our own word
        return NO_CLASS
    try:
        by_path = _find(graph, row.path_text) if is_path_of_class else None
        by_name = _find(graph, name) if by_path is None else by_path
        return graph.find(name) if by_name is None else by_name
    except GraphError as error:
        raise _refusal(error, row) from error


def _find(graph: CategoryGraph, text: str) -> int | None:
    """The class of a name or at a path, None where there is none; the apostrophe may have been the name's own."""
    for spelled in dict.fromkeys((text, guarded(text))):
        with suppress(UnknownClassError):
            return graph.find(spelled)
    return None


def _refusal(error: GraphError, row: _Row) -> FormatError:
    if not _is_unicode(row.class_text):
        return FormatError(
            "in line {line} the truth file is not text in UTF-8",
            found="the class {class_text}",
            remedy="save it as UTF-8",
            line=row.line,
            class_text=ascii(row.class_text[:_SHOWN]),
        )
    return FormatError(
        "in line {line} of the truth file {problem}",
        found=error.found,
        remedy=error.remedy,
        line=row.line,
        problem=error.what,
    )


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def image_keys(truth: Mapping[str, int]) -> dict[str, str]:
    """By each spelling under which an image may be looked up, how the truth file names it; its own spelling first."""
    keys: dict[str, str] = {}
    for each in zip(*map(spellings, truth), strict=True):
        for spelled, name in zip(each, truth, strict=True):
            keys.setdefault(spelled, name)
    return keys


def spellings(name: str) -> tuple[str, str, str]:
    """What an image of the truth file may be called, the likeliest first.

    Its own name; the path that is meant where people write backslashes, blanks around it, or `./` before it; the name
    with an apostrophe of its own.
    """
    return name, name.replace("\\", "/").strip().removeprefix("./"), guarded(name)
