"""YOLO classification as Ultralytics trains on it: train/Gull/photo.jpg and val/Gull/photo.jpg.

A fifth of each class's images is for validation: those with the lowest content hashes, so that the same collection is
always split alike and an image stays on its side while others come. A class with one image trains with it; its folder
in val is empty, because Ultralytics numbers the classes of each part by its folders.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from engine.errors import FormatError
from engine.interchange.labelled_images import class_folders
from engine.interchange.labelled_images.foreign_labels import ForeignLabels
from engine.interchange.labelled_images.records import LabelledImage, LabelledImages, WrittenExport

CANNOT_CARRY: Final = (
    "images without a class are left out",
    "the hierarchy is flattened; full paths are kept in a table",
    "boxes: their pictures lie there once for each class, or what is in the boxes is cut out",
)
TRAIN: Final = "train"
VALIDATION: Final = "val"
_ONE_IN: Final = 5
"""Images of a class for one in validation, as most divide; a class with fewer, but more than one, has one there."""
_PARTS: Final = frozenset({TRAIN, VALIDATION, "valid", "validation", "test"})


def write(
    images: LabelledImages, draft: Path, options: class_folders.FolderOptions
) -> WrittenExport:
    """Place the images, with the tables of `place_images` beside them."""
    folders = class_folders.flat_folders(images, options)
    validation = set(validation_ids(images.images))

    def folder_of(image: LabelledImage) -> str | None:
        if (folder := folders.get(image.class_id or 0)) is None:
            return None
        return f"{VALIDATION if image.image_id in validation else TRAIN}/{folder}"

    written, placed = class_folders.place_images(images, draft, folder_of, options)
    for folder in folders.values():
        for part in (TRAIN, VALIDATION):
            (draft / part / folder).mkdir(parents=True, exist_ok=True)
    class_folders.write_tables(images, draft, placed, folders, options)
    return written


def validation_ids(images: Iterable[LabelledImage]) -> Iterator[int]:
    """The images that a model trained on this is measured by."""
    by_class: dict[int, list[LabelledImage]] = {}
    for image in images:
        if image.class_id is not None:
            by_class.setdefault(image.class_id, []).append(image)
    for found in by_class.values():
        count = max(1, len(found) // _ONE_IN) if len(found) > 1 else 0
        found.sort(key=lambda image: (image.content_hash, image.image_id))
        yield from (image.image_id for image in found[:count])


def read(source: Path) -> ForeignLabels:
    """Read the labels of our table, or else of the folders' names below train, val and test."""
    found = class_folders.read_folders(source, _PARTS)
    if found is None:
        raise FormatError(
            "{source} has no class folders",
            expected="{train} and {validation} with a folder for each class",
            remedy="choose the folder around them",
            source=source.name,
            train=TRAIN,
            validation=VALIDATION,
        )
    return found


def fits(source: Path) -> bool:
    """Whether it is a folder of parts, one of them `train`, with folders in it."""
    if not (source / TRAIN).is_dir():
        return False
    try:
        folders = {
            each.name
            for each in source.iterdir()
            if each.is_dir() and not each.name.startswith(".")
        }
        return folders <= _PARTS and any(each.is_dir() for each in (source / TRAIN).iterdir())
    except OSError:
        return False
