"""Labels and fields of images in formats of annotation tools.

Such a tool has one name for each class, and free fields for each annotation. The label is the
class's name if it is unique, else its path. The fields are the columns of the CSV table: who, when,
path, score, model.
"""

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from urllib.request import url2pathname

from engine.file_parts import WHOLE, BoundingBox, FilePart, file_part
from engine.graph.names import loose_name, split_path
from engine.interchange.labelled_images.foreign_labels import ForeignLabel
from engine.interchange.labelled_images.json_lines import plain, texts
from engine.interchange.labelled_images.records import LabelledImage, LabelledImages
from engine.interchange.labelled_images.table_rows import (
    EMPTY_LABEL,
    EMPTY_NAMES,
    ITEM_COLUMNS,
    NONE_LABEL,
    ORIGINAL,
    label_in,
    row_of,
)

_IN_OTHER_COLUMNS = frozenset({"image", "class"})
_OF_THE_FILE = frozenset({ORIGINAL, "file", "content_hash"}) | ITEM_COLUMNS - {"is_empty"}
OBJECT = "object"
"""Label of a box without a label, a prediction and a detector category."""
_OF_DETECTORS = frozenset({"animal", "person", "human", "vehicle", "empty", OBJECT})
_SAME = 1e-5
"""Rounding error of boxes as a share of a side: a tenth of a pixel in 10,000. Chosen."""
_NOTHING: tuple[Any, ...] = (None, "", ())


class ClassLabels:
    """Unique labels of all classes of a collection."""

    def __init__(self, images: LabelledImages) -> None:
        self._images = images
        graph = images.graph
        self.classes = tuple(sorted(graph.classes(), key=lambda each: (graph.level(each), each)))
        names = {each: graph.name(each) for each in self.classes}
        called = Counter([*names.values(), NONE_LABEL])
        paths = {images.path_text(each) for each, name in names.items() if called[name] > 1}
        self._labels = {
            each: name if called[name] == 1 and name not in paths else images.path_text(each)
            for each, name in names.items()
        }

    def of_class(self, class_id: int) -> str:
        return self._labels[class_id]

    def of(self, image: LabelledImage) -> str | None:
        """The label of an image, or its detector category; None for a whole file without either."""
        if image.class_id is not None:
            return self._labels[image.class_id]
        if image.is_of_none:
            return NONE_LABEL
        if image.is_empty:
            return EMPTY_LABEL
        return None if image.part.box is None else image.category or OBJECT

    @cached_property
    def further_labels(self) -> tuple[str, ...]:
        """Labels of images without a class."""
        used = {self.of(image) for image in self._images.images if image.class_id is None}
        return tuple(
            sorted(label for label in used if label and label not in self._labels.values())
        )

    @cached_property
    def all_labels(self) -> tuple[str, ...]:
        """All labels, parents before children, those without a class last."""
        return (*self._labels.values(), *self.further_labels)


def names_below(images: LabelledImages) -> dict[int, str]:
    """Path of each image below their common folder, with "/" as separator, by image id."""
    if not images.images:
        return {}
    try:
        folder = os.path.commonpath({image.file.parent for image in images.images})
        return {
            image.image_id: image.file.relative_to(folder).as_posix() for image in images.images
        }
    except ValueError:  # on several drives
        return {image.image_id: image.path for image in images.images}


def fields_of(images: LabelledImages, image: LabelledImage, *without: str) -> dict[str, Any]:
    """The non-empty columns of an image as JSON values, and its path in the project.

    Args:
        images: the collection.
        image: one of its images.
        without: columns that the format stores elsewhere, besides the class.
    """
    return {ORIGINAL: image.path} | {
        name: plain(value)
        for name, value in row_of(images, image).items()
        if name not in _IN_OTHER_COLUMNS
        and name not in without
        and value not in _NOTHING
        and value is not False
    }


def label_with(
    image: str,
    label: str,
    fields: Mapping[str, Any],
    folder: Path,
    *,
    file: Path | None = None,
    part: FilePart | None = None,
) -> ForeignLabel | None:
    """The label in a tool's file; None if it names no image, or neither a class nor a box.

    Args:
        image: its path in the file.
        label: of the annotation; "" for none.
        fields: as of `fields_of`, or of another program. They are used only if they are about the
            same class: tools that change a label leave them unchanged.
        folder: base of relative paths.
        file: of the image, if known; overrides the fields.
        part: of the image in the tool; None if it is in the fields.

    Raises:
        ValueError, InputError: a time, a number or a part in the fields is invalid.
    """
    found = texts(fields_about(label, fields))
    found |= {"image": image, "class": label}
    if part is not None:
        found["part"] = part_with(part, found.get("part", WHOLE)).text
    if loose_name(label) in EMPTY_NAMES and not found.get("part"):
        found["may_be_none"] = "true"
    is_ours = "content_hash" in fields or ORIGINAL in fields
    if is_ours and "decided_by" not in fields and label == (found.get("category") or OBJECT):
        found["class"] = ""  # the box has no class
    return label_in(found | ({"file": str(file)} if file else {}), folder)


def part_with(part: FilePart, written: str) -> FilePart:
    """A part of a tool with the page or frame of ours; ours if the tool only rounded its box."""
    own = file_part(written)
    if part.box is None or own.box is None or not is_near(part.box, own.box):
        return own._replace(box=part.box)
    return own


def is_near(box: BoundingBox, other: BoundingBox) -> bool:
    """Whether two boxes are equal up to rounding."""
    return all(abs(one - two) <= _SAME for one, two in zip(box, other, strict=True))


def are_detector_categories(names: Iterable[str]) -> bool:
    """Whether all names are categories of detectors."""
    found = {name.casefold() for name in names}
    return bool(found) and found <= _OF_DETECTORS


def detected_box(
    image: str,
    part: FilePart,
    *,
    file: Path | None = None,
    category: str = "",
    score: float | None = None,
) -> ForeignLabel:
    """A box of a detector without a class."""
    return ForeignLabel(
        image, (), file=file, is_machine=True, part=part, category=category, score=score
    )


def local_path(url_path: str) -> str:
    """The path of a file URL on this computer."""
    is_windows = os.name == "nt"  # elsewhere a name may be invalid Unicode
    return url2pathname(url_path) if is_windows else unquote(url_path, errors="surrogateescape")


def fields_about(label: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """All fields if they are about the class of a label; else those that identify the file."""
    path = str(fields.get("path") or "")
    is_about_it = (
        label in {path, *split_path(path)[-1:]} if path else label in {NONE_LABEL, EMPTY_LABEL}
    )
    return {name: value for name, value in fields.items() if is_about_it or name in _OF_THE_FILE}
