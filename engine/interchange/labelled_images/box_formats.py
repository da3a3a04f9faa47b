"""Detection of files with bounding boxes, and of folders that divide a data set.

Folders of such data sets, such as images, labels or train, are not classes.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

from engine.errors import FormatError
from engine.interchange.text_file import files_below, head_of, words
from engine.texts import enumerated

YOLO = "yolo-detection"
PASCAL_VOC = "pascal-voc"
MEGADETECTOR = "megadetector"
LABELME = "labelme"
CREATEML = "createml"
VIA = "via"
TITLES = {
    YOLO: "YOLO detection",
    PASCAL_VOC: "Pascal VOC",
    MEGADETECTOR: "MegaDetector",
    LABELME: "LabelMe",
    CREATEML: "CreateML",
    VIA: "VGG Image Annotator",
}
"""Names for users, by format."""

_DATA_SET_FOLDERS = frozenset(
    words(
        "images image imgs img jpegimages labels annotations imagesets segmentationclass "
        "segmentationobject train training val valid validation test testing trainval"
    )
)
_MOST_FILES = 200  # files of a folder that are opened to detect its format. Chosen.
_YOLO_ROW = re.compile(r"\d{1,5}(?:[ \t]+-?(?:\d*\.?\d+(?:[eE][+-]?\d+)?|nan|inf)){4,}\s*")
_YOLO_KEY = re.compile(r"^(?:train|val)\s*[:=]", re.MULTILINE)
_VOC = re.compile(r"<annotation[\s>].*<(?:object|bndbox|segmented)\b", re.DOTALL)
_YOLO_NAMES = re.compile(r"^names\s*[:=]", re.MULTILINE)


def is_yolo_text(head: str) -> bool:
    """Whether a text begins with rows of boxes."""
    lines = [line for line in head.splitlines()[:-1] or [head] if line.strip()]
    return bool(lines) and all(map(_YOLO_ROW.fullmatch, lines))


def is_yolo_settings(head: str) -> bool:
    """Whether a text describes a data set (data.yaml)."""
    return bool(_YOLO_KEY.search(head) and _YOLO_NAMES.search(head))


def _has(*names: str, opening: str = "{[") -> Callable[[str], bool]:
    def has_all(head: str) -> bool:
        return head.lstrip("\ufeff \t\r\n")[:1] in tuple(opening) and all(
            f'"{name}"' in head for name in names
        )

    return has_all


_FORMATS: tuple[tuple[str, frozenset[str], Callable[[str], bool]], ...] = (
    (YOLO, frozenset({".txt"}), is_yolo_text),
    (YOLO, frozenset({".yaml", ".yml", ".data"}), is_yolo_settings),
    (PASCAL_VOC, frozenset({".xml"}), lambda head: bool(_VOC.search(head))),
    (MEGADETECTOR, frozenset({".json"}), _has("detection_categories")),
    (MEGADETECTOR, frozenset({".json"}), _has("images", "detections", "file")),
    (MEGADETECTOR, frozenset({".json"}), _has("predictions", "filepath", opening="{")),
    (LABELME, frozenset({".json"}), _has("shapes", "imagePath", opening="{")),
    (CREATEML, frozenset({".json"}), _has("annotations", "coordinates", opening="[")),
    (VIA, frozenset({".json"}), _has("regions", "shape_attributes", opening="{")),
)
"""Format, suffixes of its files, and a check of their beginning."""
_SUFFIXES = frozenset[str]().union(*(suffixes for _, suffixes, _ in _FORMATS))


def box_format_of(source: Path) -> str:
    """The box format of a file, or of the files in a folder; "" for none."""
    return next(filter(None, map(_format_of, islice(_files(source), _MOST_FILES))), "")


def has_box_format(box_format: str, source: Path) -> bool:
    """Whether a source is of a box format."""
    return box_format_of(source) == box_format


def files_of(source: Path, box_format: str) -> Iterator[Path]:
    """Files of a box format: the source itself, or those in the folder, sorted by name."""
    return (file for file in _files(source) if _format_of(file) == box_format)


def refuse_boxes(source: Path) -> None:
    """Refuse to take a folder with files of boxes for class folders.

    Raises:
        FormatError: it has such files; names the format.
    """
    if form := box_format_of(source):
        raise FormatError(
            "{source} has bounding boxes ({form}), and its folders are not classes",
            expected="a folder for each class",
            remedy="import its labels instead: each box becomes an image with its own label",
            source=source.name,
            form=TITLES[form],
        )


def unread_boxes_error(source: Path, title: str) -> FormatError:
    """The error for a table of boxes."""
    return FormatError(
        "{source} has bounding boxes in columns ({form}), which cannot be read",
        expected="one class per image",
        remedy="save the boxes as COCO, YOLO, Pascal VOC or in another supported format",
        source=source.name,
        form=title,
    )


def data_set_folders(folders: Iterable[str]) -> list[str]:
    """Names of folders that data sets have and classes do not, such as images or train."""
    return [each for each in dict.fromkeys(folders) if each.casefold() in _DATA_SET_FOLDERS]


def refuse_data_set_folders(source: str, folders: Iterable[str]) -> None:
    """Refuse to take folders such as images or train for classes.

    Raises:
        FormatError: there are some.
    """
    if found := data_set_folders(folders):
        raise FormatError(
            "{source} has folders named like parts of data sets, which would become classes",
            expected="folders that are named like classes",
            found=enumerated(found[:5]),
            remedy="choose the folder that contains the classes, or rename a folder that is a "
            "class",
            source=source,
        )


def _files(source: Path) -> Iterator[Path]:
    if source.is_file():
        yield source
        return
    yield from (file for file in files_below(source) if file.suffix.casefold() in _SUFFIXES)


def _format_of(file: Path) -> str:
    suffix, head = file.suffix.casefold(), head_of(file).decode("utf-8", "replace")
    return next(
        (name for name, suffixes, fits in _FORMATS if suffix in suffixes and fits(head)), ""
    )
