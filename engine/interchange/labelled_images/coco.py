"""COCO: one JSON file of categories, images and annotations, without the images themselves.

A class is a category, with its first parent as supercategory, all `parents` and `paths`. A label is
an annotation with a box, or with one around the whole image. `file_name` is the image's path below
the common folder of all images, and `coco_url` its file on this computer.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import BinaryIO
from urllib.parse import urlsplit

from engine.errors import FormatError
from engine.file_parts import WHOLE, WHOLE_FILE, BoundingBox, FilePart, file_part
from engine.graph.limits import DEEPEST_LEVEL
from engine.graph.names import join_path
from engine.interchange.labelled_images.class_labels import (
    ClassLabels,
    are_detector_categories,
    detected_box,
    fields_about,
    fields_of,
    label_with,
    local_path,
    names_below,
)
from engine.interchange.labelled_images.foreign_boxes import (
    bounds,
    image_folders,
    image_in,
    part_of_pixels,
    picture_size,
    points_of,
    scored,
)
from engine.interchange.labelled_images.foreign_labels import (
    ForeignLabel,
    ForeignLabels,
    LabelCollector,
    numbered_things,
)
from engine.interchange.labelled_images.json_lines import encoded, write_items
from engine.interchange.labelled_images.label_studio import served_image
from engine.interchange.labelled_images.records import LabelledImage, LabelledImages, WrittenExport
from engine.interchange.labelled_images.table_rows import ORIGINAL
from engine.interchange.text_file import JsonObject, begins_with, object_in, objects_in, read_json
from engine.texts import Message, marked

CANNOT_CARRY = ("the label of a whole image becomes a box around it",)
_PROBLEM = marked("annotation {place}: {reason}")
_WHOLE_BOX = BoundingBox(0, 0, 1, 1)


def write(images: LabelledImages, file: BinaryIO) -> WrittenExport:
    """Write a category for each class, an entry for each image, an annotation for each label."""
    labels = ClassLabels(images)
    ids = {labels.of_class(class_id): class_id for class_id in labels.classes}
    first_free = max(labels.classes, default=0) + 1
    ids |= {label: number for number, label in enumerate(labels.further_labels, first_free)}
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
    """Read annotations of any COCO file; one without a box is the class of the whole image."""
    whole = read_json(source)
    entries = {_id(entry, "id"): entry for entry in objects_in(whole, "images")}
    categories = _Categories(objects_in(whole, "categories"))
    if not entries or not isinstance(whole.get("annotations"), list):
        raise FormatError(
            "{source} is not a COCO file",
            expected='an object with "images", "annotations" and "categories"',
            source=source.name,
        )
    collector, folders = LabelCollector(), image_folders(source)
    labelled: set[int | str] = set()
    for annotation in objects_in(whole, "annotations"):
        number = str(annotation.get("id"))
        collector.add(number, _labels(annotation, entries, categories, folders), _PROBLEM)
        labelled.add(_id(annotation, "image_id"))
    found = collector.collected()
    labels = tuple(dict.fromkeys(numbered_things(found.labels)))
    return replace(found, labels=labels, unlabelled=len(entries.keys() - labelled))


def fits(source: Path) -> bool:
    """Whether it is a JSON object with the lists of COCO."""
    return begins_with(source, "{", "images", "annotations", "categories")


def _info(images: LabelledImages) -> JsonObject:
    return {
        "description": images.title,
        "contributor": images.program,
        "date_created": images.made_at.isoformat(),
        "year": images.made_at.year,
        "version": "",
        "url": "",
    }


def _categories(
    images: LabelledImages, labels: ClassLabels, ids: dict[str, int]
) -> Iterator[JsonObject]:
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
    for label in labels.further_labels:
        yield {"id": ids[label], "name": label, "supercategory": ""}


def _entries(
    images: LabelledImages,
    labels: ClassLabels,
    ids: dict[str, int],
    names: dict[int, str],
    annotations: list[bytes],
) -> Iterator[bytes]:
    for items in images.pictures():
        image = items[0]
        facts = images.facts_of(image)
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
        for item in items:
            if (label := labels.of(item)) is not None:
                ours = {
                    "id": len(annotations) + 1,
                    "image_id": image.image_id,
                    "category_id": ids[label],
                }
                annotations.append(
                    encoded(ours | _annotation(images, item, (facts.width, facts.height)))
                )
        yield encoded(entry)


def _annotation(images: LabelledImages, image: LabelledImage, size: tuple[int, int]) -> JsonObject:
    """An annotation without its ids."""
    left, top, width, height = (image.part.box or _WHOLE_BOX).in_pixels(size)
    annotation = {
        "bbox": [left, top, width, height],
        "area": width * height,
        "iscrowd": 0,
        "segmentation": [],
        "attributes": fields_of(images, image, "file", "score"),
    }
    score = image.score if image.class_id is not None else image.detection_score
    if score is not None:
        annotation["score"] = score
    return annotation


class _Categories:
    def __init__(self, categories: list[JsonObject]) -> None:
        self._by_id = {_id(each, "id"): each for each in categories}
        self._by_name = {str(each.get("name")): each for each in categories}
        self._known: dict[int | str, dict[str, str]] = {}
        self.are_of_detectors = are_detector_categories(self._by_name)

    def fields(self, category_id: int | str) -> dict[str, str]:
        """Label, and path if supercategories are categories; KeyError for an unknown category."""
        if category_id not in self._known:
            self._known[category_id] = self._fields(self._by_id[category_id])
        return self._known[category_id]

    def _fields(self, category: JsonObject) -> dict[str, str]:
        names = [str(category.get("name") or "")]
        while (above := self._by_name.get(str(category.get("supercategory")))) and above.get(
            "name"
        ) not in names:
            names.insert(0, str(above.get("name")))
            category = above
            if len(names) > DEEPEST_LEVEL + 1:  # too deep for a path
                return {"label": names[-1]}
        return {"label": names[-1], **({"path": join_path(names)} if len(names) > 1 else {})}


def _labels(
    annotation: JsonObject,
    entries: Mapping[int | str, JsonObject],
    categories: _Categories,
    folders: Sequence[Path],
) -> Iterator[ForeignLabel | None]:
    try:
        entry = entries[_id(annotation, "image_id")]
        category = categories.fields(_id(annotation, "category_id"))
    except KeyError:
        raise ValueError(Message("its image or its category is missing")) from None
    (image, file), name = _image(entry, folders), category["label"]
    attributes = object_in(annotation, "attributes")
    part = _part(annotation, entry, attributes, file)
    if categories.are_of_detectors and part.box is not None and ORIGINAL not in attributes:
        score = scored(annotation.get("score"))
        yield detected_box(image, part, file=file, category=name, score=score) if image else None
        return
    fields = {**category, **fields_about(name, attributes)}
    label = label_with(image, name, fields, folders[0], file=file, part=part)
    is_detected = "score" in annotation and "decided_by" not in fields
    if label is not None and is_detected:
        label = replace(label, is_machine=True, score=scored(annotation["score"]))
    yield label


def _part(
    annotation: JsonObject, entry: JsonObject, attributes: JsonObject, file: Path
) -> FilePart:
    """The box of an annotation, or the bounding box of its segmentation."""
    box, segments = annotation.get("bbox"), annotation.get("segmentation")
    if not isinstance(box, list) or not box:
        box = list(bounds(points_of(segments))) if isinstance(segments, list) and segments else []
    if not box:
        return WHOLE_FILE
    if not entry.get("width") and ORIGINAL in attributes:
        return file_part(str(attributes.get("part", WHOLE)))  # of an image of unknown size
    return part_of_pixels(box, picture_size(entry.get("width"), entry.get("height"), file))


def _id(value: JsonObject, name: str) -> int | str:
    found = value.get(name)
    return found if isinstance(found, int | str) else ""


def _image(entry: JsonObject, folders: Sequence[Path]) -> tuple[str, Path]:
    """Name of an image, and its existing or expected file."""
    written = str(entry.get("file_name") or "")
    if (known := _file(entry)) is not None or (served := served_image(written)) is None:
        return written, known or image_in(folders, written)
    image, file = served
    return image, file or image_in(folders, PurePosixPath(written).name)


def _file(entry: JsonObject) -> Path | None:
    """The local file of `coco_url`; None for a web address."""
    parts = urlsplit(str(entry.get("coco_url") or ""))
    if parts.scheme != "file":
        return None
    return Path(local_path(parts.path))
