"""Label Studio: a folder of tasks with the labelling configuration.

A label is an annotation, a prediction of the model a prediction with its score and version. Both
have every path of the class in a taxonomy, or the class in a rectangle. Images are not copied:
Label Studio serves them from the local disk. `completed_by` is omitted, since Label Studio rejects
a file with an unknown user. Everything else, such as the annotator, is in the task's `meta`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from lxml import etree

from engine.errors import FormatError
from engine.file_parts import FilePart
from engine.graph.names import join_path, split_path
from engine.interchange.labelled_images.class_folders import FolderOptions, file_in
from engine.interchange.labelled_images.class_labels import ClassLabels, fields_of, label_with
from engine.interchange.labelled_images.foreign_boxes import (
    bounds,
    numbers,
    part_of_shares,
    points_of,
    rotated,
    scored,
)
from engine.interchange.labelled_images.foreign_labels import (
    ForeignLabel,
    ForeignLabels,
    LabelCollector,
)
from engine.interchange.labelled_images.json_lines import encoded, write_items
from engine.interchange.labelled_images.records import LabelledImage, LabelledImages, WrittenExport
from engine.interchange.labelled_images.table_rows import EMPTY_LABEL, NONE_LABEL, ORIGINAL, time_in
from engine.interchange.text_file import JsonObject, begins_with, object_in, objects_in, read_json
from engine.interchange.xml_files import Element, writable
from engine.texts import Message, marked

CANNOT_CARRY = ("annotators are stored as task data",)
TASKS = "tasks.json"
CONFIGURATION = "labelling.xml"
INSTRUCTIONS = "README.txt"
_PROBLEM = marked("task {place}: {reason}")
_CONTROL, _BOXES, _OBJECT = "class", "box", "image"
_RECTANGLE = "rectanglelabels"
_ITEMS = "items"  # in `meta`: fields of each part of the picture, by id of its result
_CHOICES = frozenset({"choices", "taxonomy"})
_SHAPES = frozenset({_RECTANGLE, "polygonlabels", "ellipselabels", "brushlabels", "keypointlabels"})
_LOCAL = "/data/local-files/?d="
_UPLOADED = re.compile(r"^[0-9a-f]{8}-")  # prefix of the name of an uploaded file
_HOW_TO = """To go on in Label Studio:

1. Start it with LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED=true and \
LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT={root}
2. Make a project, and paste labelling.xml under Settings > Labeling Interface > Code.
3. Under Settings > Cloud Storage, add local files with the folder of the images; \
do not synchronise.
4. Import tasks.json.
"""


def write(images: LabelledImages, draft: Path, _options: FolderOptions) -> WrittenExport:
    """Write a task for each picture, the configuration, and instructions."""
    labels = ClassLabels(images)
    with file_in(draft, TASKS) as file:
        file.write(b"[")
        write_items(file, (encoded(_task(images, labels, items)) for items in images.pictures()))
        file.write(b"\n]\n")
    with file_in(draft, CONFIGURATION) as file:
        file.write(_configuration(images, labels))
    with file_in(draft, INSTRUCTIONS) as file:
        root = next((image.file.anchor for image in images.images if image.file.anchor), "/")
        file.write(_HOW_TO.format(root=root).encode())
    return WrittenExport(len(images.images))


def read(source: Path) -> ForeignLabels:
    """Read tasks: ours, or an export of Label Studio as JSON."""
    tasks = read_json(source / TASKS if source.is_dir() else source)
    if not isinstance(tasks, list) or not any(
        isinstance(task, dict) and "data" in task for task in tasks
    ):
        raise FormatError(
            "{source} contains no tasks",
            expected="a list of tasks as Label Studio exports them",
            source=source.name,
        )
    collector = LabelCollector()
    for number, task in enumerate(
        (each if isinstance(each, dict) else {} for each in tasks), start=1
    ):
        _read_task(task, number, source.parent, collector)
    return collector.collected()


def fits(source: Path) -> bool:
    """Whether it is a folder with tasks, or a file of them."""
    path = source / TASKS if source.is_dir() else source
    return begins_with(path, "[", "annotations", "predictions", "completions") and begins_with(
        path, "[", "data"
    )


def _task(
    images: LabelledImages, labels: ClassLabels, items: Sequence[LabelledImage]
) -> JsonObject:
    image = items[0]
    by_person = [each for each in items if each.label]
    by_model = [each for each in items if _is_predicted(each)]
    whole = next((each for each in items if each.part == each.part.picture), None)
    meta = {ORIGINAL: image.path} if whole is None else fields_of(images, whole, "file")
    parts = {
        _result_id(each): fields_of(images, each, "file") for each in items if each is not whole
    }
    # Label Studio serves local files, with the root of the disk as its document root.
    path = image.file.relative_to(image.file.anchor).as_posix()
    url = _LOCAL + quote(path, errors="surrogateescape")
    return {
        "id": image.image_id,
        "data": {_OBJECT: url},
        "meta": meta | ({_ITEMS: parts} if parts else {}),
        "annotations": [_annotation(images, labels, by_person)] if by_person else [],
        "predictions": _predictions(images, labels, by_model),
    }


def _is_predicted(image: LabelledImage) -> bool:
    """Whether an image has a prediction, or is a box without a label."""
    answer = image.answer
    is_answered = answer is not None and (answer.safe_id is not None or answer.is_unknown)
    return is_answered or (image.part.box is not None and image.label is None)


def _annotation(
    images: LabelledImages, labels: ClassLabels, items: Sequence[LabelledImage]
) -> JsonObject:
    """The labels of a picture, with the time of the last one."""
    when = max(each.label.when for each in items if each.label).isoformat()
    return {
        "id": items[0].image_id,
        "created_at": when,
        "updated_at": when,
        "was_cancelled": False,
        "result": [_result(images, each, each.class_id, labels.of(each)) for each in items],
    }


def _predictions(
    images: LabelledImages, labels: ClassLabels, items: Sequence[LabelledImage]
) -> list[JsonObject]:
    """The prediction of a whole picture, and those of its boxes, with scores."""
    predictions: list[JsonObject] = []
    boxes: list[JsonObject] = []
    for image in items:
        class_id, label, score = _prediction_of(labels, image)
        result = _result(images, image, class_id, label)
        if image.part.box is not None:
            boxes.append(result if score is None else {**result, "score": score})
        else:
            of_whole = {} if score is None else {"score": score}
            predictions.append({"model_version": images.model, **of_whole, "result": [result]})
    if boxes:
        predictions.append({"model_version": images.model, "result": boxes})
    return predictions


def _prediction_of(
    labels: ClassLabels, image: LabelledImage
) -> tuple[int | None, str | None, float | None]:
    """Class, label and score by the model, else by the detector."""
    answer = image.answer
    if answer is None or (answer.safe_id is None and not answer.is_unknown):
        return None, labels.of(image), image.detection_score
    if answer.safe_id is None:
        return None, NONE_LABEL, None
    return answer.safe_id, labels.of_class(answer.safe_id), answer.safe_score


def _result_id(image: LabelledImage) -> str:
    return f"class-{image.image_id}"


def _result(
    images: LabelledImages, image: LabelledImage, class_id: int | None, label: str | None
) -> JsonObject:
    box = image.part.box
    if box is None:
        paths = [[label]] if class_id is None else [list(path) for path in images.paths(class_id)]
        kind: JsonObject = {"from_name": _CONTROL, "to_name": _OBJECT, "type": "taxonomy"}
        return {"id": _result_id(image), **kind, "value": {"taxonomy": paths}}
    facts = images.facts_of(image)
    percent = {
        name: share * 100 for name, share in zip(("x", "y", "width", "height"), box, strict=True)
    }
    return {
        "id": _result_id(image),
        "from_name": _BOXES,
        "to_name": _OBJECT,
        "type": _RECTANGLE,
        "original_width": facts.width,
        "original_height": facts.height,
        "image_rotation": 0,
        "value": {**percent, "rotation": 0, _RECTANGLE: [label]},
    }


def _configuration(images: LabelledImages, labels: ClassLabels) -> bytes:
    root = etree.Element("View")
    etree.SubElement(root, "Image", name=_OBJECT, value=f"${_OBJECT}", zoom="true")
    shown = {"showFullPath": "true", "pathSeparator": " / "}
    taxonomy = etree.SubElement(root, "Taxonomy", name=_CONTROL, toName=_OBJECT, **shown)
    choices: dict[tuple[str, ...], Element] = {(): taxonomy}
    for class_id in labels.classes:
        for path in images.paths(class_id):
            for length in range(1, len(path) + 1):
                if path[:length] not in choices:
                    above, value = choices[path[: length - 1]], writable(path[length - 1])
                    choices[path[:length]] = etree.SubElement(above, "Choice", value=value)
    etree.SubElement(taxonomy, "Choice", value=NONE_LABEL)
    if EMPTY_LABEL in labels.further_labels:
        etree.SubElement(taxonomy, "Choice", value=EMPTY_LABEL)
    if images.has_parts:
        rectangles = etree.SubElement(root, "RectangleLabels", name=_BOXES, toName=_OBJECT)
        for label in labels.all_labels:
            etree.SubElement(rectangles, "Label", value=writable(label))
    return bytes(etree.tostring(root, encoding="UTF-8", pretty_print=True))


def _read_task(task: JsonObject, number: int, folder: Path, collector: LabelCollector) -> None:
    """Read the classes of the whole image together, and those of each part by themselves."""
    meta = object_in(task, "meta")
    answers = [(each, False) for each in _annotations(task)]
    answers += [(each, True) for each in objects_in(task, "predictions")]
    whole: list[Iterator[ForeignLabel]] = []
    parts: list[Iterator[ForeignLabel]] = []
    for answer, is_machine in answers:
        of_whole: list[JsonObject] = []
        for result in objects_in(answer, "result"):
            if _is_of_part(result, meta):
                parts.append(_labels_of_part(result, answer, task, folder, is_machine=is_machine))
            else:
                of_whole.append(result)
        labels = _labels_in(of_whole, task, meta, folder)
        whole.append(_answered(labels, answer, is_machine=is_machine))
    unlabelled = collector.unlabelled
    collector.add(number, chain.from_iterable(whole), _PROBLEM)
    if parts:
        collector.unlabelled = unlabelled
    for labels in parts:
        collector.add(number, labels, _PROBLEM)


def _annotations(task: JsonObject) -> list[JsonObject]:
    found = objects_in(task, "annotations") or objects_in(task, "completions")
    return [each for each in found if not each.get("was_cancelled")]


def _answered(
    labels: Iterable[ForeignLabel], answer: JsonObject, *, is_machine: bool
) -> Iterator[ForeignLabel]:
    """Labels with the annotator and the time of an annotation; those of a prediction without."""
    for label in labels:
        if is_machine:
            yield replace(label, is_machine=True)
            continue
        who, when = label.who, label.when
        if label.is_machine or not who:
            time_text = str(answer.get("updated_at") or answer.get("created_at") or "")
            who, when = _who(answer), time_in(time_text)
        yield replace(label, is_machine=False, who=who, when=when)


def _is_of_part(result: JsonObject, meta: JsonObject) -> bool:
    return _is_shape(result) or str(result.get("id")) in object_in(meta, _ITEMS)


def _is_shape(result: JsonObject) -> bool:
    """Whether a result is a shape with its class, or a choice for one, which repeats its place."""
    kind = str(result.get("type"))
    return kind in _SHAPES or (kind in _CHOICES and "width" in object_in(result, "value"))


def _labels_of_part(
    result: JsonObject, answer: JsonObject, task: JsonObject, folder: Path, *, is_machine: bool
) -> Iterator[ForeignLabel]:
    fields = object_in(object_in(object_in(task, "meta"), _ITEMS), str(result.get("id")))
    part = _part(result) if _is_shape(result) else None
    for label in _labels_in([result], task, fields, folder, part):
        if is_machine or label.is_box_alone:
            yield replace(label, is_machine=True, score=label.score or scored(result.get("score")))
        else:
            yield from _answered([label], answer, is_machine=False)


def _labels_in(
    results: Sequence[JsonObject],
    task: JsonObject,
    fields: JsonObject,
    folder: Path,
    part: FilePart | None = None,
) -> Iterator[ForeignLabel]:
    """The classes of results; a single one if they are all paths of the class in the fields."""
    image, file = _image(object_in(task, "data"))
    image = str(object_in(task, "meta").get(ORIGINAL) or image)
    names = list(dict.fromkeys(name for result in results for name in _names(result)))
    if names and set(names) == set(fields.get("all_paths") or ()):
        names = [str(fields.get("path"))]
    own = str(fields.get("path") or "")
    if own and part is not None:  # rectangles have the label of the class, not its path
        labels = join_path((own,)), join_path(split_path(own)[-1:])
        names = [own if name in labels else name for name in names]
    for name in names or ([] if part is None else [""]):
        label = label_with(image, name, fields, folder, file=file, part=part)
        if label is not None:
            yield label


def _part(result: JsonObject) -> FilePart:
    """The bounding box of a result in percent."""
    value, kind = object_in(result, "value"), str(result.get("type"))
    # Rotations are of pixels; without the size of the picture, of percent.
    sides = numbers((result.get("original_width") or 100, result.get("original_height") or 100))
    scale = sides[0] / 100, sides[1] / 100
    if kind == "polygonlabels":
        box = bounds([(x * scale[0], y * scale[1]) for x, y in points_of(value.get("points"))])
    elif kind == _RECTANGLE or kind in _CHOICES:
        x, y, width, height, turned = numbers(
            (*map(value.get, ("x", "y", "width", "height")), value.get("rotation") or 0)
        )
        corner = x * scale[0], y * scale[1]
        box = rotated((*corner, width * scale[0], height * scale[1]), turned, corner)
    elif kind == "ellipselabels":
        x, y, across, down, turned = numbers(
            (*map(value.get, ("x", "y", "radiusX", "radiusY")), value.get("rotation") or 0)
        )
        middle, radii = (x * scale[0], y * scale[1]), (across * scale[0], down * scale[1])
        box = rotated(
            (middle[0] - radii[0], middle[1] - radii[1], 2 * radii[0], 2 * radii[1]), turned, middle
        )
    else:
        raise ValueError(Message('the shape "{shape}" has no box', {"shape": kind}))
    left, top, width, height = box
    return part_of_shares((left / sides[0], top / sides[1], width / sides[0], height / sides[1]))


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _names(result: JsonObject) -> list[str]:
    """The classes of a result, as paths if it has them."""
    chosen = object_in(result, "value").get(str(result.get("type")))
    listed = [each if isinstance(each, list) else [each] for each in _as_list(chosen)]
    return [NONE_LABEL if names == [NONE_LABEL] else join_path(map(str, names)) for names in listed]


def _image(data: JsonObject) -> tuple[str, Path | None]:
    """Name of a task's image, and its local file, if any."""
    texts = {name: value for name, value in data.items() if isinstance(value, str)}
    url = texts.get(_OBJECT) or next(iter(texts.values()), "")
    if (served := served_image(url)) is not None:
        return served
    parts = urlsplit(url)
    path = unquote(parts.path, errors="surrogateescape")
    return path, None if parts.scheme in {"http", "https", "s3", "gs"} else Path(path)


def served_image(url: str) -> tuple[str, Path | None] | None:
    """Name of an image served by Label Studio, and its local file, if any; None for others."""
    parts = urlsplit(url)
    if local := parse_qs(parts.query, errors="surrogateescape").get("d"):
        return local[0], Path(Path.cwd().anchor) / local[0]
    path = PurePosixPath(unquote(parts.path, errors="surrogateescape"))
    is_uploaded = "upload" in path.parts and _UPLOADED.match(path.name)
    return (_UPLOADED.sub("", path.name), None) if is_uploaded else None


def _who(annotation: JsonObject) -> str:
    by = annotation.get("completed_by")
    if isinstance(by, dict):
        name = f"{by.get('first_name') or ''} {by.get('last_name') or ''}".strip()
        return str(by.get("email") or name or by.get("username") or "")
    return f"Label Studio user {by}" if isinstance(by, int) else str(by or "")
