"""The CSV file of predictions: always UTF-8, safe to open in a spreadsheet, and read back by `truth_file`.

A file name that is no valid Unicode stands there as the bytes it has, which is what the error handler `surrogateescape`
reads back. The word "unknown" means that an image shows none of the classes. A class of that name has a path in the
column `path`, where the outcome has none, and stands in `safe_class` as a path from the top: "/Bird/unknown".

A score is a probability given that the image shows one of the classes. Where `safe_class` is the outcome unknown, class
and score say only which class it would be if it were one of them, and `safe_score` is 0.
"""

import csv
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.errors import FormatError, GraphError, UnknownClassError, found_at
from engine.full_disk import writing
from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import NO_CLASS
from engine.graph.names import SEPARATOR, split_path
from engine.interchange.table_text import first_line, guarded, header_separator, table_lines, table_rows
from engine.interchange.table_writer import write_table
from engine.new_file import output_file, text_into
from engine.texts import Message

COLUMNS: Final = ("image", "class", "path", "score", "safe_class", "safe_score", "setting", "model")
LABELLED_BY: Final = "labelled_by"
"""Further column where labelled images are written too: the person who said so, empty for a prediction."""

UNKNOWN_NAME: Final = "unknown"


@dataclass(frozen=True)
class PredictedRow:
    """A model's prediction for an image."""

    image: str  # its path
    class_id: int  # the most likely leaf
    score: float  # its probability
    safe_class_id: int | None  # None when not even a coarse class is sure
    safe_score: float  # its probability
    is_unknown: bool  # too far from every class


@dataclass(frozen=True)
class LabelledRow:
    """A person's label; `class_id` is None for none of the classes."""

    image: str
    class_id: int | None
    who: str


def write_predictions_file(
    out: Path,
    graph: CategoryGraph,
    rows: Iterable[PredictedRow | LabelledRow],
    *,
    setting: str,
    model: str,
    with_people: bool = False,
    is_plain: bool = False,
) -> None:
    """Write the rows as CSV, whole or not at all.

    Args:
        out: the file.
        graph: the classes.
        rows: in the order in which they are written.
        setting, model: how the predictions were made; written into each of their rows.
        with_people: whether to add a column for who labelled an image.
        is_plain: write names as they are, also those that a spreadsheet would run as formulas.

    Raises:
        StorageError: the file cannot be written.
    """
    header = (*COLUMNS, LABELLED_BY) if with_people else COLUMNS
    cells = _Cells(graph, setting, model)
    with (
        writing(out, "the predictions cannot be written", "choose another place"),
        output_file(out) as file,
        text_into(file, errors="surrogateescape") as text,
    ):
        write_table(text, header, (cells.of(row)[: len(header)] for row in rows), is_plain=is_plain)


class _Cells:
    """Cells of rows; the name and path of each class are made once."""

    def __init__(self, graph: CategoryGraph, setting: str, model: str) -> None:
        self._graph = graph
        self._made_by = setting, model
        self._known: dict[int, tuple[str, str]] = {}

    def of(self, row: PredictedRow | LabelledRow) -> Sequence[str]:
        if isinstance(row, LabelledRow):
            if row.class_id is None:
                return row.image, UNKNOWN_NAME, "", "", UNKNOWN_NAME, "", "", "", row.who
            # What people say is sure, so it is the safe class as well.
            return row.image, *self._names(row.class_id), "", self._unmistakable(row.class_id), "", "", "", row.who
        safe = "" if row.safe_class_id is None else self._unmistakable(row.safe_class_id)
        safe = UNKNOWN_NAME if row.is_unknown else safe
        score, safe_score = f"{row.score:.6f}", f"{row.safe_score:.6f}"
        return row.image, *self._names(row.class_id), score, safe, safe_score, *self._made_by, ""

    def _names(self, class_id: int) -> tuple[str, str]:
        if class_id not in self._known:
            self._known[class_id] = self._graph.name(class_id), self._graph.path_text(class_id)
        return self._known[class_id]

    def _unmistakable(self, class_id: int) -> str:
        """The name; a path where the name alone would be ambiguous."""
        name, path = self._names(class_id)
        return SEPARATOR + path if name == UNKNOWN_NAME else name


IMAGE: Final = "image"
CLASS: Final = "class"
PATH: Final = "path"
_SHOWN: Final = 60
_CALLED: Final = Message("the truth file")


def read_truth(path: Path, graph: CategoryGraph) -> dict[str, int]:
    """Read a table with the columns image and class: ground truth, or a file of predictions.

    The class is a name or path, empty or "unknown" for none of the classes. Where a column `path` ends in the class, as
    in our own files, it distinguishes classes of one name, also a class that is called "unknown".

    Args:
        path: UTF-8, with or without a byte order mark, or UTF-16 with one; comma, semicolon or tab between the cells,
            after a line `sep=;` too. Names of files may be any bytes.
        graph: the project's classes.

    Returns:
        Class by image; `NO_CLASS` for none. The images are named as in the file, without the apostrophe that guards
        them from spreadsheets.

    Raises:
        FormatError: columns are missing, a class is not in the graph, or two lines give one image two classes.
        StorageError: the file cannot be read.
    """
    try:
        rows = table_rows(path, _separator(path), {IMAGE, CLASS, PATH}, _CALLED)
        named = ((row[IMAGE], _class_of(graph, row[CLASS], row.get(PATH), line), line) for line, row in rows)
        return _answers(named)
    except csv.Error as error:
        raise FormatError("the truth file is not a CSV file", found=found_at(path, error)) from error


def _answers(named: Iterable[tuple[str, int, int]]) -> dict[str, int]:
    """Class by image; each of `named` ends with its line."""
    found: dict[str, tuple[int, int]] = {}
    for image, class_id, line in named:
        known, first_line = found.setdefault(image, (class_id, line))
        if known != class_id:
            raise FormatError(
                "the truth file names two classes for one image",
                expected="one class for each image",
                found="“{image}” in lines {first_line} and {line}",
                remedy="delete the line that is wrong",
                image=image,
                first_line=first_line,
                line=line,
            )
    return {image: class_id for image, (class_id, _) in found.items()}


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
    return ", ".join(cell.strip() for cell in line[:_SHOWN].split(",")).encode("utf-8", "backslashreplace").decode()


def _class_of(graph: CategoryGraph, class_text: str, path_text: str | None, line: int) -> int:
    name, path = unicodedata.normalize("NFC", class_text).strip(), path_text or ""
    if not name or (path_text is not None and name == UNKNOWN_NAME and not path.strip()):
        return NO_CLASS
    is_path_of_class = split_path(path)[-1:] == (name,)  # and no file's, as a column of that name may hold
    is_named = name != UNKNOWN_NAME or is_path_of_class or any(graph.name(each) == name for each in graph.fitting(name))
    if not is_named:  # it may be a synonym, as in WordNet, but here it is our own word
        return NO_CLASS
    try:
        by_path = _find(graph, path) if is_path_of_class else None
        by_name = _find(graph, name) if by_path is None else by_path
        return graph.find(name) if by_name is None else by_name
    except GraphError as error:
        raise _refusal(error, class_text, line) from error


def _find(graph: CategoryGraph, text: str) -> int | None:
    """The class of a name or path, if any; the apostrophe may be the name's own."""
    for spelled in dict.fromkeys((text, guarded(text))):
        with suppress(UnknownClassError):
            return graph.find(spelled)
    return None


def _refusal(error: GraphError, class_text: str, line: int) -> FormatError:
    try:
        class_text.encode()
    except UnicodeEncodeError:
        return FormatError(
            "in line {line} the truth file is not text in UTF-8",
            found="the class {class_text}",
            remedy="save it as UTF-8",
            line=line,
            class_text=ascii(class_text[:_SHOWN]),
        )
    return FormatError(
        "in line {line} of the truth file {problem}",
        found=error.found,
        remedy=error.remedy,
        line=line,
        problem=error.what,
    )


def image_keys(truth: Mapping[str, int]) -> dict[str, str]:
    """The name of an image in the truth file by each of its `spellings`, its own name first."""
    keys: dict[str, str] = {}
    for each in zip(*map(spellings, truth), strict=True):
        for spelled, name in zip(each, truth, strict=True):
            keys.setdefault(spelled, name)
    return keys


def spellings(name: str) -> tuple[str, str, str]:
    """Names under which an image of the truth file is looked up, in this order.

    Its own name; the path that is meant where people write backslashes, blanks around it, or `./` before it; the name
    with an apostrophe of its own.
    """
    return name, name.replace("\\", "/").strip().removeprefix("./"), guarded(name)
