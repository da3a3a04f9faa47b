"""CVAT for images 1.1: an XML file of labels and of images with tags, which stays apart from the images.

A class is a label for tags, the class of an image is a tag, `source` distinguishes a person (manual) from the model
(auto), and the tag's attributes carry who, when, path and score. CVAT's own exports are read too, as XML or as ZIP.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, BinaryIO, Final
from xml.etree.ElementTree import Element

from engine.errors import FormatError, reason_of
from engine.files import open_regular
from engine.interchange import limits
from engine.interchange.archives import has_member, member, opened_archive, reading
from engine.interchange.labelled_images.class_labels import ClassLabels, fields_of, label_with, names_below
from engine.interchange.labelled_images.csv_table import cell
from engine.interchange.labelled_images.foreign_labels import ForeignLabel, ForeignLabels, problem_at
from engine.interchange.labelled_images.records import LabelledImage, LabelledImages, WrittenExport
from engine.interchange.labelled_images.table_rows import COLUMNS, ORIGINAL
from engine.interchange.text_file import encoding_of, head_of
from engine.interchange.xml_files import elements, root_of, xml_attribute, xml_content
from engine.texts import Message

CANNOT_CARRY: Final = (
    "the hierarchy is flattened; full paths are kept in the tags",
    "other parents of a class without images",
)
_MEMBER: Final = "annotations.xml"
_BY_MACHINE: Final = "auto"
_BY_PERSON: Final = "manual"
_SHAPES: Final = ("tag", "box", "polygon", "polyline", "points", "cuboid", "ellipse", "mask", "skeleton")
_LONGEST_VALUE: Final = 4096  # characters of an attribute's value, as CVAT's database has them


def write(images: LabelledImages, file: BinaryIO) -> WrittenExport:
    """Write a label for each class, an entry for each image, and a tag in each that has a label."""
    labels = ClassLabels(images)
    file.write(b'<?xml version="1.0" encoding="utf-8"?>\n<annotations>\n  <version>1.1</version>\n')
    file.write(_meta(images, labels).encode())
    names = names_below(images)
    file.writelines(
        _entry(images, labels, image, number, names[image.image_id]).encode()
        for number, image in enumerate(images.each())
    )
    file.write(b"</annotations>\n")
    return WrittenExport(len(images.images))


def read(source: Path) -> ForeignLabels:
    """Read the tags; a shape names the class of its image, too."""
    labels: dict[ForeignLabel, None] = {}
    problems: list[str] = []
    unlabelled = entries = 0
    names: set[str] = set()
    with _opened(source) as file:
        for element in elements(file, source.name, "assignee", "image", "track"):
            match element.tag:
                case "assignee":
                    names.add((element.findtext("username") or "").strip())
                case "track":
                    problems.append(Message("the track {number} is of a video", {"number": element.get("id")}))
                case _:
                    entries += 1
                    limits.RECORDS.check(entries, source.name)
                    who = next(iter(names)) if len(names) == 1 else ""
                    found = list(_labels(element, source.parent, who, problems))
                    unlabelled += not found
                    labels |= dict.fromkeys(found)
                    limits.RECORDS.check(len(labels), source.name)
    if not entries and not problems:
        raise FormatError("{source} has no images", expected="annotations of CVAT for images 1.1", source=source.name)
    return ForeignLabels(tuple(labels), unlabelled, tuple(problems))


def fits(source: Path) -> bool:
    """Whether it is XML of annotations, or a ZIP with it."""
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
    listed = "".join(
        f"        <label><name>{xml_content(label)}</name><color></color><type>tag</type>"
        f"<attributes>{attributes}</attributes></label>\n"
        for label in labels.all_labels
    )
    made_at = images.made_at.isoformat()
    return (
        f"  <meta>\n    <task>\n      <name>{xml_content(images.title)}</name>\n"
        f"      <size>{len(images.images)}</size>\n      <mode>annotation</mode>\n"
        f"      <created>{made_at}</created>\n      <updated>{made_at}</updated>\n"
        f"      <labels>\n{listed}      </labels>\n    </task>\n    <dumped>{made_at}</dumped>\n  </meta>\n"
    )


def _entry(images: LabelledImages, labels: ClassLabels, image: LabelledImage, number: int, name: str) -> str:
    facts = images.facts_of(image.file)
    opening = f'  <image id="{number}" name={xml_attribute(name)} width="{facts.width}" height="{facts.height}"'
    label = labels.of(image)
    if label is None:
        return f"{opening}></image>\n"
    source = _BY_PERSON if image.is_verified else _BY_MACHINE
    attributes = "".join(
        f"<attribute name={xml_attribute(name)}>{xml_content(cell(value)[:_LONGEST_VALUE])}</attribute>"
        for name, value in fields_of(images, image).items()
    )
    return f'{opening}>\n    <tag label={xml_attribute(label)} source="{source}">{attributes}</tag>\n  </image>\n'


def _labels(entry: Element, folder: Path, who: str, problems: list[str]) -> Iterator[ForeignLabel]:
    image = entry.get("name", "")
    for shape in entry:
        if shape.tag not in _SHAPES:
            continue
        fields = {each.get("name", ""): each.text or "" for each in shape.iter("attribute")}
        try:
            label = label_with(image, shape.get("label", ""), fields, folder)
        except ValueError as error:
            problems.append(problem_at(image, reason_of(error)))
            continue
        if label is not None:
            is_machine = shape.get("source") == _BY_MACHINE
            yield replace(label, is_machine=is_machine, who="" if is_machine else label.who or who)


@contextmanager
def _opened(source: Path) -> Iterator[IO[bytes]]:
    with reading(source, "{source} holds no {member}", member=_MEMBER):
        if source.suffix.casefold() == ".zip":
            with opened_archive(source) as archive, member(archive, _MEMBER) as file:
                yield file
        else:
            with open_regular(source) as file:
                yield file
