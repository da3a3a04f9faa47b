"""Reader of ground truth: a table of images and classes, or a file of predictions."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from engine.collection.importing.class_reading import ClassReader
from engine.errors import FormatError, GraphError
from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import NO_CLASS
from engine.interchange.labelled_images.csv_table import opened_labels
from engine.interchange.labelled_images.table_rows import class_in
from engine.interchange.table_writer import guarded
from engine.texts import Message

_CALLED = Message("the truth file")
_SHOWN = 60  # characters


def read_truth(
    path: Path, graph: CategoryGraph, columns: Mapping[str, str] | None = None
) -> dict[str, int]:
    """Read a table of images and classes: ground truth, or a file of predictions.

    The class is a name or path, empty or "unknown" for none of the classes. A column `path` that
    ends with the class, as in our own files, distinguishes classes of one name.

    Args:
        path: a table, see `engine.interchange.tables`. In our own, file names may be any bytes.
        graph: the project's classes.
        columns: names by role, chosen by the user.

    Returns:
        Class by image name; `NO_CLASS` for none. Names are without the apostrophe that guards them
        from spreadsheets.

    Raises:
        UsageError, FormatError: columns are missing, a class is not in the graph, or two lines give
            one image two classes; names the line.
        StorageError: the file cannot be read.
    """
    reader = ClassReader(graph)
    with opened_labels(path, columns, _CALLED) as (table, rows):
        named = (
            (row["image"], _class_of(reader, graph, row, line), line)
            for line, row in table.fields(rows)
        )
        return _answers(named)


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


def _class_of(reader: ClassReader, graph: CategoryGraph, row: Mapping[str, str], line: int) -> int:
    meant = class_in(row)
    if not meant.names:
        return NO_CLASS
    reading = reader.read(
        meant.names, other_names=meant.other_names, ignores_synonyms=meant.may_be_none
    )
    if reading.class_id is not None:
        return reading.class_id
    if meant.may_be_none and not reading.is_conflict:
        return NO_CLASS
    text = row["class"]
    with suppress(GraphError):
        return graph.find(guarded(text))  # the apostrophe may be a part of the name
    try:
        return graph.find(text)
    except GraphError as error:
        raise _refusal(error, text, line) from error


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
    """Image name in the truth file by each of its `spellings`; exact names win."""
    keys: dict[str, str] = {}
    for each in zip(*map(spellings, truth), strict=True):
        for spelled, name in zip(each, truth, strict=True):
            keys.setdefault(spelled, name)
    return keys


def spellings(name: str) -> tuple[str, str, str]:
    """Spellings under which an image of the truth file is looked up, in this order.

    The exact name; the path without backslashes, surrounding blanks and `./`; the name with a
    leading apostrophe.
    """
    return name, name.replace("\\", "/").strip().removeprefix("./"), guarded(name)
