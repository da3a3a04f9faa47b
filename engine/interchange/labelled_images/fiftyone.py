"""FiftyOne: a folder of a FiftyOneImageClassificationDataset, which its own importer reads.

If images have boxes it is a FiftyOneImageDetectionDataset: a list of detections for each image, in
which the label of a whole image is a box around it.

`data` holds the images, `labels.json` a label for each with the model's confidence, and attributes:
who, when, all paths, predictions. Images in `data` are named by their paths without suffix.

A FiftyOneDataset is read, too: `samples.json`, with the labels of each sample by field.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from engine.errors import FormatError
from engine.interchange.labelled_images import class_folders
from engine.interchange.labelled_images.class_labels import ClassLabels, fields_of, label_with
from engine.interchange.labelled_images.foreign_boxes import part_of_shares, relative_image, scored
from engine.interchange.labelled_images.foreign_labels import (
    ForeignLabel,
    ForeignLabels,
    LabelCollector,
)
from engine.interchange.labelled_images.json_lines import encoded, write_items
from engine.interchange.labelled_images.records import (
    LabelledImage,
    LabelledImages,
    WrittenExport,
    by_picture,
)
from engine.interchange.labelled_images.table_rows import LABEL_COLUMNS, ORIGINAL
from engine.interchange.text_file import JsonObject, begins_with, object_in, objects_in, read_json
from engine.texts import Message

CANNOT_CARRY = (
    "the hierarchy is flattened; full paths are kept in an attribute of each image",
    "if there are boxes, the label of a whole image becomes a box around it",
)
_BOX = "bounding_box"  # left, top, width and height as shares
DATA = "data"
LABELS = "labels.json"
SAMPLES = "samples.json"
_LISTS = {"Classifications": "classifications", "Detections": "detections"}
_PREDICTIONS = frozenset({"pred", "preds", "predicted", "prediction", "predictions"})
_NO_LABELS = frozenset({"ImageMetadata", "GeoLocation", "GeoLocations", "Regression"})


def write(
    images: LabelledImages, draft: Path, options: class_folders.FolderOptions
) -> WrittenExport:
    """Place all images, with and without a class, and write their labels."""
    labels, folders = ClassLabels(images), class_folders.nested_folders(images)
    names = class_folders.FreeNames(are_stems_free=True)
    written, placed = class_folders.place_all(
        images, draft, DATA, folders, replace(options, has_crops=False), names=names
    )

    def item(pictured: list[LabelledImage]) -> bytes:
        key = PurePosixPath(placed[pictured[0].image_id]).relative_to(DATA).with_suffix("")
        targets = [_target(images, labels, each) for each in pictured]
        return (
            encoded(str(key))
            + b": "
            + encoded([*filter(None, targets)] if images.has_parts else targets[0])
        )

    with class_folders.file_in(draft, LABELS) as file:
        file.write(b'{"classes": ' + encoded(list(labels.all_labels)) + b',\n"labels": {')
        write_items(
            file, (item(each) for each in by_picture(images.images) if each[0].image_id in placed)
        )
        file.write(b"\n}}\n")
    class_folders.write_tables(
        images, draft, placed, {each: f"{DATA}/{folder}" for each, folder in folders.items()}
    )
    return written


def read(source: Path) -> ForeignLabels:
    """Read `labels.json` (labels as texts, numbers or objects) or `samples.json`."""
    file = source / LABELS if source.is_dir() else source
    source, whole = file.parent, read_json(file)
    if _is_samples(file):
        return _read_samples(objects_in(whole, "samples"), source)
    targets = object_in(whole, "labels") if isinstance(whole, dict) else {}
    if not targets:
        raise FormatError(
            "{source} has no labels",
            expected='{labels} with "classes" and "labels"',
            source=source.name,
            labels=LABELS,
        )
    classes = whole.get("classes") if isinstance(whole.get("classes"), list) else []
    files = {
        str(path.with_suffix("")): (str(path), file)
        for path, file in class_folders.each_file(source / DATA)
    }
    collector = LabelCollector()
    for key, target in targets.items():
        found = target if isinstance(target, list) else [target]
        collector.unlabelled += not found
        for each in found:
            image, file = files.get(key) or (key, source / key)
            collector.add(key, _labels(each, image, classes, file, source))
    return collector.collected()


def fits(source: Path) -> bool:
    """Whether it is a folder of data and labels, or a file of labels or samples."""
    if source.is_dir():
        return (source / DATA).is_dir() and begins_with(source / LABELS, "{", "classes", "labels")
    return _is_samples(source) or all(
        begins_with(source, "{", name) for name in ("classes", "labels")
    )


def _is_samples(source: Path) -> bool:
    return all(begins_with(source, "{", name) for name in ("samples", "filepath"))


def _read_samples(samples: list[JsonObject], folder: Path) -> ForeignLabels:
    """Read the labels in all fields of samples; those in fields of predictions are a model's."""
    collector = LabelCollector()
    for sample in samples:
        path = str(sample.get("filepath") or "").replace("\\", "/")
        image, file = path.removeprefix(f"{DATA}/"), relative_image(folder, path)
        found = [
            (name, each)
            for name, value in sample.items()
            if isinstance(value, dict)
            for each in _targets(value)
        ]
        collector.unlabelled += not found
        for name, target in found:
            is_machine = name.casefold() in _PREDICTIONS
            labels = _labels_of_sample(target, image, file, folder, is_machine=is_machine)
            collector.add(image, labels)
    return collector.collected()


def _targets(value: JsonObject) -> list[JsonObject]:
    """The labels in a field of a sample; empty for other fields."""
    kind = str(value.get("_cls") or "")
    if kind in _LISTS:
        return objects_in(value, _LISTS[kind])
    return [value] if kind and kind not in _NO_LABELS else []


def _labels_of_sample(
    target: JsonObject, image: str, file: Path, folder: Path, *, is_machine: bool
) -> Iterator[ForeignLabel | None]:
    if (kind := str(target.get("_cls"))) not in {"Classification", "Detection"}:
        raise ValueError(Message('the shape "{shape}" has no box', {"shape": kind}))
    attributes = {
        name: value for name, value in target.items() if name in {ORIGINAL, *LABEL_COLUMNS}
    }
    for label in _labels({**target, "attributes": attributes}, image, [], file, folder):
        yield replace(label, is_machine=True) if label is not None and is_machine else label


def _target(images: LabelledImages, labels: ClassLabels, image: LabelledImage) -> JsonObject | None:
    label = labels.of(image)
    if label is None:
        return None
    attributes = fields_of(images, image, "file", "score")
    score = image.score if image.class_id is not None else image.detection_score
    confidence = {} if score is None else {"confidence": score}
    box = {_BOX: image.part.box or (0, 0, 1, 1)} if images.has_parts else {}
    return {"label": label, **box, **confidence, "attributes": attributes}


def _labels(
    target: Any, named: str, classes: list[Any], file: Path, folder: Path
) -> Iterator[ForeignLabel | None]:
    target = target if isinstance(target, dict) else {"label": target}
    name = target.get("label")
    name = str(classes[name]) if isinstance(name, int) else name
    if not isinstance(name, str):
        yield None
        return
    fields = object_in(target, "attributes")
    image = str(fields.get(ORIGINAL) or named)
    box = target.get(_BOX)
    part = None if box is None else part_of_shares(box if isinstance(box, list) else [])
    label = label_with(image, name, fields, folder, file=file, part=part)
    if label is not None and target.get("confidence") is not None:
        label = replace(label, is_machine=True, score=label.score or scored(target["confidence"]))
    yield label
