"""FiftyOne: a folder in its FiftyOneImageClassificationDataset form, which its own importer reads.

`data` holds the images, `labels.json` a label for each with the model's confidence, and attributes: who, when, every
path from the top, the model's answers. Images in `data` are named by their paths without suffix.
"""

from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, Final

from engine.errors import FormatError
from engine.interchange.labelled_images.class_folders import (
    FolderOptions,
    FreeNames,
    each_file,
    file_in,
    nested_folders,
    place_images,
    write_tables,
)
from engine.interchange.labelled_images.class_labels import ClassLabels, fields_of, label_with
from engine.interchange.labelled_images.json_lines import encoded
from engine.interchange.labelled_images.records import (
    ForeignLabel,
    ForeignLabels,
    LabelledImage,
    LabelledImages,
    WrittenExport,
)
from engine.interchange.labelled_images.table_rows import ORIGINAL
from engine.interchange.text_file import begins_with, object_in, read_json

CANNOT_CARRY: Final = ("the hierarchy is flattened; full paths are kept in an attribute of each image",)
DATA: Final = "data"
LABELS: Final = "labels.json"
NO_CLASS_FOLDER: Final = "no class"


def write(images: LabelledImages, draft: Path, options: FolderOptions) -> WrittenExport:
    """Place all images, also those without a class, and write what is said of them."""
    labels, folders = ClassLabels(images), nested_folders(images)

    def folder_of(image: LabelledImage) -> str:
        return f"{DATA}/{NO_CLASS_FOLDER if image.class_id is None else folders[image.class_id]}"

    (draft / DATA).mkdir()
    names = FreeNames(are_stems_free=True)
    written, placed = place_images(images, draft, folder_of, options.placing, names)
    with file_in(draft, LABELS) as file:
        file.write(b'{"classes": ' + encoded(list(labels.all_labels)) + b',\n"labels": {')
        separator = b"\n"
        for image in images.images:
            if image.image_id in placed:
                key = PurePosixPath(placed[image.image_id]).relative_to(DATA).with_suffix("")
                file.write(separator + encoded(str(key)) + b": " + encoded(_target(images, labels, image)))
                separator = b",\n"
        file.write(b"\n}}\n")
    write_tables(images, draft, placed, {each: f"{DATA}/{folder}" for each, folder in folders.items()})
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
    data = source / DATA
    files = {str(path.with_suffix("")): file for path, file in each_file(data)}
    labels: list[ForeignLabel] = []
    problems: list[str] = []
    unlabelled = 0
    for key, target in targets.items():
        try:
            found = [_label(each, key, classes, files.get(key), source) for each in _targets(target)]
        except (ValueError, IndexError) as error:
            problems.append(f"{key}: {error}")
            continue
        labelled = [label for label in found if label is not None]
        labels += labelled
        unlabelled += not labelled
    return ForeignLabels.of(labels, unlabelled=unlabelled, problems=problems)


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


def _targets(target: Any) -> list[Any]:
    """One, or several where an image has several labels."""
    return target if isinstance(target, list) else [target]


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
