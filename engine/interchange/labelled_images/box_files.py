"""Readers of files with bounding boxes: Pascal VOC, LabelMe, CreateML, VGG Image Annotator (VIA).

A shape counts as the bounding box around it. Boxes are clipped at the edges of the picture.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from engine.errors import FormatError
from engine.file_parts import FilePart
from engine.files import open_regular
from engine.interchange import limits
from engine.interchange.archives import reading
from engine.interchange.labelled_images.box_formats import (
    CREATEML,
    LABELME,
    PASCAL_VOC,
    VIA,
    files_of,
)
from engine.interchange.labelled_images.class_labels import label_with
from engine.interchange.labelled_images.foreign_boxes import (
    ImageFinder,
    Point,
    numbers,
    part_of_pixels,
    part_of_points,
    picture_size,
    points_of,
    scored,
)
from engine.interchange.labelled_images.foreign_labels import (
    ForeignLabel,
    ForeignLabels,
    LabelCollector,
)
from engine.interchange.text_file import JsonObject, object_in, objects_in, read_json
from engine.interchange.xml_files import elements
from engine.texts import Message, marked

Labels = Iterator[ForeignLabel | None]
Image = tuple[str, Path]  # path as the source names it, and its file
ReadFile = Callable[[Path, ImageFinder], Iterable[tuple[Image, list[Labels]]]]
"""Reads a file: each image, and the labels of each annotation, which may raise while iterated."""

_CORNERS = ("xmin", "ymin", "xmax", "ymax")
_BOX = ("x", "y", "width", "height")
_VIA_IMAGES = "_via_img_metadata"
_VIA_CLASS_ATTRIBUTES = ("class", "label", "species", "name", "type")


def _read(
    box_format: str, missing: str, expected: str, read_file: ReadFile, source: Path
) -> ForeignLabels:
    """Read a file, or all files of a format in a folder."""
    collector, images = LabelCollector(), ImageFinder(source)
    count = 0
    for path in files_of(source, box_format):
        count += 1
        limits.RECORDS.check(max(count, len(collector.labels)), source.name)
        with collector.file_of(source, path):
            for (image, _), annotations in read_file(path, images):
                collector.unlabelled += not annotations
                for labels in annotations:
                    collector.add(image, labels)
    if not count:
        raise FormatError(missing, expected=expected, source=source.name)
    return collector.collected()


def _label(
    image: Image, name: object, part: FilePart | None = None, score: float | None = None
) -> ForeignLabel | None:
    path, file = image
    label = label_with(path, str(name or "").strip(), {}, Path(), file=file, part=part)
    if label is None or score is None:
        return label
    return replace(label, is_machine=True, score=score)


# -- Pascal VOC: pixels count from 0 or from 1, which no file states, so boxes are taken unchanged


def _pascal_voc(path: Path, images: ImageFinder) -> Iterator[tuple[Image, list[Labels]]]:
    with reading(path, "{source} cannot be read", ()), open_regular(path) as opened:
        for annotation in elements(opened, path.name, "annotation"):
            image = images.find(path, (annotation.findtext("filename") or "").strip())
            size = annotation.findtext("size/width"), annotation.findtext("size/height")
            objects = annotation.findall("object")
            yield image, [_pascal_voc_labels(each, size, image) for each in objects]


def _pascal_voc_labels(element: Any, size: tuple[object, object], image: Image) -> Labels:
    box = element.find("bndbox")
    if box is None:
        raise ValueError(Message("an object has no box (bndbox)"))
    left, top, right, bottom = numbers(map(box.findtext, _CORNERS), 4)
    picture = picture_size(*size, image[1])
    part = part_of_pixels((left, top, right - left, bottom - top), picture)
    yield _label(image, element.findtext("name"), part)


# -- LabelMe: flags that are set name a class of the whole image


def _labelme(path: Path, images: ImageFinder) -> Iterator[tuple[Image, list[Labels]]]:
    whole = read_json(path)
    image = images.find(path, str(whole.get("imagePath") or ""))
    flags = [name for name, is_set in object_in(whole, "flags").items() if is_set is True]
    shapes = objects_in(whole, "shapes")
    size = whole.get("imageWidth"), whole.get("imageHeight")
    yield (
        image,
        [
            *(iter([_label(image, name)]) for name in flags),
            *(_labelme_labels(shape, size, image) for shape in shapes),
        ],
    )


def _labelme_labels(shape: JsonObject, size: tuple[object, object], image: Image) -> Labels:
    points = points_of(shape.get("points"))
    if shape.get("shape_type") == "circle" and len(points) > 1:
        (x, y), edge = points[0], points[1]
        radius = math.dist((x, y), edge)
        points = [(x - radius, y - radius), (x + radius, y + radius)]
    part = part_of_points(points, picture_size(*size, image[1]))
    yield _label(image, shape.get("label"), part, scored(shape.get("score")))


# -- CreateML: boxes by their centres in pixels


def _createml(path: Path, images: ImageFinder) -> Iterator[tuple[Image, list[Labels]]]:
    for entry in objects_in({"images": read_json(path)}, "images"):
        image = images.find(path, str(entry.get("image") or entry.get("imagefilename") or ""))
        annotations = objects_in(entry, "annotations") or objects_in(entry, "annotation")
        yield image, [_createml_labels(each, image) for each in annotations]


def _createml_labels(annotation: JsonObject, image: Image) -> Labels:
    x, y, width, height = numbers(map(object_in(annotation, "coordinates").get, _BOX))
    size = picture_size(None, None, image[1])
    part = part_of_pixels((x - width / 2, y - height / 2, width, height), size)
    yield _label(image, annotation.get("label"), part)


# -- VIA: the class is the value of a known attribute of the region, else of the first filled one


def _via(path: Path, images: ImageFinder) -> Iterator[tuple[Image, list[Labels]]]:
    whole = read_json(path)
    for entry in (object_in(whole, _VIA_IMAGES) or whole).values():
        if isinstance(entry, dict) and "filename" in entry:
            image = images.find(path, str(entry["filename"]))
            regions = entry.get("regions")  # an object before version 2, then a list
            listed = list(regions.values()) if isinstance(regions, dict) else regions
            shapes = objects_in({"regions": listed}, "regions")
            yield image, [_via_labels(each, image) for each in shapes]


def _via_labels(region: JsonObject, image: Image) -> Labels:
    points = _via_points(object_in(region, "shape_attributes"))
    part = part_of_points(points, picture_size(None, None, image[1]))
    for name in _via_classes(object_in(region, "region_attributes")) or [""]:
        yield _label(image, name, part)


def _via_points(shape: JsonObject) -> list[Point]:
    """Points with the same bounding box as a shape."""
    match shape.get("name"):
        case "rect":
            x, y, width, height = numbers(map(shape.get, _BOX))
            return [(x, y), (x + width, y + height)]
        case "circle":
            x, y, radius = numbers(map(shape.get, ("cx", "cy", "r")))
            return [(x - radius, y - radius), (x + radius, y + radius)]
        case "ellipse":
            x, y, across, down = numbers(map(shape.get, ("cx", "cy", "rx", "ry")))
            return [(x - across, y - down), (x + across, y + down)]
        case "polygon" | "polyline":
            written = map(shape.get, ("all_points_x", "all_points_y"))
            xs, ys = (numbers(each) if isinstance(each, list) else [] for each in written)
            return list(zip(xs, ys, strict=False))
        case other:
            raise ValueError(Message('the shape "{shape}" has no box', {"shape": str(other)[:40]}))


def _via_classes(attributes: JsonObject) -> list[str]:
    filled = {name.casefold(): value for name, value in attributes.items() if value}
    names = (*_VIA_CLASS_ATTRIBUTES, *filled)
    value = next((filled[name] for name in names if name in filled), "")
    if isinstance(value, dict):
        return [name for name, is_chosen in value.items() if is_chosen]
    return [str(value)]


read_pascal_voc = partial(
    _read,
    PASCAL_VOC,
    marked("{source} contains no Pascal VOC annotations"),
    marked("files .xml with <annotation> and <object>"),
    _pascal_voc,
)
read_labelme = partial(
    _read,
    LABELME,
    marked("{source} contains no LabelMe files"),
    marked('objects with "shapes" and "imagePath"'),
    _labelme,
)
read_createml = partial(
    _read,
    CREATEML,
    marked("{source} contains no CreateML list"),
    marked('objects with "image" and "annotations" that have "coordinates"'),
    _createml,
)
read_via = partial(
    _read,
    VIA,
    marked("{source} contains no project of the VGG Image Annotator"),
    marked('images with "regions" that have "shape_attributes"'),
    _via,
)
