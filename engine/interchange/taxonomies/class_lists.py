"""Class lists of labelling tools and data sets: CVAT, FiftyOne, Hugging Face, Label Studio.

Of Label Studio's interface, the nested choices of a Taxonomy become classes; without it, those of
Choices, else the labels of shapes. An alias is the source id, a hint the note, a background the
colour.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.errors import FormatError
from engine.graph.names import join_path
from engine.interchange.imported import (
    Edge,
    ImportedClass,
    ImportedGraph,
    attributes_at,
    check_level,
    checked,
    clean_name_at,
)
from engine.interchange.labelled_images.table_rows import NONE_LABEL
from engine.interchange.taxonomy_file import Opening, taxonomy_json, taxonomy_tree
from engine.interchange.text_file import words
from engine.interchange.xml_files import Element
from engine.texts import Message, line_of

LISTED = ("default_classes", "classes")
"""Fields of class names: a list, or a list for each field of the images."""
MASKS = ("default_mask_targets", "mask_targets")  # fields of names by mask value
_OF_FIFTYONE = re.compile(
    r'"(?:default_classes|default_mask_targets)"\s*:|"classes"\s*:\s*(?:\[\s*"|null|\{)'
)
_OF_HUGGING_FACE = re.compile(r'"_type"\s*:\s*"ClassLabel"')
_OF_CVAT = re.compile(r'"attributes"\s*:\s*\[')


def read_fiftyone(source: Path) -> ImportedGraph:
    """Read FiftyOne's labels.json or metadata.json, or Hugging Face's dataset_info.json.

    The keys are the names.
    """
    document = taxonomy_json(source)
    if not isinstance(document, dict):
        raise FormatError(
            "{source} describes no data set",
            expected='an object with "classes"',
            source=source.name,
        )
    lists = [*_lists_of_fiftyone(document), *_lists_of_hugging_face(document.get("features"))]
    names: dict[str, None] = {}
    for listed in lists or [_named_by_images(document.get("labels"))]:
        names |= dict.fromkeys(_distinct(listed, source.name))
    return checked(
        (ImportedClass(name, name) for name in names if name != NONE_LABEL), (), source.name
    )


def read_cvat(source: Path) -> ImportedGraph:
    """Read labels of CVAT's "Raw" editor, or task.json or project.json of a backup."""
    document = taxonomy_json(source)
    labels = document.get("labels") if isinstance(document, dict) else document
    if not isinstance(labels, list) or not all(isinstance(each, dict) for each in labels):
        raise FormatError(
            "{source} contains no CVAT labels",
            expected='a list of objects with "name"',
            source=source.name,
        )
    names = _distinct([each.get("name") for each in labels], source.name)
    classes = []
    for name, label in zip(names, labels, strict=True):
        number = label.get("id")
        source_id = str(number) if isinstance(number, int) and not isinstance(number, bool) else ""
        place, colour = f'the label "{name}" in {source.name}', str(label.get("color") or "")
        classes.append(
            ImportedClass(
                name, name, attributes_at(place, name, source_id=source_id, colour=colour)
            )
        )
    return checked((each for each in classes if each.name != NONE_LABEL), (), source.name)


def fits_fiftyone(opening: Opening) -> bool:
    """Whether a file describes a data set."""
    return opening.text.startswith("{") and (
        opening.has(_OF_FIFTYONE) or opening.has(_OF_HUGGING_FACE)
    )


def fits_cvat(opening: Opening) -> bool:
    """Whether a file has labels of CVAT, which always have a list of attributes."""
    return opening.text.startswith(("{", "[")) and opening.has(_OF_CVAT)


def _lists_of_fiftyone(document: dict[str, Any]) -> Iterator[list[Any]]:
    for field in LISTED:
        value = document.get(field)
        yield from (
            each
            for each in (value.values() if isinstance(value, dict) else [value])
            if isinstance(each, list)
        )
    for field in MASKS:
        value = document.get(field)
        if isinstance(value, dict):
            inner = [each for each in value.values() if isinstance(each, dict)]
            yield from (list(each.values()) for each in inner or [value] if each)


def _lists_of_hugging_face(features: Any) -> Iterator[list[Any]]:
    """Names of all ClassLabel features, at any depth."""
    waiting = [features]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            names = value.get("names")
            if value.get("_type") == "ClassLabel" and isinstance(names, list):
                yield names
            else:
                waiting += reversed(value.values())
        elif isinstance(value, list):
            waiting += reversed(value)


def _named_by_images(labels: Any) -> list[Any]:
    """Names in the order of the images, for files without a list of classes."""
    found: dict[str, None] = {}
    for target in labels.values() if isinstance(labels, dict) else ():
        for each in target if isinstance(target, list) else [target]:
            name = each.get("label") if isinstance(each, dict) else each
            if isinstance(name, str):
                found[name] = None
    return list(found)


def _distinct(names: list[Any], source_name: str) -> list[str]:
    cleaned: dict[str, None] = {}
    for number, name in enumerate(names, start=1):
        place = Message(
            "class {number} in {source_name}", {"number": number, "source_name": source_name}
        )
        if not isinstance(name, str):
            raise FormatError("{place} is not a text", found=str(name)[:60], place=place)
        clean = clean_name_at(place, name)
        if clean in cleaned:
            raise FormatError(
                "{place} has the same name as an earlier one",
                found=clean,
                remedy="remove one of them",
                place=place,
            )
        cleaned[clean] = None
    return list(cleaned)


TAXONOMY = "Taxonomy"
CHOICES = "Choices"
LABELS = words(
    "Labels RectangleLabels PolygonLabels EllipseLabels BrushLabels KeyPointLabels "
    "BitmaskLabels VideoRectangleLabels TimeSeriesLabels TimelineLabels HyperTextLabels "
    "ParagraphLabels"
)
"""Tags of groups of labels."""
_ENTRIES = frozenset({"Choice", "Label"})


def read_interface(source: Path) -> ImportedGraph:
    """Read the choices of Label Studio's labelling interface ("Code"); the keys are paths."""
    root = taxonomy_tree(source).getroot()
    groups = next(
        (found for tags in ((TAXONOMY,), (CHOICES,), LABELS) if (found := list(root.iter(*tags)))),
        [],
    )
    if not groups:
        raise FormatError(
            "{source} contains no classes to choose from",
            expected="a labelling interface of Label Studio with <Taxonomy>, <Choices> or <Labels>",
            found=f"<{root.tag}>",
            source=source.name,
        )
    classes: dict[str, ImportedClass] = {}
    edges: dict[Edge, None] = {}
    for group in groups:
        offered: set[str] = set()
        for path, entry in _entries(group, source.name):
            key, place = join_path(path), line_of(entry.sourceline, source.name)
            if key in offered:
                raise FormatError(
                    "{place} repeats the class of an earlier line",
                    found=key,
                    remedy="remove one of them",
                    place=place,
                )
            offered.add(key)
            values = {
                "source_id": entry.get("alias"),
                "note": entry.get("hint"),
                "colour": entry.get("background"),
            }
            classes.setdefault(
                key, ImportedClass(key, path[-1], attributes_at(place, path[-1], **values))
            )
            edges |= {(join_path(path[:-1]), key): None} if path[1:] else {}
    return checked(classes.values(), edges, source.name)


def _entries(group: Element, source_name: str) -> Iterator[tuple[tuple[str, ...], Element]]:
    """Each choice with its path, except for our "none of the classes"."""
    waiting: list[tuple[tuple[str, ...], Element]] = [((), group)]
    while waiting:
        path, element = waiting.pop()
        if element.tag in _ENTRIES:
            value = element.get("value", "")
            if not path and value == NONE_LABEL:
                continue
            path = (*path, clean_name_at(line_of(element.sourceline, source_name), value))
            check_level(len(path) - 1, source_name)
            yield path, element
        waiting += [(path, child) for child in reversed(element)]
