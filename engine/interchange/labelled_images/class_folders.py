"""Class folders: Bird/Gull/photo.jpg, as torchvision's ImageFolder, Keras and most trainers read them.

A class with several parents has one folder, on its first path; `classes.csv` lists its other paths.
"""

from pathlib import Path

from engine.errors import FormatError
from engine.interchange.labelled_images.placed_images import (
    FolderOptions,
    each_file,
    flat_folders,
    nested_folders,
    place_images,
    read_table,
    write_tables,
)
from engine.interchange.labelled_images.records import ForeignLabel, ForeignLabels, LabelledImages, WrittenExport


def write(images: LabelledImages, draft: Path, options: FolderOptions) -> WrittenExport:
    """Place the images in folders of their classes, with the tables of `placed_images` beside them."""
    folders = flat_folders(images, options) if options.is_flat else nested_folders(images)
    written, placed = place_images(images, draft, lambda image: folders.get(image.class_id or 0), options.placing)
    write_tables(images, draft, placed, folders)
    return written


def read(source: Path) -> ForeignLabels:
    """Read the labels of our table, or else of the folders' names; images outside of any folder have none."""
    if (ours := read_table(source)) is not None:
        return ours
    found = list(each_file(source))
    labels = [ForeignLabel(str(path), path.parts[:-1], file=file) for path, file in found if len(path.parts) > 1]
    if not labels:
        raise FormatError(
            "{source} has no class folders",
            expected="folders that are named like classes, with images in them",
            remedy="choose the folder around them",
            source=source.name,
        )
    return ForeignLabels.of(labels, unlabelled=len(found) - len(labels))


def fits(source: Path) -> bool:
    """Whether it is a folder with files in folders; asked last, for many formats are such folders."""
    return source.is_dir() and any(len(path.parts) > 1 for path, _ in each_file(source))
