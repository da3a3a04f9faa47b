"""FiftyOne: a folder in its FiftyOneImageClassificationDataset form, which its own importer reads.

`data` holds the images, `labels.json` a label for each with the model's confidence, and attributes: who, when, every
path from the top, the model's answers. Images in `data` are named by their paths without suffix.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, Final

from engine.errors import FormatError
from engine.interchange.labelled_images import class_folders
from engine.interchange.labelled_images.class_labels import ClassLabels, fields_of, label_with
from engine.interchange.labelled_images.foreign_labels import ForeignLabel, ForeignLabels, LabelCollector
from engine.interchange.labelled_images.json_lines import encoded, write_items
from engine.interchange.labelled_images.records import LabelledImage, LabelledImages, WrittenExport
from engine.interchange.labelled_images.table_rows import ORIGINAL
from engine.interchange.text_file import begins_with, object_in, read_json

CANNOT_CARRY: Final = ("the hierarchy is flattened; full paths are kept in an attribute of each image",)
DATA: Final = "data"
LABELS: Final = "labels.json"


def write(images: LabelledImages, draft: Path, options: class_folders.FolderOptions) -> WrittenExport:
    """Place all images, also those without a class, and write their labels."""
    labels, folders = ClassLabels(images), class_folders.nested_folders(images)
    names = class_folders.FreeNames(are_stems_free=True)
    written, placed = class_folders.place_all(images, draft, DATA, folders, options.placing, names=names)

    def item(image: LabelledImage) -> bytes:
        key = PurePosixPath(placed[image.image_id]).relative_to(DATA).with_suffix("")
        return encoded(str(key)) + b": " + encoded(_target(images, labels, image))

    with class_folders.file_in(draft, LABELS) as file:
        file.write(b'{"classes": ' + encoded(list(labels.all_labels)) + b',\n"labels": {')
        write_items(file, (item(image) for image in images.images if image.image_id in placed))
        file.write(b"\n}}\n")
    class_folders.write_tables(images, draft, placed, {each: f"{DATA}/{folder}" for each, folder in folders.items()})
    return written


def read(source: Path) -> ForeignLabels:
    """Read `labels.json`: targets as texts, numbers of classes, or objects with attributes."""
    whole = read_json(source / LABELS if source.is_dir() else source)
    targets = object_in(whole, "labels") if isinstance(whole, dict) else {}
    if not targets:
        raise FormatError(
            "{source} has no labels", expected='{labels} with "classes" and "labels"', source=source.name, labels=LABELS
        )
    classes = whole.get("classes") if isinstance(whole.get("classes"), list) else []
    files = {str(path.with_suffix("")): file for path, file in class_folders.each_file(source / DATA)}
    collector = LabelCollector()
    for key, target in targets.items():
        collector.add("{place}: {reason}", key, _labels, target, key, classes, files.get(key), source)
    return collector.collected()


def fits(source: Path) -> bool:
    """Whether it is a folder with data and labels."""
    return (source / DATA).is_dir() and begins_with(source / LABELS, "{", "classes", "labels")


def _target(images: LabelledImages, labels: ClassLabels, image: LabelledImage) -> dict[str, Any] | None:
    label = labels.of(image)
    if label is None:
        return None
    attributes = fields_of(images, image, "file", "score")
    confidence = {} if image.score is None else {"confidence": image.score}
    return {"label": label, **confidence, "attributes": attributes}


def _labels(
    target: Any, key: str, classes: list[Any], file: Path | None, folder: Path
) -> Iterator[ForeignLabel | None]:
    for each in target if isinstance(target, list) else [target]:
        yield _label(each, key, classes, file, folder)


def _label(target: Any, key: str, classes: list[Any], file: Path | None, folder: Path) -> ForeignLabel | None:
    target = target if isinstance(target, dict) else {"label": target}
    name = target.get("label")
    name = str(classes[name]) if isinstance(name, int) else name
    if not isinstance(name, str):
        return None
    fields = object_in(target, "attributes")
    image = str(fields.get(ORIGINAL) or file or key)
    label = label_with(image, name, fields, folder, file=file)
    is_of_model = target.get("confidence") is not None
    return replace(label, is_machine=True) if label and is_of_model else label
