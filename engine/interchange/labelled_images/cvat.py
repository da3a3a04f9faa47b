"""CVAT for images 1.1: an XML file of labels, and of images with tags and boxes.

A class is a label, that of an image is a tag, that of a thing in it a box. `source` distinguishes a
person (manual) from the model (auto), and attributes hold who, when, path and score. CVAT's own
exports are read as XML or ZIP; each shape counts as its bounding box.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, BinaryIO
from xml.etree.ElementTree import Element

from engine.errors import FormatError
from engine.file_parts import WHOLE_FILE, FilePart
from engine.files import open_regular
from engine.interchange import limits
from engine.interchange.archives import has_member, member, opened_archive, reading
from engine.interchange.labelled_images.class_labels import (
    ClassLabels,
    fields_of,
    label_with,
    names_below,
)
from engine.interchange.labelled_images.csv_table import cell
from engine.interchange.labelled_images.foreign_boxes import (
    Point,
    image_folders,
    image_in,
    numbers,
    part_of_pixels,
    part_of_points,
    picture_size,
    rotated,
)
from engine.interchange.labelled_images.foreign_labels import (
    ForeignLabel,
    ForeignLabels,
    LabelCollector,
)
from engine.interchange.labelled_images.records import LabelledImage, LabelledImages, WrittenExport
from engine.interchange.labelled_images.table_rows import COLUMNS, ORIGINAL
from engine.interchange.text_file import encoding_of, head_of, words
from engine.interchange.xml_files import elements, root_of, xml_attribute, xml_content
from engine.texts import Message

CANNOT_CARRY = (
    "the hierarchy is flattened; full paths are kept in the tags",
    "other parents of a class without images",
)
_MEMBER = "annotations.xml"
_CUBOID_CORNER = re.compile(r"[xy][tb][lr][12]")  # of eight
_CORNERS = ("xtl", "ytl", "xbr", "ybr")
_BY_MACHINE = "auto"
_BY_PERSON = "manual"
_SHAPES = words("tag box polygon polyline points cuboid ellipse mask skeleton")
_LONGEST_VALUE = 4096  # characters of an attribute's value in CVAT's database


def write(images: LabelledImages, file: BinaryIO) -> WrittenExport:
    """Write a label for each class, and an entry for each picture with its tag and boxes."""
    labels = ClassLabels(images)
    file.write(b'<?xml version="1.0" encoding="utf-8"?>\n<annotations>\n  <version>1.1</version>\n')
    file.write(_meta(images, labels).encode())
    names = names_below(images)
    file.writelines(
        _entry(images, labels, items, number, names[items[0].image_id]).encode()
        for number, items in enumerate(images.pictures())
    )
    file.write(b"</annotations>\n")
    return WrittenExport(len(images.images))


def read(source: Path) -> ForeignLabels:
    """Read the tags and the shapes."""
    collector, folders = LabelCollector(), image_folders(source)
    entries = 0
    names: set[str] = set()
    with _opened(source) as file:
        for element in elements(file, source.name, "assignee", "image", "track"):
            match element.tag:
                case "assignee":
                    names.add((element.findtext("username") or "").strip())
                case "track":
                    collector.problems.append(
                        Message("the track {number} is of a video", {"number": element.get("id")})
                    )
                case _:
                    entries += 1
                    limits.RECORDS.check(entries, source.name)
                    who = next(iter(names)) if len(names) == 1 else ""
                    _read_entry(element, folders, who, collector)
                    limits.RECORDS.check(len(collector.labels), source.name)
    if not entries and not collector.problems:
        raise FormatError(
            "{source} has no images",
            expected="annotations of CVAT for images 1.1",
            source=source.name,
        )
    found = collector.collected()
    return replace(found, labels=tuple(dict.fromkeys(found.labels)))


def fits(source: Path) -> bool:
    """Whether it is XML of annotations, or a ZIP archive of it."""
    if not source.is_file():
        return False
    if source.suffix.casefold() == ".zip":
        return has_member(source, _MEMBER)
    if source.suffix.casefold() != ".xml":
        return False
    head = head_of(source)
    return root_of(head.decode(encoding_of(head), "replace").lstrip()) == "annotations"


def _meta(images: LabelledImages, labels: ClassLabels) -> str:
    attributes = "".join(
        f"<attribute><name>{name}</name><mutable>False</mutable><input_type>text</input_type>"
        "<default_value></default_value><values></values></attribute>"
        for name in (ORIGINAL, *COLUMNS)
        if name not in {"image", "class"}
    )
    kind = "any" if images.has_parts else "tag"
    listed = "".join(
        f"        <label><name>{xml_content(label)}</name><color></color><type>{kind}</type>"
        f"<attributes>{attributes}</attributes></label>\n"
        for label in labels.all_labels
    )
    made_at = images.made_at.isoformat()
    return (
        f"  <meta>\n    <task>\n      <name>{xml_content(images.title)}</name>\n"
        f"      <size>{len(images.images)}</size>\n      <mode>annotation</mode>\n"
        f"      <created>{made_at}</created>\n      <updated>{made_at}</updated>\n"
        f"      <labels>\n{listed}      </labels>\n    </task>\n"
        f"    <dumped>{made_at}</dumped>\n  </meta>\n"
    )


def _entry(
    images: LabelledImages,
    labels: ClassLabels,
    items: Sequence[LabelledImage],
    number: int,
    name: str,
) -> str:
    facts = images.facts_of(items[0])
    size = width, height = facts.width, facts.height
    about = f'id="{number}" name={xml_attribute(name)} width="{width}" height="{height}"'
    labelled = ((each, label) for each in items if (label := labels.of(each)) is not None)
    shapes = "".join(f"    {_shape(images, each, label, size)}\n" for each, label in labelled)
    content = f"\n{shapes}  " if shapes else ""
    return f"  <image {about}>{content}</image>\n"


def _shape(images: LabelledImages, image: LabelledImage, label: str, size: tuple[int, int]) -> str:
    """The tag of a whole image, or the box of a part."""
    source = _BY_PERSON if image.is_verified else _BY_MACHINE
    fields = {name: cell(value) for name, value in fields_of(images, image).items()}
    attributes = "".join(
        f"<attribute name={xml_attribute(name)}>{xml_content(text[:_LONGEST_VALUE])}</attribute>"
        for name, text in fields.items()
    )
    start = f'label={xml_attribute(label)} source="{source}"'
    if image.part.box is None:
        return f"<tag {start}>{attributes}</tag>"
    left, top, width, height = image.part.box.in_pixels(size)
    corners = zip(_CORNERS, (left, top, left + width, top + height), strict=True)
    places = " ".join(f'{corner}="{value:.4f}"' for corner, value in corners)
    return f'<box {start} occluded="0" {places} z_order="0">{attributes}</box>'


def _read_entry(
    entry: Element, folders: Sequence[Path], who: str, collector: LabelCollector
) -> None:
    shapes = [shape for shape in entry if shape.tag in _SHAPES]
    collector.unlabelled += not shapes
    for shape in shapes:
        collector.add(entry.get("name", ""), _labels(shape, entry, folders, who))


def _labels(
    shape: Element, entry: Element, folders: Sequence[Path], who: str
) -> Iterator[ForeignLabel | None]:
    image = entry.get("name", "")
    fields = {each.get("name", ""): each.text or "" for each in shape.iter("attribute")}
    file = image_in(folders, image)
    part = _part(shape, entry, file)
    label = label_with(
        image,
        shape.get("label", ""),
        fields,
        folders[0],
        file=None if ORIGINAL in fields else file,
        part=part,
    )
    if label is not None:
        is_machine = shape.get("source") == _BY_MACHINE or label.is_box_alone
        label = replace(label, is_machine=is_machine, who="" if is_machine else label.who or who)
    yield label


def _part(shape: Element, entry: Element, file: Path) -> FilePart:
    """The whole image for a tag, and the bounding box of any other shape."""
    if shape.tag == "tag":
        return WHOLE_FILE
    size = picture_size(entry.get("width"), entry.get("height"), file)
    turned = numbers([shape.get("rotation") or 0])[0]
    match shape.tag:
        case "box":
            left, top, right, bottom = numbers(map(shape.get, _CORNERS))
            width, height = right - left, bottom - top
            middle = left + width / 2, top + height / 2
            return part_of_pixels(rotated((left, top, width, height), turned, middle), size)
        case "ellipse":
            x, y, across, down = numbers(map(shape.get, ("cx", "cy", "rx", "ry")))
            return part_of_pixels(
                rotated((x - across, y - down, 2 * across, 2 * down), turned, (x, y)), size
            )
        case "mask":
            return part_of_pixels(map(shape.get, ("left", "top", "width", "height")), size)
        case "cuboid":
            corners = [name for name in shape.attrib if _CUBOID_CORNER.fullmatch(name)]
            points_across = numbers(shape.get(name) for name in corners if name.startswith("x"))
            points_down = numbers(shape.get(name) for name in corners if name.startswith("y"))
            return part_of_points(list(zip(points_across, points_down, strict=True)), size)
        case _:
            texts = (each.get("points", "") for each in (shape, *shape.iter("points")))
            return part_of_points([point for text in texts for point in _points(text)], size)


def _points(text: str) -> list[Point]:
    found = numbers(number for point in text.split(";") if point for number in point.split(","))
    return list(zip(found[::2], found[1::2], strict=True))


@contextmanager
def _opened(source: Path) -> Iterator[IO[bytes]]:
    with reading(source, "{source} contains no {member}", member=_MEMBER):
        if source.suffix.casefold() == ".zip":
            with opened_archive(source) as archive, member(archive, _MEMBER) as file:
                yield file
        else:
            with open_regular(source) as file:
                yield file
