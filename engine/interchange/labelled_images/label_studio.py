"""Label Studio: a folder of tasks and the labelling configuration beside them.

A person's label is an annotation, the model's a prediction with its score and version; both name every path of the
class in a taxonomy. Images stay where they are: Label Studio serves them from this computer's disk. `completed_by` is
written where the person is an e-mail address, by which Label Studio knows its users; it refuses a file with an unknown
user. Everything else, the person's name too, is in the task's `meta`.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, Final
from urllib.parse import parse_qs, quote, unquote, urlsplit

from lxml import etree

from engine.errors import FormatError
from engine.graph.names import join_path
from engine.interchange.labelled_images.class_folders import FolderOptions, file_in
from engine.interchange.labelled_images.class_labels import ClassLabels, fields_of, label_with
from engine.interchange.labelled_images.foreign_labels import ForeignLabel, ForeignLabels, LabelCollector
from engine.interchange.labelled_images.json_lines import encoded, write_items
from engine.interchange.labelled_images.records import LabelledImage, LabelledImages, WrittenExport
from engine.interchange.labelled_images.table_rows import NONE_LABEL, ORIGINAL, time_in
from engine.interchange.text_file import begins_with, object_in, objects_in, read_json
from engine.interchange.xml_files import Element, writable
from engine.texts import marked

CANNOT_CARRY: Final = ("annotators without an email are stored as task data",)
TASKS: Final = "tasks.json"
CONFIGURATION: Final = "labelling.xml"
INSTRUCTIONS: Final = "README.txt"
_CONTROL, _OBJECT = "class", "image"
_LOCAL: Final = "/data/local-files/?d="
_UPLOADED: Final = re.compile(r"^[0-9a-f]{8}-")  # what Label Studio puts before the name of a file that was uploaded
_HOW_TO: Final = """To go on in Label Studio:

1. Start it with LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED=true and LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT={root}
2. Make a project, and paste labelling.xml under Settings > Labeling Interface > Code.
3. Under Settings > Cloud Storage, add local files with the folder of the images; do not synchronise.
4. Import tasks.json.
"""


def write(images: LabelledImages, draft: Path, _options: FolderOptions) -> WrittenExport:
    """Write a task for each image, the configuration, and how to use them."""
    labels = ClassLabels(images)
    with file_in(draft, TASKS) as file:
        file.write(b"[")
        write_items(file, (encoded(_task(images, image)) for image in images.each()))
        file.write(b"\n]\n")
    with file_in(draft, CONFIGURATION) as file:
        file.write(_configuration(images, labels))
    with file_in(draft, INSTRUCTIONS) as file:
        root = next((image.file.anchor for image in images.images if image.file.anchor), "/")
        file.write(_HOW_TO.format(root=root).encode())
    return WrittenExport(len(images.images))


def read(source: Path) -> ForeignLabels:
    """Read tasks: ours, or what Label Studio exports as JSON."""
    tasks = read_json(source / TASKS if source.is_dir() else source)
    if not isinstance(tasks, list) or not any(isinstance(task, dict) and "data" in task for task in tasks):
        raise FormatError(
            "{source} holds no tasks", expected="a list of tasks as Label Studio exports them", source=source.name
        )
    collector = LabelCollector()
    for number, task in enumerate((each if isinstance(each, dict) else {} for each in tasks), start=1):
        collector.add(marked("task {place}: {reason}"), number, _labels, task, source.parent)
    return collector.collected()


def fits(source: Path) -> bool:
    """Whether it is such a folder, or a list of tasks."""
    path = source / TASKS if source.is_dir() else source
    return begins_with(path, "[", "annotations", "predictions", "completions") and begins_with(path, "[", "data")


def _task(images: LabelledImages, image: LabelledImage) -> dict[str, Any]:
    annotations, predictions = [], []
    if image.label is not None:
        when = image.label.when.isoformat()
        annotation = {"id": image.image_id, "created_at": when, "updated_at": when, "was_cancelled": False}
        if "@" in image.label.who:
            annotation["completed_by"] = {"email": image.label.who}
        annotations.append({**annotation, "result": [_result(images, image.image_id, image.label.class_id)]})
    if (answer := image.answer) is not None and (answer.safe_id is not None or answer.is_unknown):
        prediction = {"model_version": images.model, "score": answer.safe_score}
        predictions.append({**prediction, "result": [_result(images, image.image_id, answer.safe_id)]})
    # Label Studio serves files of this computer, with the disk's top as its document root.
    path = image.file.relative_to(image.file.anchor).as_posix()
    url = _LOCAL + quote(path, errors="surrogateescape")
    return {
        "id": image.image_id,
        "data": {_OBJECT: url},
        "meta": fields_of(images, image, "file"),
        "annotations": annotations,
        "predictions": predictions,
    }


def _result(images: LabelledImages, image_id: int, class_id: int | None) -> dict[str, Any]:
    paths = [[NONE_LABEL]] if class_id is None else [list(path) for path in images.paths(class_id)]
    return {
        "id": f"class-{image_id}",
        "from_name": _CONTROL,
        "to_name": _OBJECT,
        "type": "taxonomy",
        "value": {"taxonomy": paths},
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
    return bytes(etree.tostring(root, encoding="UTF-8", pretty_print=True))


def _labels(task: dict[str, Any], folder: Path) -> Iterator[ForeignLabel]:
    fields = object_in(task, "meta")
    image, file = _image(object_in(task, "data"))
    image = str(fields.get(ORIGINAL) or image)
    annotations = objects_in(task, "annotations") or objects_in(task, "completions")
    for annotation in annotations:
        if not annotation.get("was_cancelled"):
            time_text = str(annotation.get("updated_at") or annotation.get("created_at") or "")
            for label in _labels_in(annotation, image, fields, folder, file):
                is_of_fields = bool(label.who) and not label.is_machine
                who, when = (label.who, label.when) if is_of_fields else (_who(annotation), time_in(time_text))
                yield replace(label, is_machine=False, who=who, when=when)
    for prediction in objects_in(task, "predictions"):
        for label in _labels_in(prediction, image, fields, folder, file):
            yield replace(label, is_machine=True)


def _labels_in(
    annotation: dict[str, Any], image: str, fields: dict[str, Any], folder: Path, file: Path | None
) -> Iterator[ForeignLabel]:
    """Its classes; one where it names all paths of the task's class."""
    paths = list(dict.fromkeys(_paths(annotation)))
    if paths and set(paths) == set(fields.get("all_paths") or ()):
        paths = [str(fields.get("path"))]
    for path in paths:
        label = label_with(image, path, fields, folder, file=file)
        if label is not None:
            yield label


def _paths(annotation: dict[str, Any]) -> Iterator[str]:
    for result in objects_in(annotation, "result"):
        chosen = object_in(result, "value").get(str(result.get("type")))
        for each in chosen if isinstance(chosen, list) else []:
            names = each if isinstance(each, list) else [each]
            yield NONE_LABEL if names == [NONE_LABEL] else join_path(map(str, names))


def _image(data: dict[str, Any]) -> tuple[str, Path | None]:
    """The name of a task's image, and its file where that is on this computer."""
    texts = {name: value for name, value in data.items() if isinstance(value, str)}
    url = texts.get(_OBJECT) or next(iter(texts.values()), "")
    parts = urlsplit(url)
    if local := parse_qs(parts.query, errors="surrogateescape").get("d"):
        return local[0], Path(Path.cwd().anchor) / local[0]
    path = unquote(parts.path, errors="surrogateescape")
    if "/upload/" in path:
        return _UPLOADED.sub("", PurePosixPath(path).name), None
    return path, None if parts.scheme in {"http", "https", "s3", "gs"} else Path(path)


def _who(annotation: dict[str, Any]) -> str:
    by = annotation.get("completed_by")
    if isinstance(by, dict):
        name = f"{by.get('first_name') or ''} {by.get('last_name') or ''}".strip()
        return str(by.get("email") or name or by.get("username") or "")
    return f"Label Studio user {by}" if isinstance(by, int) else str(by or "")
