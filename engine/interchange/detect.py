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
from engine.interchange.taxonomies import class_lists, darwin_core, graphml, labelling_interface, obo, skos, wordnet
from engine.interchange.taxonomies.darwin_core_tables import is_unpacked
from engine.interchange.taxonomies.opening import Opening
from engine.interchange.taxonomy_file import taxonomy_text

AUTO: Final = "auto"
_SYNSET_EDGE: Final = re.compile(r"n\d{8}\s+n\d{8}\s*")


@dataclass(frozen=True)
class GraphFormat:
    """A format that a category graph can be imported from."""

    description: str  # for a person, in a few words
    read: Callable[[Path], ImportedGraph]  # reads a file or folder of this format
    fits: Callable[[Opening], bool]  # whether a file that begins so is of this format
    patterns: tuple[str, ...] = ()  # names of its files, as file dialogs filter by them


FORMATS: Final[Mapping[str, GraphFormat]] = {
    "folders": GraphFormat("nested folders: Fruit/Apple/Granny-Smith", nested_folders.read, lambda _: False),
    "wordnet": GraphFormat("WordNet's data.noun", wordnet.read, wordnet.fits, wordnet.FILES),
    "imagenet": GraphFormat(
        "ImageNet's wordnet.is_a.txt with words.txt beside it",
        imagenet.read,
        lambda opening: _SYNSET_EDGE.fullmatch(opening.first_line) is not None,
        (imagenet.IS_A_FILE,),
    ),
    "obo": GraphFormat("OBO: the terms of an ontology", obo.read, obo.fits, ("*.obo",)),
    "skos": GraphFormat(
        "SKOS: a thesaurus as Turtle, RDF/XML or JSON-LD", skos.read, skos.fits, ("*.ttl", "*.rdf", "*.jsonld")
    ),
    "graphml": GraphFormat(
        "GraphML: nodes, and edges from parent to child", graphml.read, graphml.fits, ("*.graphml",)
    ),
    "label-studio": GraphFormat(
        "Label Studio: the XML of a labelling interface",
        labelling_interface.read,
        labelling_interface.fits,
        ("*.xml",),
    ),
    "cvat": GraphFormat("CVAT: its labels as JSON", class_lists.read_cvat, class_lists.fits_cvat),
    "fiftyone": GraphFormat(
        "FiftyOne or Hugging Face: the classes of a data set", class_lists.read_fiftyone, class_lists.fits_fiftyone
    ),
    "json": GraphFormat(
        'JSON: a tree of "name" and "children", or a list of "classes"',
        json_tree.read,
        lambda opening: opening.text.startswith(("{", "[")),
        ("*.json",),
    ),
    "csv": GraphFormat(
        'table with the columns "child" and "parent", perhaps "id"',
        csv_edges.read,
        lambda opening: csv_edges.has_header(opening.first_line),
        ("*.csv", "*.tsv"),
    ),
    "darwin-core": GraphFormat(
        "Darwin Core: a checklist of GBIF and others, zipped or not", darwin_core.read, darwin_core.fits, ("*.zip",)
    ),
}
"""By name, in the order in which a file is compared with them."""


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
        raise UsageError(
            'there is no graph format "{name}"',
            expected="one of {formats}",
            remedy="choose one",
            name=name,
            formats=_names(),
        )
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
        raise StorageError('there is no "{source}"', remedy="check the path", source=source)
    if source.is_dir():
        return _format_of_folder(source)
    opening = Opening.of(source)
    return next((name for name, each in FORMATS.items() if each.fits(opening)), "") or _by_suffix(source)


def _format_of_folder(source: Path) -> str:
    if (source / imagenet.IS_A_FILE).is_file():
        return "imagenet"
    if (source / wordnet.FILES[0]).is_file():
        return "wordnet"
    return "darwin-core" if is_unpacked(source) else "folders"


def _by_suffix(source: Path) -> str:
    """The format that a file should be of by its name, so that reading it can say what is wrong with it."""
    for name, each in FORMATS.items():
        if source.suffix and f"*{source.suffix.casefold()}" in each.patterns:
            return name
    first_line = next((line for line in taxonomy_text(source).splitlines() if line.strip()), "").strip()
    raise FormatError(
        "{source} is in none of the known formats",
        expected="one of {formats}",
        found=f'"{first_line[:60]}"' if first_line else "an empty file",
        remedy="name the format if you know it",
        source=source.name,
        formats=_names(),
    )


def _names() -> str:
    return ", ".join(FORMATS)
