"""YOLO classification as Ultralytics reads it: train/Gull/photo.jpg and val/Gull/photo.jpg.

A fifth of each class's images is for validation: those with the lowest content hashes, so that the
split is deterministic and stable when images are added. The only image of a class is for training;
its folder in val is empty, because Ultralytics numbers classes by the folders of each split.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from engine.interchange.labelled_images import class_folders
from engine.interchange.labelled_images.foreign_labels import ForeignLabels
from engine.interchange.labelled_images.records import LabelledImage, LabelledImages, WrittenExport
from engine.texts import Message

CANNOT_CARRY = (
    "images without a class are left out",
    "the hierarchy is flattened; full paths are kept in a table",
    class_folders.BOXES_IN_FOLDERS,
)
TRAIN = "train"
VALIDATION = "val"
_ONE_IN = 5
"""Images of a class for one in validation, but at least one of several. Common practice."""
_SPLITS = frozenset({TRAIN, VALIDATION, "valid", "validation", "test"})


def write(
    images: LabelledImages, draft: Path, options: class_folders.FolderOptions
) -> WrittenExport:
    """Place the images in folders of their classes, and write the tables of `write_tables`."""
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
    """Ids of the images in the validation split."""
    by_class: dict[int, list[LabelledImage]] = {}
    for image in images:
        if image.class_id is not None:
            by_class.setdefault(image.class_id, []).append(image)
    for found in by_class.values():
        count = max(1, len(found) // _ONE_IN) if len(found) > 1 else 0
        found.sort(key=lambda image: (image.content_hash, image.image_id))
        yield from (image.image_id for image in found[:count])


def read(source: Path) -> ForeignLabels:
    """Read the labels of our table, else of the folders below train, val and test."""
    places = {"train": TRAIN, "validation": VALIDATION}
    expected = Message("{train} and {validation} with a folder for each class", places)
    return class_folders.read_folders(source, _SPLITS, expected)


def fits(source: Path) -> bool:
    """Whether it is a folder of splits, among them `train` with class folders."""
    if not (source / TRAIN).is_dir():
        return False
    try:
        folders = {
            each.name
            for each in source.iterdir()
            if each.is_dir() and not each.name.startswith(".")
        }
        return folders <= _SPLITS and any(each.is_dir() for each in (source / TRAIN).iterdir())
    except OSError:
        return False
