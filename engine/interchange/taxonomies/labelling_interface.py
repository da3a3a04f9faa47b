"""Label Studio's labelling interface: the XML in which a project says what can be chosen.

The choices of a Taxonomy become classes, one within another; where there is none, those of Choices, or the labels of
boxes and outlines. An alias is the source id, a hint the note, a background the colour.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from engine.errors import FormatError
from engine.graph.names import join_path
from engine.interchange.imported import (
    ImportedClass,
    ImportedGraph,
    attributes_at,
    check_level,
    checked,
    clean_name_at,
)
from engine.interchange.labelled_images.table_rows import NONE_LABEL
from engine.interchange.taxonomies.opening import Opening
from engine.interchange.taxonomy_file import taxonomy_tree
from engine.interchange.xml_trees import Element

TAXONOMY: Final = "Taxonomy"
CHOICES: Final = "Choices"
LABELS: Final = (
    "Labels", "RectangleLabels", "PolygonLabels", "EllipseLabels", "BrushLabels", "KeyPointLabels", "BitmaskLabels",
    "VideoRectangleLabels", "TimeSeriesLabels", "TimelineLabels", "HyperTextLabels", "ParagraphLabels",
)  # fmt: skip
"""Groups of labels, by what they are put on."""
_ENTRIES: Final = frozenset({"Choice", "Label"})


def read(source: Path) -> ImportedGraph:
    """Read what can be chosen.

    Args:
        source: the interface as Label Studio shows it under "Code".

    Returns:
        The classes; the key is the path.

    Raises:
        StorageError: the file cannot be read.
        FormatError: it is no such interface, or a choice stands twice in one place or has no value.
    """
    root = taxonomy_tree(source).getroot()
    groups = next((found for tags in ((TAXONOMY,), (CHOICES,), LABELS) if (found := list(root.iter(*tags)))), [])
    if not groups:
        raise FormatError(
            "{source} offers no classes",
            expected="a labelling interface of Label Studio with <Taxonomy>, <Choices> or <Labels>",
            found=f"<{root.tag}>",
            source=source.name,
        )
    classes: dict[str, ImportedClass] = {}
    edges: dict[tuple[str, str], None] = {}
    for group in groups:
        offered: set[str] = set()
        for path, entry in _entries(group, source.name):
            key, place = join_path(path), f"line {entry.sourceline} of {source.name}"
            if key in offered:
                raise FormatError(
                    "{place} offers the class of an earlier line", found=key, remedy="take one of them out", place=place
                )
            offered.add(key)
            classes.setdefault(key, _class(key, path[-1], entry, place))
            edges |= {(join_path(path[:-1]), key): None} if path[1:] else {}
    return checked(ImportedGraph(tuple(classes.values()), tuple(edges)), source.name)


def fits(opening: Opening) -> bool:
    """Whether a file is of this format."""
    return opening.xml_root == "View"


def _class(key: str, name: str, entry: Element, place: str) -> ImportedClass:
    attributes = {"source_id": entry.get("alias"), "note": entry.get("hint"), "colour": entry.get("background")}
    return ImportedClass(key, name, attributes_at(place, name, **attributes))


def _entries(group: Element, source_name: str) -> Iterator[tuple[tuple[str, ...], Element]]:
    """Each choice with its path, but for our own "none of these"."""
    waiting: list[tuple[tuple[str, ...], Element]] = [((), group)]
    while waiting:
        path, element = waiting.pop()
        if element.tag in _ENTRIES:
            value = element.get("value", "")
            if not path and value == NONE_LABEL:
                continue
            path = (*path, clean_name_at(f"line {element.sourceline} of {source_name}", value))
            check_level(len(path) - 1, source_name)
            yield path, element
        waiting += [(path, child) for child in reversed(element)]
