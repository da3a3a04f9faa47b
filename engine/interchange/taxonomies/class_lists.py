"""Flat lists of classes as JSON: data sets of FiftyOne and Hugging Face, labels of CVAT."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from engine.errors import FormatError
from engine.interchange.imported import ImportedClass, ImportedGraph, attributes_at, checked, clean_name_at
from engine.interchange.labelled_images.table_rows import NONE_LABEL
from engine.interchange.taxonomies.opening import Opening
from engine.interchange.taxonomy_file import json_document, taxonomy_text

LISTED: Final = ("default_classes", "classes")
"""Fields of a data set's description that hold names: a list, or a list for each field of its images."""
MASKS: Final = ("default_mask_targets", "mask_targets")
"""Fields that say what the values of masks stand for, likewise."""
_OF_FIFTYONE: Final = re.compile(r'"(?:default_classes|default_mask_targets)"\s*:|"classes"\s*:\s*(?:\[\s*"|null|\{)')
_OF_HUGGING_FACE: Final = re.compile(r'"_type"\s*:\s*"ClassLabel"')
_OF_CVAT: Final = re.compile(r'"attributes"\s*:\s*\[')


def read_fiftyone(source: Path) -> ImportedGraph:
    """Read the classes of a data set.

    Args:
        source: FiftyOne's `labels.json` or `metadata.json`, or Hugging Face's `dataset_info.json`.

    Returns:
        The classes, none above another; the key is the name.

    Raises:
        StorageError: the file cannot be read.
        FormatError: it is no such file, or lists a class twice.
    """
    document = json_document(taxonomy_text(source), source.name)
    if not isinstance(document, dict):
        raise FormatError("{source} describes no data set", expected='an object with "classes"', source=source.name)
    lists = [*_lists_of_fiftyone(document), *_lists_of_hugging_face(document.get("features"))]
    names: dict[str, None] = {}
    for listed in lists or [_named_by_images(document.get("labels"))]:
        names |= dict.fromkeys(_distinct(listed, source.name))
    return _flat([ImportedClass(name, name) for name in names if name != NONE_LABEL], source.name)


def read_cvat(source: Path) -> ImportedGraph:
    """Read the labels of CVAT.

    Args:
        source: what its "Raw" editor shows, or the `task.json` or `project.json` of a backup.

    Returns:
        The classes with their colours, none above another; the key is the name.

    Raises:
        StorageError: the file cannot be read.
        FormatError: it is no such file, or has a label twice.
    """
    document = json_document(taxonomy_text(source), source.name)
    labels = document.get("labels") if isinstance(document, dict) else document
    if not isinstance(labels, list) or not all(isinstance(each, dict) for each in labels):
        raise FormatError(
            "{source} holds no labels of CVAT", expected='a list of objects with "name"', source=source.name
        )
    names = _distinct([each.get("name") for each in labels], source.name)
    classes = []
    for name, label in zip(names, labels, strict=True):
        number = label.get("id")
        source_id = str(number) if isinstance(number, int) and not isinstance(number, bool) else ""
        place, colour = f'the label "{name}" in {source.name}', str(label.get("color") or "")
        classes.append(ImportedClass(name, name, attributes_at(place, name, source_id=source_id, colour=colour)))
    return _flat([each for each in classes if each.name != NONE_LABEL], source.name)


def fits_fiftyone(opening: Opening) -> bool:
    """Whether a file describes a data set."""
    return opening.text.startswith("{") and (opening.has(_OF_FIFTYONE) or opening.has(_OF_HUGGING_FACE))


def fits_cvat(opening: Opening) -> bool:
    """Whether a file holds labels of CVAT, which always have attributes, if only an empty list of them."""
    return opening.text.startswith(("{", "[")) and opening.has(_OF_CVAT)


def _lists_of_fiftyone(document: dict[str, Any]) -> Iterator[list[Any]]:
    for field in LISTED:
        value = document.get(field)
        yield from (each for each in (value.values() if isinstance(value, dict) else [value]) if isinstance(each, list))
    for field in MASKS:
        value = document.get(field)
        if isinstance(value, dict):
            inner = [each for each in value.values() if isinstance(each, dict)]
            yield from (list(each.values()) for each in inner or [value] if each)


def _lists_of_hugging_face(features: Any) -> Iterator[list[Any]]:
    """Names of every feature that is a class, however deep it lies."""
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
    """Names in the order in which images have them; such a file lists no classes of its own."""
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
        place = f"class {number} in {source_name}"
        if not isinstance(name, str):
            raise FormatError("{place} is not a text", found=str(name)[:60], place=place)
        clean = clean_name_at(place, name)
        if clean in cleaned:
            raise FormatError(
                "{place} has the name of an earlier one", found=clean, remedy="take one of them out", place=place
            )
        cleaned[clean] = None
    return list(cleaned)


def _flat(classes: list[ImportedClass], source_name: str) -> ImportedGraph:
    return checked(ImportedGraph(tuple(classes), ()), source_name)
