"""CreateML: a JSON list of images with boxes by their centres in pixels, read only."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from engine.errors import FormatError
from engine.interchange.labelled_images.box_sets import CREATEML, files_of
from engine.interchange.labelled_images.class_labels import label_with
from engine.interchange.labelled_images.foreign_boxes import (
    ImagesBeside,
    numbers,
    part_of_pixels,
    picture_size,
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
    """Read the boxes of a file, or of those in a folder."""
    collector, beside = LabelCollector(), ImagesBeside(source)
    files = list(files_of(source, CREATEML))
    if not files:
        raise FormatError(
            "{source} holds no list of CreateML",
            expected='objects with "image" and "annotations" that have "coordinates"',
            source=source.name,
        )
    for file in files:
        with collector.file_of(source, file):
            for entry in objects_in({"images": read_json(file)}, "images"):
                _read_one(entry, file, beside, collector)
    return collector.collected()


def _read_one(
    entry: dict[str, Any], file: Path, beside: ImagesBeside, collector: LabelCollector
) -> None:
    image, found = beside.find(file, str(entry.get("image") or entry.get("imagefilename") or ""))
    annotations = objects_in(entry, "annotations") or objects_in(entry, "annotation")
    collector.unlabelled += not annotations
    for each in annotations:
        collector.add(_PROBLEM, image, _labels, each, image, found)


def _labels(annotation: dict[str, Any], image: str, file: Path) -> Iterator[ForeignLabel | None]:
    place = object_in(annotation, "coordinates")
    x, y, width, height = numbers(place.get(name) for name in ("x", "y", "width", "height"))
    part = part_of_pixels(
        (x - width / 2, y - height / 2, width, height), picture_size(None, None, file)
    )
    yield label_with(image, str(annotation.get("label") or ""), {}, Path(), file=file, part=part)
