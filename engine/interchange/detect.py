"""Reading a category graph from whatever it is given in."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.errors import FormatError, StorageError, UsageError
from engine.interchange import csv_edges, imagenet, json_tree, nested_folders
from engine.interchange.imported import ImportedGraph
from engine.interchange.restrict import restricted
from engine.interchange.text_file import read_text

AUTO: Final = "auto"
_SYNSET_EDGE: Final = re.compile(r"n\d{8}\s+n\d{8}\s*")


@dataclass(frozen=True)
class GraphFormat:
    """A format that a category graph can be imported from.

    Attributes:
        description: for a person, in a few words.
        read: reads a file or folder of this format.
    """

    description: str
    read: Callable[[Path], ImportedGraph]


FORMATS: Final[Mapping[str, GraphFormat]] = {
    "folders": GraphFormat("nested folders: Fruit/Apple/Granny-Smith", nested_folders.read),
    "csv": GraphFormat('table with the columns "child" and "parent", perhaps "id"', csv_edges.read),
    "json": GraphFormat('JSON: a tree of "name" and "children", or a list of "classes"', json_tree.read),
    "imagenet": GraphFormat("ImageNet's wordnet.is_a.txt with words.txt beside it", imagenet.read),
}


def read_graph(
    source: Path,
    format: str = AUTO,  # noqa: A002 (the word a person writes: --format)
    *,
    under: str | None = None,
    only: Collection[str] = (),
) -> ImportedGraph:
    """Read a category graph.

    Args:
        source: a file or folder.
        format: a key of `FORMATS`, or "auto" to look at the source.
        under: a key, name, path or synonym: only that class and what is below it.
        only: likewise: only these classes and what is above them.

    Returns:
        What the source holds, checked: names are clean, siblings differ, there is no cycle.

    Raises:
        UsageError: there is no such format.
        StorageError: the source cannot be read.
        FormatError: it does not hold what its format promises, or is of none of the formats.
        UnknownClassError: `under` or `only` fits no class.
        AmbiguousClassError: `under` or `only` fits several.
    """
    name = detect_format(source) if format == AUTO else format
    if name not in FORMATS:
        raise UsageError(f'there is no graph format "{name}"', expected=f"one of {_names()}", remedy="choose one")
    return restricted(FORMATS[name].read(source), under=under, only=only)


def detect_format(source: Path) -> str:
    """Tell the format of a file or folder.

    Returns:
        A key of `FORMATS`.

    Raises:
        StorageError: there is nothing to read.
        FormatError: it looks like none of the formats.
    """
    if not source.exists():
        raise StorageError(f'there is no "{source}"', remedy="check the path")
    if source.is_dir():
        return "imagenet" if (source / imagenet.IS_A_FILE).is_file() else "folders"
    by_suffix = {".json": "json", ".csv": "csv", ".tsv": "csv"}.get(source.suffix.casefold())
    return by_suffix or _detect_by_content(source)


def _detect_by_content(source: Path) -> str:
    first_line = next((line for line in read_text(source).splitlines() if line.strip()), "").strip()
    if _SYNSET_EDGE.fullmatch(first_line):
        return "imagenet"
    if first_line.startswith(("{", "[")):
        return "json"
    if csv_edges.has_header(first_line):
        return "csv"
    raise FormatError(
        f"{source.name} is in none of the known formats",
        expected=f"one of {_names()}",
        found=f'"{first_line[:60]}"' if first_line else "an empty file",
        remedy="name the format if you know it",
    )


def _names() -> str:
    return ", ".join(FORMATS)
