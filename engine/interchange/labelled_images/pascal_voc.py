"""Pascal VOC: an XML file for each image, with the corners of boxes in pixels, read only.

Pixels are counted from 0 or from 1, which no file says: a box is taken as it is, and cut off at the picture's edges.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final
from xml.etree.ElementTree import Element

from engine.errors import FormatError
from engine.files import open_regular
from engine.interchange import limits
from engine.interchange.archives import reading
from engine.interchange.labelled_images.box_sets import PASCAL_VOC, files_of
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
from engine.interchange.xml_files import elements
from engine.texts import Message, marked

_PROBLEM: Final = marked("{place}: {reason}")
_CORNERS: Final = ("xmin", "ymin", "xmax", "ymax")


def read(source: Path) -> ForeignLabels:
    """Read the objects of a file, or of those in a folder."""
    collector, beside = LabelCollector(), ImagesBeside(source)
    entries = 0
    for file in files_of(source, PASCAL_VOC):
        entries += 1
        limits.RECORDS.check(max(entries, len(collector.labels)), source.name)
        with (
            collector.file_of(source, file),
            reading(file, "{source} cannot be read", ()),
            open_regular(file) as opened,
        ):
            for annotation in elements(opened, file.name, "annotation"):
                _read_one(annotation, file, beside, collector)
    if not entries:
        raise FormatError(
            "{source} holds no annotations of Pascal VOC",
            expected="files .xml with <annotation> and <object>",
            source=source.name,
        )
    return collector.collected()


@contextmanager
def _opened(file: Path) -> Iterator[IO[bytes]]:
    with reading(file, "{source} cannot be read", ()), open_regular(file) as opened:
        yield opened


def _read_one(
    annotation: Element, file: Path, beside: ImagesBeside, collector: LabelCollector
) -> None:
    image, found = beside.find(file, (annotation.findtext("filename") or "").strip())
    objects = annotation.findall("object")
    collector.unlabelled += not objects
    for each in objects:
        collector.add(_PROBLEM, image, _labels, each, annotation, image, found)


def _labels(
    thing: Element, annotation: Element, image: str, file: Path
) -> Iterator[ForeignLabel | None]:
    box = thing.find("bndbox")
    if box is None:
        raise ValueError(Message("an object has no box (bndbox)"))
    left, top, right, bottom = numbers((box.findtext(name) for name in _CORNERS), 4)
    size = picture_size(annotation.findtext("size/width"), annotation.findtext("size/height"), file)
    part = part_of_pixels((left, top, right - left, bottom - top), size)
    name = (thing.findtext("name") or "").strip()
    yield label_with(image, name, {}, Path(), file=file, part=part)
