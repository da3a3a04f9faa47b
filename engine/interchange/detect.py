"""Formats of category graphs, their detection, and reading a graph from a file or folder."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from engine.errors import FormatError, StorageError, UsageError
from engine.graph.category_graph import CategoryGraph
from engine.graph.edits import ClassAdded, EdgeAdded
from engine.graph.traversal import reachable
from engine.interchange import json_tree, nested_folders
from engine.interchange.imported import ImportedGraph
from engine.interchange.tables.dialects import CHECKLISTS
from engine.interchange.tables.workbooks import WORKBOOK_SUFFIXES
from engine.interchange.taxonomies import (
    class_lists,
    class_tables,
    graphml,
    name_list,
    obo,
    packages,
    skos,
    wordnet,
)
from engine.interchange.taxonomy_file import Opening, taxonomy_text
from engine.texts import enumerated

AUTO = "auto"
_SYNSET_EDGE = re.compile(r"n\d{8}\s+n\d{8}\s*")


@dataclass(frozen=True)
class GraphFormat:
    """A format that a category graph can be imported from."""

    description: str  # for users, in a few words
    read: Callable[..., ImportedGraph]
    """Reads a source; of `TABLES` with column by role, set by the user.

    StorageError if it cannot be read, FormatError if it is of another format.
    """
    fits: Callable[[Opening], bool]  # whether a file with this beginning is of the format
    patterns: tuple[str, ...] = ()  # of its files, for file dialogs


def _is_checklist(opening: Opening) -> bool:
    """Whether a file is an archive of taxa, or a table in a dialect of checklists."""
    if opening.members:
        return packages.holds_taxa(opening.members)
    layout = class_tables.layout_in(opening.source)
    return layout is not None and layout.dialect is not None and layout.dialect.name in CHECKLISTS


TABLES = frozenset({"csv", "darwin-core"})  # formats whose columns the user can set
FORMATS: Mapping[str, GraphFormat] = {
    "folders": GraphFormat(
        "nested folders: Fruit/Apple/Granny-Smith", nested_folders.read, lambda _: False
    ),
    "wordnet": GraphFormat("WordNet's data.noun", wordnet.read, wordnet.fits, wordnet.FILES),
    "imagenet": GraphFormat(
        "ImageNet's wordnet.is_a.txt with words.txt next to it",
        wordnet.read_imagenet,
        lambda opening: _SYNSET_EDGE.fullmatch(opening.first_line) is not None,
        (wordnet.IS_A_FILE,),
    ),
    "obo": GraphFormat("OBO: the terms of an ontology", obo.read, obo.fits, ("*.obo",)),
    "skos": GraphFormat(
        "SKOS: a thesaurus as Turtle, RDF/XML or JSON-LD",
        skos.read,
        skos.fits,
        ("*.ttl", "*.rdf", "*.jsonld"),
    ),
    "graphml": GraphFormat(
        "GraphML: nodes, and edges from parent to child",
        graphml.read,
        lambda opening: opening.xml_root == "graphml",
        ("*.graphml",),
    ),
    "label-studio": GraphFormat(
        "Label Studio: the XML of a labelling interface",
        class_lists.read_interface,
        lambda opening: opening.xml_root == "View",
        ("*.xml",),
    ),
    "cvat": GraphFormat("CVAT: its labels as JSON", class_lists.read_cvat, class_lists.fits_cvat),
    "fiftyone": GraphFormat(
        "FiftyOne or Hugging Face: the classes of a data set",
        class_lists.read_fiftyone,
        class_lists.fits_fiftyone,
    ),
    "json": GraphFormat(
        'JSON: a tree of "name" and "children", or a list of "classes"',
        json_tree.read,
        lambda opening: opening.text.startswith(("{", "[")),
        ("*.json",),
    ),
    "darwin-core": GraphFormat(
        "Darwin Core: a checklist of GBIF and others, zipped or not",
        packages.read,
        _is_checklist,
        ("*.zip",),
    ),
    "csv": GraphFormat(
        "table: a row for each class, with its parent or a column for each rank; "
        "Excel and LibreOffice as well",
        class_tables.read,
        lambda opening: class_tables.layout_in(opening.source) is not None,
        ("*.csv", "*.tsv", "*.tab", *(f"*{suffix}" for suffix in WORKBOOK_SUFFIXES)),
    ),
    "list": GraphFormat(
        "text with one name in each line",
        name_list.read,
        name_list.fits,
        ("*.txt", "*.names", "*.md", "*.yaml", "*.yml"),
    ),
}
"""By name, in the order of detection."""


def read_graph(
    source: Path,
    format: str = AUTO,  # noqa: A002 (the option --format)
    *,
    under: str | None = None,
    only: Collection[str] = (),
    columns: Mapping[str, str] | None = None,
) -> ImportedGraph:
    """Read a category graph, or a part of it: see `restricted`.

    Args:
        source: a file or folder.
        format: a key of `FORMATS`, or "auto" to detect it.
        under, only: see `restricted`.
        columns: by role or rank, set by the user; see `engine.interchange.tables`.

    Raises:
        UsageError: there is no such format, role or column.
        StorageError: the source cannot be read.
        FormatError: it is not of its format, or of no known format.
        UnknownClassError, AmbiguousClassError: `under` or `only` matches no class, or several.
    """
    name = (
        ("csv" if columns and source.is_file() else detect_format(source))
        if format == AUTO
        else format
    )
    if name not in FORMATS:
        raise UsageError(
            'there is no graph format "{name}"',
            expected="one of {formats}",
            remedy="choose one",
            name=name,
            formats=_names(),
        )
    if columns and name not in TABLES:
        raise UsageError(
            "only tables have columns to be named",
            found=name,
            remedy="leave --column out",
            name=name,
        )
    imported = FORMATS[name].read(source, columns) if columns else FORMATS[name].read(source)
    return restricted(imported, under=under, only=only)


def detect_format(source: Path) -> str:
    """Detect the format of a file or folder: a key of `FORMATS`.

    Raises:
        StorageError: the source does not exist.
        FormatError: it is of no known format.
    """
    if not source.exists():
        raise StorageError('there is no "{source}"', remedy="check the path", source=source)
    if source.is_dir():
        if (source / wordnet.IS_A_FILE).is_file():
            return "imagenet"
        if (source / wordnet.FILES[0]).is_file():
            return "wordnet"
        return "darwin-core" if packages.is_unpacked(source) else "folders"
    opening = Opening.of(source)
    return next((name for name, each in FORMATS.items() if each.fits(opening)), "") or _by_suffix(
        source
    )


def _by_suffix(source: Path) -> str:
    """Guess the format by the suffix, so that the reader raises its error."""
    for name, each in FORMATS.items():
        if name != "list" and source.suffix and f"*{source.suffix.casefold()}" in each.patterns:
            return name
    first_line = next(
        (line for line in taxonomy_text(source).splitlines() if line.strip()), ""
    ).strip()
    if "\t" in first_line or ";" in first_line:
        return "csv"
    raise FormatError(
        "{source} is in none of the known formats",
        expected="one of {formats}",
        found=f'"{first_line[:60]}"' if first_line else "an empty file",
        remedy="name the format if you know it",
        source=source.name,
        formats=_names(),
    )


def _names() -> str:
    return enumerated(FORMATS)


def restricted(
    imported: ImportedGraph, *, under: str | None = None, only: Collection[str] = ()
) -> ImportedGraph:
    """Restrict an imported graph, in its order.

    Args:
        imported: the whole graph.
        under: a key, name, path or synonym: only that class and its descendants.
        only: likewise: only these classes and their ancestors, within `under` if both are given.

    Raises:
        UnknownClassError, AmbiguousClassError: a text matches no class, or several.
    """
    if under is None and not only:
        return imported
    find_key = _key_finder(imported)
    kept = {each.key for each in imported.classes}
    if under is not None:
        kept = _with_all(imported.child_keys, {find_key(under)})
    if only:
        kept &= _with_all(imported.parent_keys, set(map(find_key, only)))
    return ImportedGraph(
        tuple(each for each in imported.classes if each.key in kept),
        tuple(edge for edge in imported.edges if edge[0] in kept and edge[1] in kept),
        imported.left_out,
    )


def _with_all(neighbours: dict[str, list[str]], keys: set[str]) -> set[str]:
    return keys | reachable(lambda key: neighbours.get(key, ()), *keys)


def _key_finder(imported: ImportedGraph) -> Callable[[str], str]:
    """Make a function that finds a class by key, name, path or synonym."""
    keys = list(imported.parent_keys)

    @cache
    def graph() -> CategoryGraph:  # not needed for keys, the usual case for large sources
        id_of = {key: class_id for class_id, key in enumerate(keys, start=1)}
        found = CategoryGraph()
        found.apply(
            ClassAdded(id_of[each.key], each.name, each.attributes) for each in imported.classes
        )
        found.apply(EdgeAdded(id_of[parent], id_of[child]) for parent, child in imported.edges)
        return found

    def find_key(text: str) -> str:
        return text if text in imported.parent_keys else keys[graph().find(text) - 1]

    return find_key
