"""Forms that carry boxes around things, and folders that divide a data set: neither are read as classes.

Boxes come with a later version. Until then a set of them is refused by its name: its folders are called images, labels
or train, and would else become classes.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from engine.errors import FormatError
from engine.interchange.text_file import head_of
from engine.texts import enumerated

_PARTS: Final = frozenset(
    {
        "images", "image", "imgs", "img", "jpegimages", "labels", "annotations", "imagesets", "segmentationclass",
        "segmentationobject", "train", "training", "val", "valid", "validation", "test", "testing", "trainval",
    }
)  # fmt: skip
_MOST_FILES: Final = 200  # files of a folder that are looked into. Chosen.
_YOLO_ROW: Final = re.compile(r"\d{1,5}(?:[ \t]+-?\d*\.?\d+(?:[eE][+-]?\d+)?){4,}\s*")
_YOLO_KEY: Final = re.compile(r"^(?:train|val)\s*[:=]", re.MULTILINE)
_VOC: Final = re.compile(r"<annotation[\s>].*<(?:object|bndbox|segmented)\b", re.DOTALL)
_YOLO_NAMES: Final = re.compile(r"^names\s*[:=]", re.MULTILINE)


def _is_yolo_text(head: str) -> bool:
    lines = [line for line in head.splitlines()[:-1] or [head] if line.strip()]
    return bool(lines) and all(map(_YOLO_ROW.fullmatch, lines))


def _is_yolo_settings(head: str) -> bool:
    return bool(_YOLO_KEY.search(head) and _YOLO_NAMES.search(head))


def _has(*names: str, opening: str = "{[") -> Callable[[str], bool]:
    def has_all(head: str) -> bool:
        return head.lstrip("\ufeff \t\r\n")[:1] in tuple(opening) and all(f'"{name}"' in head for name in names)

    return has_all


_FORMS: Final[tuple[tuple[str, frozenset[str], Callable[[str], bool]], ...]] = (
    ("YOLO", frozenset({".txt"}), _is_yolo_text),
    ("YOLO", frozenset({".yaml", ".yml", ".data"}), _is_yolo_settings),
    ("Pascal VOC", frozenset({".xml"}), lambda head: bool(_VOC.search(head))),
    ("MegaDetector", frozenset({".json"}), _has("detection_categories")),
    ("MegaDetector", frozenset({".json"}), _has("images", "detections", "file")),
    ("LabelMe", frozenset({".json"}), _has("shapes", "imagePath", opening="{")),
    ("CreateML", frozenset({".json"}), _has("annotations", "coordinates", opening="[")),
    ("VGG Image Annotator", frozenset({".json"}), _has("regions", "shape_attributes", opening="{")),
)
"""Name, suffixes of its files, and whether a text begins as they do."""
_SUFFIXES: Final = frozenset[str]().union(*(suffixes for _, suffixes, _ in _FORMS))


def refuse_boxes(source: Path) -> None:
    """Refuse a file, or a folder with files, that carry boxes.

    Raises:
        FormatError: it does; names the form.
    """
    form = next(filter(None, map(_form_of, islice(_files(source), _MOST_FILES))), "")
    if form:
        raise boxes_refused(source, form)


def boxes_refused(source: Path, form: str) -> FormatError:
    """The error of a source of boxes."""
    return FormatError(
        "{source} carries boxes around things ({form}), which are not read yet",
        expected="one class for a whole image",
        remedy="boxes come with a later version; the images can be added without them",
        source=source.name,
        form=form,
    )


def parts_among(folders: Iterable[str]) -> list[str]:
    """Those of the names of folders that parts of data sets have, such as images or train, and classes have not."""
    return [each for each in dict.fromkeys(folders) if each.casefold() in _PARTS]


def refuse_parts(source: str, folders: Iterable[str]) -> None:
    """Refuse to take folders for classes whose names are those of parts of data sets.

    Raises:
        FormatError: some are.
    """
    if found := parts_among(folders):
        raise FormatError(
            "{source} has folders that are called as parts of data sets are, and would become classes",
            expected="folders that are named like classes",
            found=enumerated(found[:5]),
            remedy="choose the folder in which the classes are, or rename a folder that is a class",
            source=source,
        )


def _files(source: Path) -> Iterator[Path]:
    if source.is_file():
        yield source
        return
    for place, folders, names in os.walk(source):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(place, name) for name in sorted(names) if Path(name).suffix.casefold() in _SUFFIXES)


def _form_of(file: Path) -> str:
    suffix, head = file.suffix.casefold(), head_of(file).decode("utf-8", "replace")
    return next((name for name, suffixes, fits in _FORMS if suffix in suffixes and fits(head)), "")
