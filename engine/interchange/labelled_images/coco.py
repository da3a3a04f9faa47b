"""COCO: one JSON file of categories, images and annotations, which stays apart from the images.

A class is a category, with its first parent as supercategory, all parents as `parents` and its paths as `paths`. A
label
is an annotation over the whole image. `file_name` is the image's path below the folder that all images have in common,
and `coco_url` its file on this computer.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, Final
from urllib.parse import urlsplit

from engine.errors import FormatError, reason_of
from engine.graph.limits import DEEPEST_LEVEL
from engine.graph.names import join_path
from engine.interchange.labelled_images.box_sets import boxes_refused
from engine.interchange.labelled_images.class_labels import (
    ClassLabels,
    fields_about,
    fields_of,
    label_with,
    local_path,
    names_below,
)
from engine.interchange.labelled_images.foreign_labels import ForeignLabel, ForeignLabels
from engine.interchange.labelled_images.json_lines import encoded, write_items
from engine.interchange.labelled_images.records import LabelledImage, LabelledImages, WrittenExport
from engine.interchange.labelled_images.table_rows import NONE_LABEL
from engine.interchange.text_file import begins_with, object_in, objects_in, read_json
from engine.texts import Message

CANNOT_CARRY: Final = ("each label becomes a box around the whole image",)

_OF_DETECTORS: Final = frozenset({"animal", "person", "human", "vehicle", "empty"})


def write(images: LabelledImages, file: BinaryIO) -> WrittenExport:
    """Write categories for all classes, an entry for each image, and an annotation for each that has a label."""
    labels = ClassLabels(images)
    ids = {labels.of_class(class_id): class_id for class_id in labels.classes}
    if labels.has_none:
        ids[NONE_LABEL] = max(labels.classes, default=0) + 1
    names, annotations = names_below(images), list[bytes]()
    file.write(b'{\n"info": ' + encoded(_info(images)) + b',\n"licenses": [],\n"categories": [')
    write_items(file, (encoded(each) for each in _categories(images, labels, ids)))
    file.write(b'],\n"images": [')
    write_items(file, _entries(images, labels, ids, names, annotations))
    file.write(b'],\n"annotations": [')
    write_items(file, annotations)
    file.write(b"]\n}\n")
    return WrittenExport(len(images.images))


def read(source: Path) -> ForeignLabels:
    """Read annotations of any COCO file; of one with boxes around things, each names the class of its image."""
    whole = read_json(source)
    entries = {_id(entry, "id"): entry for entry in objects_in(whole, "images")}
    categories = _Categories(objects_in(whole, "categories"))
    if not entries or not isinstance(whole.get("annotations"), list):
        raise FormatError(
            "{source} is no COCO file",
            expected='an object with "images", "annotations" and "categories"',
            source=source.name,
        )
    if categories.are_of_detectors and any(each.get("bbox") for each in objects_in(whole, "annotations")):
        raise boxes_refused(source, "COCO")
    labels: dict[ForeignLabel, None] = {}
    problems: list[str] = []
    labelled: set[int | str] = set()
    for annotation in objects_in(whole, "annotations"):
        image_id, category_id = _id(annotation, "image_id"), _id(annotation, "category_id")
        try:
            label = _label(annotation, entries[image_id], categories.fields(category_id), source.parent)
        except KeyError:
            reason = Message("its image or its category is missing")
        except ValueError as error:
            reason = reason_of(error)
        else:
            labelled.add(image_id)
            labels |= {label: None} if label else {}
            continue
        problems.append(Message("annotation {number}: {reason}", {"number": annotation.get("id"), "reason": reason}))
    return ForeignLabels(tuple(labels), len(entries.keys() - labelled), tuple(problems))


def fits(source: Path) -> bool:
    """Whether it is a JSON object with the lists of COCO."""
    return begins_with(source, "{", "images", "annotations", "categories")


def _info(images: LabelledImages) -> dict[str, Any]:
    return {
        "description": images.title,
        "contributor": images.program,
        "date_created": images.made_at.isoformat(),
        "year": images.made_at.year,
        "version": "",
        "url": "",
    }


def _categories(images: LabelledImages, labels: ClassLabels, ids: dict[str, int]) -> Iterator[dict[str, Any]]:
    for class_id in labels.classes:
        parents = images.graph.parents(class_id)
        yield {
            "id": class_id,
            "name": labels.of_class(class_id),
            "supercategory": labels.of_class(parents[0]) if parents else "",
            "parents": list(parents),
            "paths": list(images.path_texts(class_id)),
            "source_id": images.graph.attributes(class_id).source_id,
        }
    if NONE_LABEL in ids:
        yield {"id": ids[NONE_LABEL], "name": NONE_LABEL, "supercategory": ""}


def _entries(
    images: LabelledImages, labels: ClassLabels, ids: dict[str, int], names: dict[int, str], annotations: list[bytes]
) -> Iterator[bytes]:
    for image in images.each():
        facts = images.facts_of(image.file)
        entry = {
            "id": image.image_id,
            "file_name": names[image.image_id],
            "coco_url": image.file.as_uri() if image.file.is_absolute() else "",
            "flickr_url": "",
            "license": 0,
            "width": facts.width,
            "height": facts.height,
            "date_captured": facts.date_text.replace("T", " "),
        }
        if (label := labels.of(image)) is not None:
            size = facts.width, facts.height
            annotations.append(encoded(_annotation(images, image, len(annotations) + 1, ids[label], size)))
        yield encoded(entry)


def _annotation(
    images: LabelledImages, image: LabelledImage, number: int, category_id: int, size: tuple[int, int]
) -> dict[str, Any]:
    width, height = size
    annotation = {
        "id": number,
        "image_id": image.image_id,
        "category_id": category_id,
        "bbox": [0, 0, width, height],
        "area": width * height,
        "iscrowd": 0,
        "segmentation": [],
        "attributes": fields_of(images, image, "file", "score"),
    }
    if image.score is not None:
        annotation["score"] = image.score
    return annotation


class _Categories:
    def __init__(self, categories: list[dict[str, Any]]) -> None:
        self._by_id = {_id(each, "id"): each for each in categories}
        self._by_name = {str(each.get("name")): each for each in categories}
        self._known: dict[int | str, dict[str, str]] = {}

    @property
    def are_of_detectors(self) -> bool:
        """Whether they only say what kind of thing is in a box, as detectors of animals do."""
        return bool(self._by_name) and {name.casefold() for name in self._by_name} <= _OF_DETECTORS

    def fields(self, category_id: int | str) -> dict[str, str]:
        """Label, and path where supercategories are categories themselves; KeyError for an unknown category."""
        if category_id not in self._known:
            self._known[category_id] = self._fields(self._by_id[category_id])
        return self._known[category_id]

    def _fields(self, category: dict[str, Any]) -> dict[str, str]:
        names = [str(category.get("name") or "")]
        while (above := self._by_name.get(str(category.get("supercategory")))) and above.get("name") not in names:
            names.insert(0, str(above.get("name")))
            category = above
            if len(names) > DEEPEST_LEVEL + 1:  # no class lies so deep: the label says what it is
                return {"label": names[-1]}
        return {"label": names[-1], **({"path": join_path(names)} if len(names) > 1 else {})}


def _label(
    annotation: dict[str, Any], entry: dict[str, Any], category: dict[str, str], folder: Path
) -> ForeignLabel | None:
    name = category["label"]
    fields = {**category, **fields_about(name, object_in(annotation, "attributes"))}
    label = label_with(str(entry.get("file_name") or ""), name, fields, folder, file=_file(entry))
    is_result = "score" in annotation and "decided_by" not in fields  # as detectors write it
    return replace(label, is_machine=True) if label and is_result else label


def _id(value: dict[str, Any], name: str) -> int | str:
    found = value.get(name)
    return found if isinstance(found, int | str) else ""


def _file(entry: dict[str, Any]) -> Path | None:
    """The file of `coco_url`, where it is on a computer and not on the web."""
    parts = urlsplit(str(entry.get("coco_url") or ""))
    if parts.scheme != "file":
        return None
    return Path(local_path(parts.path))
