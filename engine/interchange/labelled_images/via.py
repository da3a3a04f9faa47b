"""VGG Image Annotator: a JSON project with regions in pixels, read only. A region counts as the box around it.

The class is a value of the region's attributes: of `class`, `label`, `name` or `type`, else of the first that is
filled.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from engine.errors import FormatError
from engine.interchange.labelled_images.box_sets import VIA, files_of
from engine.interchange.labelled_images.class_labels import label_with
from engine.interchange.labelled_images.foreign_boxes import (
    ImagesBeside,
    Point,
    numbers,
    part_of_points,
    picture_size,
)
from engine.interchange.labelled_images.foreign_labels import (
    ForeignLabel,
    ForeignLabels,
    LabelCollector,
)
from engine.interchange.text_file import object_in, objects_in, read_json
from engine.texts import Message, marked

_PROBLEM: Final = marked("{place}: {reason}")
_METADATA: Final = "_via_img_metadata"
_NAMES_OF_CLASS: Final = ("class", "label", "species", "name", "type")


def read(source: Path) -> ForeignLabels:
    """Read the regions of a project, or of those in a folder."""
    collector, beside = LabelCollector(), ImagesBeside(source)
    files = list(files_of(source, VIA))
    if not files:
        raise FormatError(
            "{source} holds no project of the VGG Image Annotator",
            expected='images with "regions" that have "shape_attributes"',
            source=source.name,
        )
    for file in files:
        with collector.file_of(source, file):
            whole = read_json(file)
            for entry in (object_in(whole, _METADATA) or whole).values():
                if isinstance(entry, dict) and "filename" in entry:
                    _read_one(entry, file, beside, collector)
    return collector.collected()


def _read_one(
    entry: dict[str, Any], file: Path, beside: ImagesBeside, collector: LabelCollector
) -> None:
    image, found = beside.find(file, str(entry["filename"]))
    regions = entry.get("regions")
    listed = (
        list(regions.values()) if isinstance(regions, dict) else regions
    )  # a list since version 2
    shapes = objects_in({"regions": listed}, "regions")
    collector.unlabelled += not shapes
    for each in shapes:
        collector.add(_PROBLEM, image, _labels, each, image, found)


def _labels(region: dict[str, Any], image: str, file: Path) -> Iterator[ForeignLabel | None]:
    points = _points(object_in(region, "shape_attributes"))
    part = part_of_points(points, picture_size(None, None, file))
    for name in _classes(object_in(region, "region_attributes")) or [""]:
        yield label_with(image, name, {}, Path(), file=file, part=part)


def _points(shape: dict[str, Any]) -> list[Point]:
    """Points that have the same bounding box as a shape."""
    match shape.get("name"):
        case "rect":
            x, y, width, height = numbers(shape.get(name) for name in ("x", "y", "width", "height"))
            return [(x, y), (x + width, y + height)]
        case "circle":
            x, y, radius = numbers(shape.get(name) for name in ("cx", "cy", "r"))
            return [(x - radius, y - radius), (x + radius, y + radius)]
        case "ellipse":
            x, y, across, down = numbers(shape.get(name) for name in ("cx", "cy", "rx", "ry"))
            return [(x - across, y - down), (x + across, y + down)]
        case "polygon" | "polyline":
            written = (shape.get(name) for name in ("all_points_x", "all_points_y"))
            across_all, down_all = (
                numbers(each) if isinstance(each, list) else [] for each in written
            )
            return list(zip(across_all, down_all, strict=False))
        case other:
            raise ValueError(Message('the shape "{shape}" has no box', {"shape": str(other)[:40]}))


def _classes(attributes: dict[str, Any]) -> list[str]:
    filled = {name.casefold(): value for name, value in attributes.items() if value}
    value = next((filled[name] for name in (*_NAMES_OF_CLASS, *filled) if name in filled), "")
    if isinstance(value, dict):
        return [name for name, is_chosen in value.items() if is_chosen]
    return [str(value).strip()] if value else []
