"""LabelMe: a JSON file for each image, with shapes in pixels, read only. A shape counts as the box around it."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from engine.errors import FormatError
from engine.interchange import limits
from engine.interchange.labelled_images.box_sets import LABELME, files_of
from engine.interchange.labelled_images.class_labels import label_with
from engine.interchange.labelled_images.foreign_boxes import (
    ImagesBeside,
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
from engine.interchange.text_file import object_in, objects_in, read_json
from engine.texts import marked

_PROBLEM: Final = marked("{place}: {reason}")


def read(source: Path) -> ForeignLabels:
    """Read the shapes of a file, or of those in a folder; flags that are set name a class of the whole image."""
    collector, beside = LabelCollector(), ImagesBeside(source)
    files = list(files_of(source, LABELME))
    if not files:
        raise FormatError(
            "{source} holds no files of LabelMe",
            expected='objects with "shapes" and "imagePath"',
            source=source.name,
        )
    for annotation in files:
        limits.RECORDS.check(len(collector.labels), source.name)
        with collector.file_of(source, annotation):
            _read_one(read_json(annotation), annotation, beside, collector)
    return collector.collected()


def _read_one(
    whole: Any, annotation: Path, beside: ImagesBeside, collector: LabelCollector
) -> None:
    image, file = beside.find(annotation, str(whole.get("imagePath") or ""))
    flags = [name for name, is_set in object_in(whole, "flags").items() if is_set is True]
    shapes = objects_in(whole, "shapes")
    collector.unlabelled += not shapes and not flags
    for name in flags:
        collector.add(_PROBLEM, image, _of_whole, image, name, file)
    for shape in shapes:
        collector.add(_PROBLEM, image, _of_shape, shape, whole, image, file)


def _of_whole(image: str, name: str, file: Path) -> Iterator[ForeignLabel | None]:
    yield label_with(image, name, {}, Path(), file=file)


def _of_shape(
    shape: dict[str, Any], whole: dict[str, Any], image: str, file: Path
) -> Iterator[ForeignLabel | None]:
    points = points_of(shape.get("points"))
    if shape.get("shape_type") == "circle" and len(points) > 1:
        (x, y), edge = points[0], points[1]
        radius = math.dist((x, y), edge)
        points = [(x - radius, y - radius), (x + radius, y + radius)]
    size = picture_size(whole.get("imageWidth"), whole.get("imageHeight"), file)
    part = part_of_points(points, size)
    label = label_with(image, str(shape.get("label") or ""), {}, Path(), file=file, part=part)
    score = scored(shape.get("score"))
    yield label if label is None or score is None else replace(label, is_machine=True, score=score)
